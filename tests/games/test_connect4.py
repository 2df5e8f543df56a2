"""Connect Four: rules against a slow twin and OpenSpiel, counts, symmetry, text."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from native_games import native
from walks import walk

import zermelo

Record = Callable[[str, object], None]

GAME = native("connect4")
CHOICES = st.lists(st.integers(0, 6), max_size=42)  # taken modulo the number of legal actions
EMPTY_ROWS = "......./......./......./......./"


class SlowConnectFour:
    """The rules once more: a stack of letters per column."""

    def __init__(self) -> None:
        self.columns: list[str] = [""] * 7
        self.mover = "X"

    def at(self, column: int, height: int) -> str:
        inside = 0 <= column < 7 and 0 <= height < len(self.columns[column])
        return self.columns[column][height] if inside else "."

    def winner(self) -> str | None:
        for column in range(7):
            for height in range(6):
                for right, up in ((1, 0), (0, 1), (1, 1), (1, -1)):
                    line = {self.at(column + k * right, height + k * up) for k in range(4)}
                    if len(line) == 1 and line != {"."}:
                        return line.pop()
        return None

    def legal(self) -> list[int]:
        return [] if self.winner() else [c for c in range(7) if len(self.columns[c]) < 6]

    def play(self, column: int) -> None:
        self.columns[column] += self.mover
        self.mover = "O" if self.mover == "X" else "X"

    def undo(self, column: int) -> None:
        self.columns[column] = self.columns[column][:-1]
        self.mover = "O" if self.mover == "X" else "X"

    def cells(self) -> str:
        return "".join(self.at(column, 5 - row) for row in range(6) for column in range(7))

    def outcome(self) -> zermelo.Outcome | None:
        if self.legal():
            return None
        by_winner = {"X": zermelo.Outcome.FIRST_WINS, "O": zermelo.Outcome.SECOND_WINS}
        return by_winner.get(self.winner() or "", zermelo.Outcome.DRAW)

    def perft(self, depth: int) -> int:
        if depth == 0:
            return 1
        paths = 0
        for column in self.legal():
            self.play(column)
            paths += self.perft(depth - 1)
            self.undo(column)
        return paths


def random_game(rng: random.Random) -> Iterator[Any]:
    """The positions of one game, from the empty board to the last."""
    state = GAME.initial()
    yield state
    while legal := GAME.legal_actions(state):
        state = GAME.play(state, rng.choice(legal))
        yield state


def play_against_twin(seed: int) -> zermelo.Outcome | None:
    rng, twin, state, ply = random.Random(seed), SlowConnectFour(), GAME.initial(), 0
    while True:
        legal = GAME.legal_actions(state)
        assert legal == twin.legal()
        assert GAME.cells(state) == twin.cells()
        assert GAME.outcome(state) == twin.outcome()
        assert GAME.player(state) == "XO".index(twin.mover)
        assert GAME.ply(state) == ply
        if not legal:
            return GAME.outcome(state)
        column = rng.choice(legal)
        state = GAME.play(state, column)
        twin.play(column)
        ply += 1


def test_random_games_agree_with_the_slow_twin() -> None:
    assert len({play_against_twin(seed) for seed in range(400)}) == 3  # draws happen, too


@pytest.mark.slow
def test_thousands_of_random_games_agree_with_the_slow_twin(record_property: Record) -> None:
    for seed in range(1000, 4000):
        play_against_twin(seed)
    record_property("tried", 3000)


OPEN_SPIEL = [300, pytest.param(10_000, marks=pytest.mark.slow)]


@pytest.mark.parametrize("games", OPEN_SPIEL)
def test_random_games_agree_with_open_spiel(games: int, record_property: Record) -> None:
    pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")
    rng, rules = random.Random(5), pyspiel.load_game("connect_four")
    for _ in range(games):
        state, other = GAME.initial(), rules.new_initial_state()
        while not other.is_terminal():
            assert GAME.legal_actions(state) == other.legal_actions()
            assert GAME.player(state) == other.current_player()
            action = rng.choice(GAME.legal_actions(state))
            state = GAME.play(state, action)
            other.apply_action(action)
        outcome = GAME.outcome(state)
        assert outcome is not None
        assert other.returns()[0] == {"FIRST_WINS": 1, "DRAW": 0, "SECOND_WINS": -1}[outcome.name]
    record_property("tried", games)


@pytest.mark.parametrize(
    ("depth", "paths"), list(enumerate([1, 7, 49, 343, 2401, 16807, 117649, 823536, 5673234]))
)
def test_the_number_of_paths_is_the_known_one(depth: int, paths: int) -> None:
    assert GAME.perft(GAME.initial(), depth) == paths


def test_the_slow_twin_counts_the_same_paths() -> None:
    twin = SlowConnectFour()
    assert GAME.perft(GAME.initial(), 4) == twin.perft(4)
    # Near a win, where paths end early.
    for column in (3, 3, 2, 2, 4):
        twin.play(column)
    assert GAME.perft(GAME.parse_position("44335"), 4) == twin.perft(4)


@given(choices=CHOICES, choice=st.integers(0, 6))
@settings(max_examples=150, deadline=None)
def test_playing_and_mirroring_commute(choices: list[int], choice: int) -> None:
    state = walk(GAME, choices)
    legal = GAME.legal_actions(state)
    assert GAME.num_symmetries(state) == 2
    assert GAME.transform(state, 0) == state
    image = GAME.transform(state, 1)
    assert GAME.transform(image, 1) == state
    assert GAME.outcome(image) == GAME.outcome(state)
    assert sorted(GAME.transform_action(a, 1) for a in legal) == GAME.legal_actions(image)
    if legal:
        action = legal[choice % len(legal)]
        moved = GAME.play(image, GAME.transform_action(action, 1))
        assert moved == GAME.transform(GAME.play(state, action), 1)


@given(choices=CHOICES)
@settings(max_examples=150, deadline=None)
def test_the_observation_shows_the_movers_stones_first_and_moves_with_the_mirror(
    choices: list[int],
) -> None:
    state = walk(GAME, choices)
    planes = GAME.observe(state)
    assert planes.shape == GAME.observation_shape == (2, 6, 7)
    mine, theirs = ("X", "O") if GAME.player(state) == 0 else ("O", "X")
    cells = np.array(list(GAME.cells(state))).reshape(6, 7)
    assert np.array_equal(planes, np.stack([cells == mine, cells == theirs]).astype(np.float32))
    image = GAME.observe(GAME.transform(state, 1)).reshape(2, 42)
    to = [GAME.transform_cell(cell, 1) for cell in range(42)]
    assert np.array_equal(image[:, to], planes.reshape(2, 42))


def test_positions_are_equal_exactly_if_their_hashes_are() -> None:
    rng = random.Random(3)
    by_hash: dict[int, Any] = {}
    meetings = 0
    for _ in range(3000):
        for state in random_game(rng):
            meetings += GAME.hash(state) in by_hash
            assert by_hash.setdefault(GAME.hash(state), state) == state
    assert meetings > 3000
    assert len({GAME.position_text(state) for state in by_hash.values()}) == len(by_hash)


def test_the_order_of_moves_does_not_matter() -> None:
    one, other = GAME.parse_position("4354"), GAME.parse_position("4453")
    assert one == other
    assert GAME.hash(one) == GAME.hash(other)
    assert GAME.parse_position("3454") != one


@given(choices=CHOICES)
@settings(max_examples=150, deadline=None)
def test_texts_come_back(choices: list[int]) -> None:
    state = walk(GAME, choices)
    assert GAME.parse_position(GAME.position_text(state)) == state
    for action in GAME.legal_actions(state):
        assert GAME.action_text(state, action) == str(action + 1)
        assert GAME.parse_action(state, GAME.action_text(state, action)) == action


def test_a_string_of_columns_is_a_position_and_none_is_the_empty_board() -> None:
    assert GAME.parse_position("") == GAME.initial()
    assert GAME.position_text(GAME.parse_position("4453")) == EMPTY_ROWS + "...O.../..OXX.."


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("48", "position '48': move 2, '8', is not a column from 1 to 7"),
        ("1111111", "position '1111111': move 7 goes to column 1, which is full"),
        ("12121213", "position '12121213': move 8 comes after the end of the game"),
        (EMPTY_ROWS + "X....../.......", "column 1, row 5 from the top has nothing below it"),
        (EMPTY_ROWS + "......./O......", "X must have as many stones as O or one more"),
        (EMPTY_ROWS + "OOOO.../XXXX...", "both players have four in a row"),
        (EMPTY_ROWS + "OOO..../XXXX..O", "a stone was played after the game was won"),
        (
            "......./......./......X/....O.X/OO..OOX/XXXXOOX",
            "a stone was played after the game was won",
        ),
        (EMPTY_ROWS + "......./......", "expected 6 rows of 7 cells"),
        (EMPTY_ROWS + "......./......Z", "'Z' is none of XO."),
    ],
)
def test_an_impossible_position_is_refused_with_a_sentence(text: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=r"position '") as refusal:
        GAME.parse_position(text)
    assert str(refusal.value).endswith(sentence)


@pytest.mark.parametrize(
    ("position", "action", "sentence"),
    [
        ("", "8", "'8' is not a column from 1 to 7"),
        ("", "d1", "'d1' is not a column from 1 to 7"),
        ("111111", "1", "column 1 is full"),
        ("1212121", "3", "the game is over, so '3' cannot be played"),
    ],
)
def test_an_impossible_action_is_refused_with_a_sentence(
    position: str, action: str, sentence: str
) -> None:
    with pytest.raises(ValueError, match=r".") as refusal:
        GAME.parse_action(GAME.parse_position(position), action)
    assert str(refusal.value) == sentence


@given(text=st.text(alphabet="XO./1234567 8z", max_size=60))
@settings(max_examples=300, deadline=None)
def test_any_text_is_a_position_or_a_value_error(text: str) -> None:
    try:
        state = GAME.parse_position(text)
    except ValueError:
        return
    assert GAME.parse_position(GAME.position_text(state)) == state
