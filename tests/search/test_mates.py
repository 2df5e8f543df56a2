"""Forced mates are proven with no network at all, and what is claimed is true."""

import random

import chess
import pytest
from scripts import load_script

mates = load_script("benchmarks/mates.py")
seed_example = load_script("benchmarks/seed_example.py")

# Share of the suite that is proven within so many simulations; measured shares are a little above.
EXPECTED = {1: (100, 1.0), 2: (10_000, 0.95), 3: (100_000, 0.75)}


@pytest.mark.parametrize("moves", [1, 2, 3])
def test_the_suite_holds_what_it_says(moves: int) -> None:
    fens = mates.read_suite(moves)
    assert len(fens) == len(set(fens)) >= 50
    if moves == 3:
        fens = random.Random(0).sample(fens, 25)
    for fen in fens:
        board = chess.Board(fen)
        assert board.is_valid()
        assert mates.shortest_mate(board, moves) == moves, fen


@pytest.mark.parametrize("moves", [1, 2, 3])
def test_mates_are_proven_within_the_budget_and_rightly(moves: int) -> None:
    simulations, share = EXPECTED[moves]
    row = mates.measure(moves, simulations)
    assert row["wrong"] == []
    assert row["proven"][str(simulations)] >= share
    assert row["exact"] >= (1.0 if moves == 1 else 0.9)


def test_auto_extension_and_the_solver_help_to_find_the_sacrifice() -> None:
    rows = {
        (extend, solver): seed_example.measure(extend, solver, 2_000)
        for extend in (False, True)
        for solver in (False, True)
    }
    assert shortest_is_two()
    for (_, solver), row in rows.items():
        assert row["best_from"] is not None
        assert (row["proven"] is not None) == solver
        assert row["mate"] == (2 if solver else None)
    assert rows[True, True]["best_from"] <= rows[False, True]["best_from"]
    assert rows[True, True]["best_from"] <= rows[True, False]["best_from"]
    assert rows[True, True]["best_from"] < rows[False, False]["best_from"]


def shortest_is_two() -> bool:
    return bool(mates.shortest_mate(chess.Board(seed_example.FEN), 2) == 2)
