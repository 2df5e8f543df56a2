"""Positions as programs send them: what the tree follows, ended games, python-chess's view."""

from __future__ import annotations

from typing import Any

from zermelo import _core
from zermelo.games.protocol import State
from zermelo.search import LiveSearch
from zermelo.uci.protocol import Position

FURTHEST = 2  # plies between the tree and a position that came without its moves


def follow(live: LiveSearch, before: Position | None, position: Position) -> State:
    """Moves the board to a position; the state to search.

    `before` is the position that the board was moved to last, None if it stands elsewhere. One that
    comes as a bare FEN and follows from the tree's is searched as the tree knows it: with its past.
    """
    state = live.game.parse_position(position.text)
    if before is None or live.state is None:
        return live.follow(state, turns=0)
    if not position.moves:
        return live.follow(state, turns=FURTHEST, bare=True)
    actions = _actions_since(live, before, position)
    return live.follow(state, turns=0) if actions is None else live.follow(state, actions)


def _actions_since(live: LiveSearch, before: Position, position: Position) -> list[int] | None:
    """From where the board stands; None if the position does not follow."""
    if (position.start, position.chess960) != (before.start, before.chess960):
        return None
    known = len(before.moves)
    if position.moves[:known] != before.moves:
        return None
    game, at = live.game, live.state
    actions = []
    for text in position.moves[known:]:
        if game.outcome(at) is not None:
            return None
        actions.append(game.parse_action(at, text))
        at = game.play(at, actions[-1])
    return actions


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
