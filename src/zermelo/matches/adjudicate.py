"""Ends games early: too long, given up by both sides' own judgement, or known to a tablebase."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zermelo.errors import UserError
from zermelo.games.notation import position_text
from zermelo.games.protocol import Game, Outcome, State
from zermelo.games.registry import kind_of
from zermelo.options import option

MOST_MEN = 7  # of any Syzygy table

Judgement = tuple[int, float | None]  # who moved, and what that player thought: -1 to 1, own side
Verdict = tuple[Outcome, str]  # the result and its reason


@dataclass(frozen=True)
class AdjudicateOptions:
    """When a game need not be played to its end. All but the first are off by default."""

    max_plies: int = option(512, "Longest game; a longer one is a draw; 0 means no limit.", low=0)
    resign_value: float = option(
        0.0,
        "A game is lost if both players agree on a value of at least this size; 0 means off.",
        low=0.0,
        high=1.0,
    )
    resign_moves: int = option(
        3, "Number of moves for which each must agree that it is lost.", low=1
    )
    draw_value: float = option(
        0.0,
        "A game is drawn if both players see a value at most this far from 0; 0 means off.",
        low=0.0,
        high=1.0,
    )
    draw_moves: int = option(8, "Number of moves for which each must agree on a draw.", low=1)
    draw_after: int = option(60, "First ply at which a game may be declared drawn.", low=0)
    tablebase: str = option("", "Directory of Syzygy tables, for chess.")


class Adjudicator:
    """Looks at one game after another."""

    def __init__(self, game: Game, options: AdjudicateOptions) -> None:
        self.options = options
        self._game = game
        self._tables: Any = _open_tables(game, options.tablebase) if options.tablebase else None

    def verdict(self, state: State, plies: int, judged: Sequence[Judgement]) -> Verdict | None:
        """None while the game should go on. `plies` counts the opening, `judged` does not."""
        options = self.options
        if self._tables is not None:
            outcome = _table_outcome(self._tables, position_text(self._game, state))
            if outcome is not None:
                return outcome, "tablebase"
        if options.resign_value:
            for winner in (0, 1):
                if _agree(judged, winner, options.resign_value, options.resign_moves):
                    won = (Outcome.FIRST_WINS, Outcome.SECOND_WINS)[winner]
                    return won, "resigned"
        if options.draw_value and plies >= options.draw_after:
            recent = [value for _, value in judged[-2 * options.draw_moves :]]
            level = all(v is not None and abs(v) <= options.draw_value for v in recent)
            if level and len(recent) == 2 * options.draw_moves:
                return Outcome.DRAW, "draw agreed"
        if options.max_plies and plies >= options.max_plies:
            return Outcome.DRAW, "too long"
        return None


def _agree(judged: Sequence[Judgement], winner: int, least: float, moves: int) -> bool:
    """Whether both players thought so at each of their last moves."""
    for player in (0, 1):
        sign = 1.0 if player == winner else -1.0
        last = [value for who, value in judged[-4 * moves :] if who == player][-moves:]
        if len(last) < moves or any(v is None or sign * v < least for v in last):
            return False
    return True


def _open_tables(game: Game, path: str) -> Any:
    import chess.syzygy

    if kind_of(game) != "chess":
        raise UserError(f"tablebases are for chess, not for {game.name}")
    if not Path(path).is_dir():
        raise UserError(f"there is no directory '{path}' with tablebases")
    tables = chess.syzygy.open_tablebase(path)
    if not tables.wdl:
        tables.close()
        raise UserError(f"'{path}' holds no Syzygy tables")
    return tables


def _table_outcome(tables: Any, fen: str) -> Outcome | None:
    """Only what the fifty-move rule cannot undo; None if no table knows it."""
    import chess

    if sum(letter.isalpha() for letter in fen.split(maxsplit=1)[0]) > MOST_MEN:
        return None
    board = chess.Board(fen)
    if board.castling_rights:
        return None
    with contextlib.suppress(KeyError):  # no such table
        wdl = tables.probe_wdl(board)
        if abs(wdl) < 2:  # a draw, or a win that the fifty-move rule takes away
            return Outcome.DRAW
        if board.halfmove_clock and abs(tables.probe_dtz(board)) + board.halfmove_clock > 100:
            return None
        return Outcome.FIRST_WINS if (wdl > 0) == board.turn else Outcome.SECOND_WINS
    return None
