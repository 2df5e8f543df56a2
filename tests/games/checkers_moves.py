"""Whole moves of checkers, from the core's single steps."""

from __future__ import annotations

from typing import Any


def whole_moves(game: Any, state: Any, begun: str = "") -> dict[str, list[int]]:
    """Complete moves as actions, by the same text as the twin's."""
    moves: dict[str, list[int]] = {}
    for action in game.legal_actions(state):
        text = game.action_text(state, action)
        text = begun + text[text.index("x") :] if begun else text
        following = game.play(state, action)
        if ":J" in game.position_text(following):
            assert game.player(following) == game.player(state)
            assert game.outcome(following) is None
            for rest, actions in whole_moves(game, following, text).items():
                moves[rest] = [action, *actions]
        else:
            assert game.player(following) != game.player(state)
            moves[text] = [action]
    return moves
