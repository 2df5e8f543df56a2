"""Chess against tables of three and four men: a position is worth what its best move leads to."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import chess
import pytest
from chess import syzygy
from native_games import native
from outside_data import outside_data

import zermelo
from zermelo.players.chess_tablebase import Tablebase

Record = Callable[[str, object], None]
GAME = native("chess")
TABLES = ("KBNvK", "KPvK", "KPvKP", "KQPvK", "KQvK", "KQvKR", "KRPvK", "KRvK", "KRvKP")


def random_board(rng: random.Random, table: str) -> chess.Board:
    """Of those men, either side's, either to move."""
    while True:
        board = chess.Board(None)
        white, black = table.split("v") if rng.random() < 0.5 else reversed(table.split("v"))
        men = white + black.lower()
        for man, square in zip(men, rng.sample(chess.SQUARES, len(men)), strict=True):
            board.set_piece_at(square, chess.Piece.from_symbol(man))
        board.turn = rng.random() < 0.5
        if board.is_valid():
            return board


def worth(tables: Tablebase, game: Any, state: Any) -> int | None:
    """1, 0 or -1 for the player to move; None if there is no table of these men."""
    outcome = game.outcome(state)
    board = chess.Board(game.position_text(state))
    if outcome is not None:
        winner = {zermelo.Outcome.FIRST_WINS: 1, zermelo.Outcome.SECOND_WINS: -1}.get(outcome, 0)
        return winner if board.turn else -winner
    if chess.popcount(board.occupied) == 2 or board.is_insufficient_material():
        return 0
    try:
        found = int(tables._prober.probe_wdl(board))
    except syzygy.MissingTableError:
        return None
    return (found > 0) - (found < 0)


def compare(positions: int, seed: int) -> dict[int, int]:
    """Held together in so many positions, counted by their worth."""
    tables = Tablebase(str(outside_data("chess/syzygy")))
    assert tables.max_pieces == 4
    rng = random.Random(seed)
    seen = {1: 0, 0: 0, -1: 0}
    while sum(seen.values()) < positions:
        board = random_board(rng, rng.choice(TABLES))
        state = GAME.parse_position(board.fen())
        told = worth(tables, GAME, state)
        moves = [GAME.play(state, action) for action in GAME.legal_actions(state)]
        values = [worth(tables, GAME, after) for after in moves]
        if told is None or not moves or None in values:  # a knight or a bishop alone has no table
            continue
        assert max(-value for value in values if value is not None) == told, board.fen()
        seen[told] += 1
    return seen


def test_the_best_move_keeps_what_the_tables_tell(record_property: Record) -> None:
    seen = compare(600, seed=1)
    assert min(seen.values()) > 30
    record_property("tried", sum(seen.values()))


@pytest.mark.slow
def test_the_best_move_keeps_what_the_tables_tell_of_many(record_property: Record) -> None:
    seen = compare(50_000, seed=2)
    record_property("tried", sum(seen.values()))
    record_property("positions of four-man tables", sum(seen.values()))
