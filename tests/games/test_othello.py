"""Othello: rules against a slow twin and OpenSpiel, counts, symmetries, text, endgame suites."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from native_games import native
from outside_data import outside_data
from walks import walk

import zermelo

Record = Callable[[str, object], None]

SIZES = [6, 8]
CHOICES = st.lists(st.integers(0, 59), max_size=64)  # taken modulo the number of legal actions


def othello(size: int) -> Any:
    return native("othello" if size == 8 else "othello?size=6")


class SlowOthello:
    """The rules once more, with nested lists and loops: rows from the top, 'X', 'O' and '.'."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.rows = [["."] * size for _ in range(size)]
        low = size // 2 - 1
        self.rows[low][low] = self.rows[low + 1][low + 1] = "O"
        self.rows[low][low + 1] = self.rows[low + 1][low] = "X"
        self.mover = "X"

    def turned_by(self, row: int, column: int, mover: str) -> list[tuple[int, int]]:
        turned = []
        if self.rows[row][column] != ".":
            return []
        for down in (-1, 0, 1):
            for right in (-1, 0, 1):
                line: list[tuple[int, int]] = []
                r, c = row + down, column + right
                while 0 <= r < self.size and 0 <= c < self.size and (down or right):
                    if self.rows[r][c] == ".":
                        break
                    if self.rows[r][c] == mover:
                        turned += line
                        break
                    line.append((r, c))
                    r, c = r + down, c + right
        return turned

    def moves(self, mover: str) -> list[str]:
        """Names of the cells where `mover` may put a disc."""
        return [
            f"{chr(ord('a') + column)}{row + 1}"
            for row in range(self.size)
            for column in range(self.size)
            if self.turned_by(row, column, mover)
        ]

    def legal(self) -> list[str]:
        moves = self.moves(self.mover)
        if moves:
            return moves
        return ["pass"] if self.moves(self.waiting()) else []

    def waiting(self) -> str:
        return "O" if self.mover == "X" else "X"

    def play(self, text: str) -> None:
        if text != "pass":
            row, column = int(text[1:]) - 1, ord(text[0]) - ord("a")
            for r, c in self.turned_by(row, column, self.mover):
                self.rows[r][c] = self.mover
            self.rows[row][column] = self.mover
        self.mover = self.waiting()

    def cells(self) -> str:
        return "".join("".join(row) for row in self.rows)

    def outcome(self) -> zermelo.Outcome | None:
        if self.legal():
            return None
        lead = self.cells().count("X") - self.cells().count("O")
        if lead == 0:
            return zermelo.Outcome.DRAW
        return zermelo.Outcome.FIRST_WINS if lead > 0 else zermelo.Outcome.SECOND_WINS


def play_against_twin(size: int, seed: int) -> int:
    """Plays a random game by both rules, comparing all they say; the number of passes in it."""
    game, twin, rng = othello(size), SlowOthello(size), random.Random(seed)
    state = game.initial()
    passes = ply = 0
    while True:
        texts = [game.action_text(state, action) for action in game.legal_actions(state)]
        assert texts == twin.legal()
        assert game.cells(state) == twin.cells()
        assert game.player(state) == "XO".index(twin.mover) == ply % 2
        assert game.ply(state) == ply
        if not texts:
            assert game.outcome(state) == twin.outcome()
            return passes
        assert game.outcome(state) is None
        choice = rng.choice(texts)
        passes += choice == "pass"
        ply += 1
        state = game.play(state, game.parse_action(state, choice))
        twin.play(choice)


@pytest.mark.parametrize("size", SIZES)
def test_random_games_agree_with_the_slow_twin(size: int) -> None:
    assert sum(play_against_twin(size, seed) for seed in range(300)) > 0


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_thousands_of_random_games_agree_with_the_slow_twin(
    size: int, record_property: Record
) -> None:
    for seed in range(1000, 6000):
        play_against_twin(size, seed)
    record_property("tried", 5000)


@pytest.mark.slow
def test_random_games_agree_with_open_spiel(record_property: Record) -> None:
    pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")
    game, rng = othello(8), random.Random(5)
    for _ in range(10_000):
        state, other = game.initial(), pyspiel.load_game("othello").new_initial_state()
        while not other.is_terminal():
            assert game.legal_actions(state) == other.legal_actions()
            assert game.player(state) == other.current_player()
            action = rng.choice(game.legal_actions(state))
            state = game.play(state, action)
            other.apply_action(action)
        outcome = game.outcome(state)
        assert outcome is not None
        assert other.returns()[0] == {"FIRST_WINS": 1, "DRAW": 0, "SECOND_WINS": -1}[outcome.name]
    record_property("tried", 10_000)


