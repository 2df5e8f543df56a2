"""Positions in the middle of games, for properties that hold in all of them."""

from __future__ import annotations

from typing import Any


def walk(game: Any, choices: list[int]) -> Any:
    """The position after those choices, or where the game ended before."""
    state = game.initial()
    for choice in choices:
        legal = game.legal_actions(state)
        if not legal:
            break
        state = game.play(state, legal[choice % len(legal)])
    return state
