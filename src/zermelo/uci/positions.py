"""Positions at the edges of the rules: games that are over, and python-chess's view of one."""

from __future__ import annotations

from typing import Any

from zermelo import _core
from zermelo.games.protocol import State
from zermelo.uci.protocol import Position


def any_move(position: Position) -> str:
    """A legal move, or (none)."""
    rules = _core.Chess(chess960=position.chess960)
    state = rules.parse_position(position.text)
    moves = rules.legal_moves(state)
    if not moves:
        return "(none)"
    if rules.outcome(state) is None:
        return str(rules.action_text(state, moves[0]))
    board = board_at(rules, state)  # our game is over where a draw rule has ended it
    return str(board.uci(next(iter(board.legal_moves))))


def board_at(game: Any, state: State) -> Any:
    """The position as python-chess has it, without its past."""
    import chess

    chess960 = "chess960=on" in game.name
    return chess.Board(game.position_text(state), chess960=chess960)


def without_past(game: Any, state: State) -> State:
    """The position as if nothing had been repeated and no counter ran.

    A program may ask about a game that is drawn by a rule nobody claims.
    """
    board, side, castling, passant, _, number = game.position_text(state).split()
    return game.parse_position(f"{board} {side} {castling} {passant} 0 {number}")


def end_line(game: Any, state: State) -> str:
    """What is said of checkmate and stalemate."""
    mated = game.outcome(state) != _core.Outcome.DRAW
    return f"info depth 0 score {'mate 0' if mated else 'cp 0'}"
