"""The Connect Four solver: against plain negamax, published positions and another program."""

from __future__ import annotations

import random
import struct
from pathlib import Path
from typing import Any

import pytest
from native_games import native
from outside_data import outside_data

import zermelo
from zermelo import _core

Connect4Solver = _core.Connect4Solver
GAME = native("connect4")
FIRST_MOVES = [-2, -1, 0, 1, 0, -1, -2]  # the scores of the empty board's columns


@pytest.fixture(scope="module")
def solver() -> Any:
    return Connect4Solver(table_mib=64)


def random_moves(rng: random.Random, plies: int) -> str:
    """Columns of an unfinished random game."""
    while True:
        state, moves = GAME.initial(), ""
        while len(moves) < plies and (legal := GAME.legal_actions(state)):
            action = rng.choice(legal)
            moves += GAME.action_text(state, action)
            state = GAME.play(state, action)
        if len(moves) == plies and GAME.outcome(state) is None:
            return moves


def plain_score(state: Any, known: dict[Any, int]) -> int:
    """Negamax over the rules, with nothing of the solver's."""
    if state not in known:
        legal = GAME.legal_actions(state)
        if legal:
            known[state] = max(-plain_score(GAME.play(state, a), known) for a in legal)
        elif GAME.outcome(state) == zermelo.Outcome.DRAW:
            known[state] = 0
        else:
            known[state] = -(22 - (GAME.ply(state) + 1) // 2)
    return known[state]


def check_file(solver: Any, name: str, first: int | None = None) -> None:
    for line in outside_data(f"connect4/{name}").read_text().splitlines()[:first]:
        moves, score = line.split()
        assert solver.solve(GAME.parse_position(moves)) == int(score), moves


def test_late_scores_are_those_of_plain_negamax(solver: Any) -> None:
    rng = random.Random(1)
    for plies in range(31, 42):
        for _ in range(5):
            state = GAME.parse_position(random_moves(rng, plies))
            expected = plain_score(state, {})
            assert solver.solve(state) == expected
            assert solver.solve_weak(state) == (expected > 0) - (expected < 0)


@pytest.mark.parametrize("name", ["Test_L3_R1", "Test_L2_R1", "Test_L1_R1"])
def test_published_scores_are_found(solver: Any, name: str) -> None:
    check_file(solver, name)


def test_published_scores_of_harder_openings_are_found(solver: Any) -> None:
    check_file(solver, "Test_L1_R2_first500", first=20)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_all_published_scores_of_harder_openings_are_found(solver: Any) -> None:
    check_file(solver, "Test_L1_R2_first500")


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_published_scores_of_the_hardest_openings_are_found(solver: Any) -> None:
    check_file(solver, "Test_L1_R3_first300", first=60)


@pytest.mark.parametrize("plies", [16, 20, 24, 30])
def test_every_column_has_the_score_that_bitbully_gives_it(solver: Any, plies: int) -> None:
    bitbully = pytest.importorskip("bitbully", reason="BitBully is not installed")
    rng, agent = random.Random(plies), bitbully.BitBully(opening_book=None)
    for _ in range(10):
        moves = random_moves(rng, plies)
        board = bitbully.Board([int(column) - 1 for column in moves])
        expected = agent.score_all_moves(board)
        scores = solver.analyse(GAME.parse_position(moves))
        assert {c: s for c, s in enumerate(scores) if s is not None} == expected, moves


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_first_player_wins_on_move_41_by_the_centre_column(solver: Any) -> None:
    solver.reset()
    assert solver.analyse(GAME.initial()) == FIRST_MOVES
    assert solver.solve(GAME.initial()) == 1  # 21 stones: ply 41


def test_the_best_column_has_the_score_of_the_position(solver: Any) -> None:
    rng = random.Random(2)
    for _ in range(20):
        moves = random_moves(rng, 22)
        state = GAME.parse_position(moves)
        scores = solver.analyse(state)
        assert [c for c in range(7) if scores[c] is not None] == GAME.legal_actions(state)
        assert max(score for score in scores if score is not None) == solver.solve(state)
        assert solver.analyse(GAME.transform(state, 1)) == scores[::-1]


def test_a_finished_game_has_the_losers_score_and_no_columns(solver: Any) -> None:
    over = GAME.parse_position("1212121")
    assert solver.solve(over) == -18
    assert solver.solve_weak(over) == -1
    assert solver.analyse(over) == [None] * 7


def test_nodes_are_counted_until_reset() -> None:
    fresh = Connect4Solver(table_mib=1)
    assert fresh.nodes == 0
    first = fresh.solve(GAME.parse_position("44444226226655"))
    assert fresh.nodes > 0
    fresh.reset()
    assert fresh.nodes == 0
    assert fresh.solve(GAME.parse_position("44444226226655")) == first


@pytest.mark.parametrize("size", [0, -5, 100_000])
def test_a_table_of_no_sensible_size_is_refused(size: int) -> None:
    with pytest.raises(ValueError, match=f"from 1 to 65536 MiB, not {size}"):
        Connect4Solver(table_mib=size)


def position_key(moves: str) -> int:
    """The book's key as its documentation says: per column, the mover's stones + 2^height - 1."""
    columns = [[i % 2 for i, c in enumerate(moves) if c == str(n)] for n in range(1, 8)]
    mover = len(moves) % 2
    stacks = [
        sum((stone == mover) << height for height, stone in enumerate(column))
        + (1 << len(column)) - 1
        for column in columns
    ]  # fmt: skip

    def joined(numbers: list[int]) -> int:
        return sum(number << 7 * i for i, number in enumerate(numbers))

    return min(joined(stacks), joined(stacks[::-1]))


def book_bytes(max_plies: int, scores: dict[str, int], version: int = 1) -> bytes:
    """A book file written from the description of its format alone."""
    entries = sorted(position_key(moves) * 256 + score + 64 for moves, score in scores.items())
    body = b"ZC4 BOOK" + struct.pack("<IIQ", version, max_plies, len(entries))
    body += b"".join(struct.pack("<Q", entry) for entry in entries)
    checksum = 0xCBF29CE484222325
    for byte in body:
        checksum = (checksum ^ byte) * 0x100000001B3 % 2**64
    return body + struct.pack("<Q", checksum)


OPENING = {"": 1} | {str(c + 1): -FIRST_MOVES[c] for c in range(4)}


def test_a_book_answers_at_once(tmp_path: Path) -> None:
    path = tmp_path / "opening.book"
    path.write_bytes(book_bytes(1, OPENING))
    reader = Connect4Solver(table_mib=1)
    reader.load_book(str(path))
    assert reader.analyse(GAME.initial()) == FIRST_MOVES
    assert reader.solve(GAME.initial()) == 1
    assert reader.nodes == 0


def test_a_damaged_book_is_refused_with_a_sentence_that_names_it(tmp_path: Path) -> None:
    path, good = tmp_path / "opening.book", book_bytes(1, OPENING)
    rng, reader = random.Random(4), Connect4Solver(table_mib=1)
    damaged = [good[:length] for length in range(len(good))]
    for _ in range(300):
        bad = bytearray(good)
        bad[rng.randrange(len(bad))] ^= 1 << rng.randrange(8)
        damaged.append(bytes(bad))
    for content in damaged:
        path.write_bytes(content)
        with pytest.raises(
            ValueError, match=r"opening\.book' is no Connect Four book: "
        ) as refusal:
            reader.load_book(str(path))
        assert "\n" not in str(refusal.value)


def test_a_book_of_another_version_or_with_wrong_entries_is_refused(tmp_path: Path) -> None:
    path, reader = tmp_path / "opening.book", Connect4Solver(table_mib=1)
    path.write_bytes(book_bytes(1, OPENING, version=2))
    with pytest.raises(ValueError, match="its format has version 2, not 1"):
        reader.load_book(str(path))
    path.write_bytes(book_bytes(1, {"": 1, "1": 30}))
    with pytest.raises(ValueError, match="its entry 2 is not valid"):
        reader.load_book(str(path))


def test_a_missing_book_is_named(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=r"there is no file '.*none\.book'"):
        Connect4Solver(table_mib=1).load_book(str(tmp_path / "none.book"))


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_built_book_is_the_one_its_format_describes(tmp_path: Path) -> None:
    path = tmp_path / "opening.book"
    Connect4Solver(table_mib=256).build_book(1, str(path))
    assert path.read_bytes() == book_bytes(1, OPENING)
    assert [file.name for file in tmp_path.iterdir()] == ["opening.book"]