@pytest.mark.parametrize(
    ("depth", "paths"), list(enumerate([1, 4, 12, 56, 244, 1396, 8200, 55092, 390216, 3005288]))
)
def test_the_number_of_paths_is_the_known_one(depth: int, paths: int) -> None:
    game = othello(8)
    assert game.perft(game.initial(), depth) == paths


def test_published_counts_add_the_228_games_that_are_over_before_depth_ten() -> None:
    game = othello(8)
    assert game.perft(game.initial(), 10) == 24_571_284 - 228


@pytest.mark.slow
def test_published_counts_add_the_584_games_that_are_over_before_depth_eleven() -> None:
    game = othello(8)
    assert game.perft(game.initial(), 11) == 212_258_800 - 228 - 356


def test_the_slow_twin_counts_the_same_paths_on_six_by_six() -> None:
    def count(moves: list[str], depth: int) -> int:
        twin = SlowOthello(6)
        for move in moves:
            twin.play(move)
        legal = twin.legal()
        return len(legal) if depth == 1 else sum(count([*moves, m], depth - 1) for m in legal)

    game = othello(6)
    for depth in range(1, 5):
        assert game.perft(game.initial(), depth) == count([], depth)


@pytest.mark.parametrize("size", SIZES)
@given(choices=CHOICES, choice=st.integers(0, 59))
@settings(max_examples=60, deadline=None)
def test_playing_and_transforming_commute(size: int, choices: list[int], choice: int) -> None:
    game = othello(size)
    state = walk(game, choices)
    legal = game.legal_actions(state)
    for symmetry in range(game.num_symmetries(state)):
        image = game.transform(state, symmetry)
        moved = [game.transform_action(action, symmetry) for action in legal]
        assert sorted(moved) == sorted(game.legal_actions(image))
        assert game.outcome(image) == game.outcome(state)
        assert game.ply(image) == game.ply(state)
        if legal:
            i = choice % len(legal)
            assert game.play(image, moved[i]) == game.transform(
                game.play(state, legal[i]), symmetry
            )


@pytest.mark.parametrize("size", SIZES)
@given(choices=CHOICES)
@settings(max_examples=60, deadline=None)
def test_the_observation_moves_with_transform_cell(size: int, choices: list[int]) -> None:
    game = othello(size)
    state = walk(game, choices)
    planes = np.asarray(game.observe(state)).reshape(2, -1)
    assert game.observation_shape == (2, size, size)
    for symmetry in range(8):
        image = np.asarray(game.observe(game.transform(state, symmetry))).reshape(2, -1)
        to = [game.transform_cell(cell, symmetry) for cell in range(size * size)]
        assert sorted(to) == list(range(size * size))
        assert np.array_equal(image[:, to], planes)


@pytest.mark.parametrize("size", SIZES)
@given(choices=CHOICES)
@settings(max_examples=60, deadline=None)
def test_the_planes_are_mine_and_theirs(size: int, choices: list[int]) -> None:
    game = othello(size)
    state = walk(game, choices)
    mine, theirs = np.asarray(game.observe(state)).reshape(2, -1)
    letters = "XO" if game.player(state) == 0 else "OX"
    assert mine.tolist() == [cell == letters[0] for cell in game.cells(state)]
    assert theirs.tolist() == [cell == letters[1] for cell in game.cells(state)]


def test_states_and_hashes_are_equal_exactly_when_board_and_mover_are() -> None:
    for size in SIZES:
        game, rng = othello(size), random.Random(size)
        by_key: dict[tuple[str, int], Any] = {}
        hashes: dict[int, tuple[str, int]] = {}
        for _ in range(150):
            state = game.initial()
            while legal := game.legal_actions(state):
                key = (game.cells(state), game.player(state))
                assert by_key.setdefault(key, state) == state
                assert hashes.setdefault(game.hash(state), key) == key
                state = game.play(state, rng.choice(legal))
        assert len(by_key) == len(hashes)


