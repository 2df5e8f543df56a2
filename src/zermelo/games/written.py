"""Moves and whole games as people write them: short algebraic in chess, PGN; else the game's own.

Reads and writes text only; knows no files and no screens.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from zermelo.errors import UserError
from zermelo.games.notation import action_text, outcome_text, parse_action, position_text
from zermelo.games.protocol import Game, State
from zermelo.games.registry import kind_of

LONG = re.compile("[a-h][1-8][a-h][1-8][a-z]?")  # e2e4, which the game itself reads


def move_text(game: Game, state: State, action: int) -> str:
    """A legal action: `Nf3` in chess."""
    text = action_text(game, state, action)
    if kind_of(game) != "chess":
        return text
    board = _chess_board(game, state)
    return str(board.san(board.parse_uci(text)))


def read_move(game: Game, state: State, text: str) -> int:
    """The action that either notation means; refuses if there is none."""
    if kind_of(game) == "chess" and not LONG.fullmatch(text):
        board = _chess_board(game, state)
        try:
            text = board.uci(board.parse_san(text))
        except ValueError:
            raise UserError(f"'{text}' is no legal move such as Nf3, exd5, O-O or e2e4") from None
    return parse_action(game, state, text)


def line_text(game: Game, state: State, moves: Sequence[str]) -> str:
    """Moves in the game's own notation, one after the other, as people write them."""
    if kind_of(game) != "chess":
        return " ".join(moves)
    board, written = _chess_board(game, state), []
    for text in moves:
        written.append(board.san(move := board.parse_uci(text)))
        board.push(move)
    return " ".join(written)


def game_text(game: Game, states: Sequence[State], actions: Sequence[int]) -> str:
    """A game to keep: PGN in chess, else its name, where it began, the moves and the result."""
    if kind_of(game) == "chess":
        return _pgn(game, states, actions)
    moves = [
        action_text(game, state, action) for state, action in zip(states, actions, strict=False)
    ]
    outcome = game.outcome(states[-1])
    return "\n".join(
        (
            f"game: {game.name}",
            f"start: {position_text(game, states[0])}",
            f"moves: {' '.join(moves)}",
            f"result: {'not finished' if outcome is None else outcome_text(outcome)}",
            "",
        )
    )


def _pgn(game: Game, states: Sequence[State], actions: Sequence[int]) -> str:
    import chess.pgn

    board = _chess_board(game, states[0])
    for state, action in zip(states, actions, strict=False):
        board.push_uci(action_text(game, state, action))
    found = chess.pgn.Game.from_board(board)
    found.headers["Event"] = "Zermelo"
    found.headers["Result"] = board.result(claim_draw=False)
    return f"{found}\n"


def _chess_board(game: Game, state: State) -> Any:
    import chess

    return chess.Board(position_text(game, state), chess960="chess960=on" in game.name)