@pytest.mark.parametrize("size", SIZES)
@given(choices=CHOICES)
@settings(max_examples=60, deadline=None)
def test_text_reads_back_as_the_same_position_and_actions(size: int, choices: list[int]) -> None:
    game = othello(size)
    state = walk(game, choices)
    text = game.position_text(state)
    again = game.parse_position(text)
    assert again == state
    assert game.hash(again) == game.hash(state)
    assert game.position_text(again) == text
    one_line = game.cells(state).replace(".", "-") + text[-2:]
    assert game.parse_position(one_line) == game.parse_position(one_line + ";") == state
    for action in game.legal_actions(state):
        name = game.action_text(state, action)
        assert game.parse_action(state, name) == action
        assert name == "pass" or game.parse_action(state, name.upper()) == action


def test_a1_is_the_top_left_and_black_may_begin_at_d3_c4_f5_or_e6() -> None:
    game = othello(8)
    state = game.initial()
    assert (
        game.position_text(state)
        == "......../......../......../...OX.../...XO.../......../......../........ X"
    )
    texts = [game.action_text(state, action) for action in game.legal_actions(state)]
    assert texts == ["d3", "c4", "f5", "e6"]
    assert game.cells(game.play(state, game.parse_action(state, "d3")))[2 * 8 + 3] == "X"


def test_a_pass_is_the_only_action_of_a_player_without_a_move() -> None:
    game = othello(6)
    state = game.parse_position("OX..../" + "....../" * 4 + "...... X")
    assert game.legal_actions(state) == [36]
    assert game.action_text(state, 36) == "pass"
    after = game.play(state, 36)
    assert game.cells(after) == game.cells(state)
    assert game.player(after) == 1
    assert [game.action_text(after, action) for action in game.legal_actions(after)] == ["c1"]
    last = game.play(after, game.parse_action(after, "c1"))
    assert game.outcome(last) == zermelo.Outcome.SECOND_WINS
    assert game.legal_actions(last) == []


def test_equal_numbers_of_discs_are_a_draw() -> None:
    game = othello(6)
    state = game.parse_position("XO.XO./" + "....../" * 4 + "...... X")
    assert game.outcome(state) is None
    state = game.parse_position("X..O../" + "....../" * 4 + "...... O")
    assert game.outcome(state) == zermelo.Outcome.DRAW


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("i1", "'i1' is not a cell from a1 to h8"),
        ("a9", "'a9' is not a cell from a1 to h8"),
        ("", "'' is not a cell from a1 to h8"),
        ("e4", "cell 'e4' is occupied"),
        ("a1", "'a1' is not legal: it turns no disc"),
        ("pass", "'pass' is not legal: X has a move"),
    ],
)
def test_an_action_that_cannot_be_read_or_played_says_why(text: str, reason: str) -> None:
    game = othello(8)
    with pytest.raises(ValueError, match=re.escape(reason)):
        game.parse_action(game.initial(), text)


def test_a_cell_is_refused_when_only_a_pass_is_legal_or_the_game_is_over() -> None:
    game = othello(6)
    state = game.parse_position("OX..../" + "....../" * 4 + "...... X")
    with pytest.raises(ValueError, match="'c1' is not legal: X must pass"):
        game.parse_action(state, "c1")
    over = game.parse_position("X...../" + "....../" * 4 + "...... O")
    with pytest.raises(ValueError, match="the game is over, so 'c1' cannot be played"):
        game.parse_action(over, "c1")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "must be followed by a blank and X or O"),
        ("-" * 36, "must be followed by a blank and X or O"),
        ("-" * 36 + " Z", "must be followed by a blank and X or O"),
        ("-" * 35 + " X", "expected 6 rows of 6 cells"),
        ("...../" + "....../" * 4 + "...... X", "row 1 has 5 cells, not 6"),
        ("Q" + "-" * 35 + " X", "'Q' is none of XO.-"),
    ],
)
def test_a_position_that_cannot_be_read_says_why(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=re.escape(reason)):
        othello(6).parse_position(text)


@pytest.mark.parametrize("suite", ["fforum-1-19.obf", "fforum-40-59.obf"])
def test_positions_and_moves_of_the_endgame_suites_are_legal(suite: str) -> None:
    lines = outside_data(f"othello/{suite}").read_text().splitlines()
    game = othello(8)
    assert len(lines) >= 19
    for line in lines:
        position, *moves = [part.strip() for part in line.split(";") if part.strip()]
        state = game.parse_position(position)
        assert game.outcome(state) is None
        for move in moves:
            cell, score = move.split(":")
            assert game.action_text(state, game.parse_action(state, cell)) == cell.lower()
            assert -64 <= int(score) <= 64
