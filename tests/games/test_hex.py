"""Hex: rules against a slow twin, counts, symmetry, the mover's frame, swap, text."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from native_games import NativeGame, native
from walks import walk

import zermelo

Record = Callable[[str, object], None]

SIZES = list(range(3, 12))
NAMES = ["hex?size=3", "hex?size=5&swap=on", "hex?size=8", "hex?size=11&swap=on"]
CHOICES = st.lists(st.integers(0, 120), max_size=121)  # taken modulo the number of legal actions


def hex_game(size: int, swap: bool) -> NativeGame:
    return native(f"hex?size={size}" + ("&swap=on" if swap else ""))


class SlowHex:
    """The rules once more, on the board as it lies: a dictionary of stones and a flood fill."""

    def __init__(self, size: int, swap: bool) -> None:
        self.size, self.swap = size, swap
        self.stones: dict[tuple[int, int], str] = {}  # by (row, column)
        self.ply = 0

    def mover(self) -> str:
        return "XO"[self.ply % 2]

    def joined(self, stone: str) -> bool:
        along = 0 if stone == "X" else 1  # X from the first to the last row, O by columns
        todo = [cell for cell, s in self.stones.items() if s == stone and cell[along] == 0]
        seen = set(todo)
        while todo:
            row, column = cell = todo.pop()
            if cell[along] == self.size - 1:
                return True
            for near in (
                (row, column - 1), (row, column + 1), (row - 1, column),
                (row + 1, column), (row - 1, column + 1), (row + 1, column - 1),
            ):  # fmt: skip
                if self.stones.get(near) == stone and near not in seen:
                    seen.add(near)
                    todo.append(near)
        return False

    def outcome(self) -> zermelo.Outcome | None:
        if self.joined("X"):
            return zermelo.Outcome.FIRST_WINS
        return zermelo.Outcome.SECOND_WINS if self.joined("O") else None

    def legal(self) -> list[str]:
        if self.outcome() is not None:
            return []
        cells = [
            f"{chr(ord('a') + column)}{row + 1}"
            for row in range(self.size)
            for column in range(self.size)
            if (row, column) not in self.stones
        ]
        return [*cells, "swap"] if self.swap and self.ply == 1 else cells

    def play(self, text: str) -> None:
        if text == "swap":
            ((row, column),) = self.stones
            self.stones = {(column, row): "O"}
        else:
            self.stones[int(text[1:]) - 1, ord(text[0]) - ord("a")] = self.mover()
        self.ply += 1

    def cells(self) -> str:
        rows = range(self.size)
        return "".join(self.stones.get((row, column), ".") for row in rows for column in rows)

    def perft(self, depth: int) -> int:
        if depth == 0:
            return 1
        stones, ply, paths = dict(self.stones), self.ply, 0
        for text in self.legal():
            self.play(text)
            paths += self.perft(depth - 1)
            self.stones, self.ply = dict(stones), ply
        return paths


def play_against_twin(size: int, swap: bool, seed: int) -> zermelo.Outcome | None:
    game, twin, rng = hex_game(size, swap), SlowHex(size, swap), random.Random(seed)
    state = game.initial()
    while True:
        legal = game.legal_actions(state)
        assert legal == sorted(legal)
        assert sorted(game.action_text(state, action) for action in legal) == sorted(twin.legal())
        assert game.cells(state) == twin.cells()
        assert game.outcome(state) == twin.outcome()
        assert game.player(state) == twin.ply % 2
        assert game.ply(state) == twin.ply
        if not legal:
            return game.outcome(state)
        action = rng.choice(legal)
        twin.play(game.action_text(state, action))
        state = game.play(state, action)


@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize("size", SIZES)
def test_random_games_agree_with_the_slow_twin_and_somebody_wins(size: int, swap: bool) -> None:
    rounds = max(3, 60 // size)
    assert None not in {play_against_twin(size, swap, seed) for seed in range(rounds)}


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_hundreds_of_random_games_agree_with_the_slow_twin(
    size: int, record_property: Record
) -> None:
    for seed in range(1000, 1300):
        play_against_twin(size, swap=seed % 2 == 0, seed=seed)
    record_property("tried", 300)


@pytest.mark.parametrize("size", SIZES)
def test_a_full_board_has_exactly_one_winner(size: int) -> None:
    rng = random.Random(size)
    for _ in range(20):
        twin = SlowHex(size, swap=False)
        cells = [(row, column) for row in range(size) for column in range(size)]
        rng.shuffle(cells)
        twin.stones = {cell: "XO"[i % 2] for i, cell in enumerate(cells)}
        assert twin.joined("X") != twin.joined("O")


@pytest.mark.parametrize(
    ("size", "swap", "depth"), [(3, False, 5), (3, True, 5), (4, False, 4), (4, True, 4)]
)
def test_the_slow_twin_counts_the_same_paths(size: int, swap: bool, depth: int) -> None:
    game = hex_game(size, swap)
    for d in range(depth + 1):
        assert game.perft(game.initial(), d) == SlowHex(size, swap).perft(d)


@pytest.mark.slow
@pytest.mark.parametrize("swap", [False, True])
def test_the_slow_twin_counts_the_same_paths_to_the_end_of_every_game(swap: bool) -> None:
    game = hex_game(3, swap)
    for depth in (6, 7, 8, 9, 10):
        assert game.perft(game.initial(), depth) == SlowHex(3, swap).perft(depth)


@pytest.mark.parametrize("name", NAMES)
@given(choices=CHOICES, choice=st.integers(0, 120))
@settings(max_examples=40, deadline=None)
def test_playing_and_turning_commute(name: str, choices: list[int], choice: int) -> None:
    game = native(name)
    state = walk(game, choices)
    legal = game.legal_actions(state)
    assert game.num_symmetries(state) == 2
    assert game.transform(state, 0) == state
    image = game.transform(state, 1)
    assert game.transform(image, 1) == state
    assert game.outcome(image) == game.outcome(state)
    assert game.cells(image) == game.cells(state)[::-1]
    assert sorted(game.transform_action(a, 1) for a in legal) == game.legal_actions(image)
    if legal:
        action = legal[choice % len(legal)]
        moved = game.play(image, game.transform_action(action, 1))
        assert moved == game.transform(game.play(state, action), 1)


@pytest.mark.parametrize("name", NAMES)
@given(choices=CHOICES)
@settings(max_examples=40, deadline=None)
def test_the_observation_is_in_the_movers_frame_and_turns_with_the_board(
    name: str, choices: list[int]
) -> None:
    game = native(name)
    state = walk(game, choices)
    planes = game.observe(state)
    size, swap = planes.shape[1], name.endswith("swap=on")
    assert planes.shape == game.observation_shape == (2 + swap, size, size)
    board = np.array(list(game.cells(state))).reshape(size, size)
    mine, theirs = ("X", "O") if game.player(state) == 0 else ("O", "X")
    if game.player(state) == 1:
        board = board.T
    assert np.array_equal(planes[:2], np.stack([board == mine, board == theirs]))
    if swap:
        assert np.all(planes[2] == (game.ply(state) == 1))
    flat = planes.reshape(-1, size * size)
    image = game.observe(game.transform(state, 1)).reshape(-1, size * size)
    to = [game.transform_cell(cell, 1) for cell in range(size * size)]
    assert np.array_equal(image[:, to], flat)


@pytest.mark.parametrize("name", NAMES)
def test_actions_and_planes_share_a_frame(name: str) -> None:
    """The stone that an action puts on the board shows up at that index of its own plane."""
    game, rng = native(name), random.Random(4)
    state = game.initial()
    while legal := game.legal_actions(state):
        action, before = rng.choice(legal), game.observe(state)
        after = game.play(state, action)
        if action < before[0].size:
            # One ply later the mover's frame is the other one.
            new = game.observe(after)[1].T.reshape(-1) - before[0].reshape(-1)
            assert np.flatnonzero(new).tolist() == [action]
        state = after


@pytest.mark.parametrize("name", NAMES)
def test_positions_are_equal_exactly_if_their_hashes_are(name: str) -> None:
    game, rng = native(name), random.Random(3)
    by_hash: dict[int, Any] = {}
    for _ in range(60):
        state = game.initial()
        while legal := game.legal_actions(state):
            assert by_hash.setdefault(game.hash(state), state) == state
            state = game.play(state, rng.choice(legal))
    assert len({game.position_text(state) for state in by_hash.values()}) == len(by_hash)


@pytest.mark.parametrize("size", [3, 7, 11])
def test_the_order_of_moves_does_not_matter(size: int) -> None:
    game, rng = hex_game(size, swap=False), random.Random(size)
    for _ in range(30):
        texts = [game.action_text(game.initial(), a) for a in rng.sample(range(size * size), 4)]
        states = []
        for order in ((0, 1, 2, 3), (2, 1, 0, 3), (0, 3, 2, 1)):
            state = game.initial()
            for i in order:
                state = game.play(state, game.parse_action(state, texts[i]))
            states.append(state)
        assert states[0] == states[1] == states[2]
        assert len({game.hash(state) for state in states}) == 1


@pytest.mark.parametrize("name", NAMES)
@given(choices=CHOICES)
@settings(max_examples=40, deadline=None)
def test_texts_come_back(name: str, choices: list[int]) -> None:
    game = native(name)
    state = walk(game, choices)
    assert game.parse_position(game.position_text(state)) == state
    for action in game.legal_actions(state):
        assert game.parse_action(state, game.action_text(state, action)) == action


def test_a1_is_the_top_left_and_numbers_count_rows_downwards() -> None:
    game = native("hex?size=4")
    state = game.play(game.initial(), game.parse_action(game.initial(), "c1"))
    assert game.position_text(state) == "..X./..../..../...."
    assert game.parse_action(state, "c2") == 9  # row 2 of column c is (2, 1) in O's frame
    assert game.position_text(game.play(state, 9)) == "..X./..O./..../...."


def test_a_swap_takes_the_stone_over_at_the_transposed_cell() -> None:
    game = native("hex?size=4&swap=on")
    assert game.num_actions == 17
    state = game.play(game.initial(), game.parse_action(game.initial(), "c1"))
    assert game.legal_actions(state)[-1] == 16
    assert game.action_text(state, 16) == "swap"
    state = game.play(state, 16)
    assert game.position_text(state) == "..../..../O.../.... swapped"
    assert game.player(state) == 0
    assert 16 not in game.legal_actions(state)
    # The same stones with the other player to move are another position.
    state = game.play(state, game.parse_action(state, "a1"))
    plain = game.parse_position("X.../..../O.../....")
    assert state == game.parse_position("X.../..../O.../.... swapped")
    assert plain != state
    assert game.hash(plain) != game.hash(state)


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("hex?size=3", ".../...", "expected 3 rows of 3 cells"),
        ("hex?size=3", "O../.../...", "X must have as many stones as O or one more"),
        ("hex?size=3", "O../.../... swapped", "hex?size=3 has no swap rule"),
        ("hex?size=3&swap=on", "XX./.../... swapped", "as many stones as O or one fewer"),
        ("hex?size=3&swap=on", ".../.../... swapped", "a swap needs a stone"),
        ("hex?size=3", "X../X.O/XOO", "a stone was played after the game was won"),
        ("hex?size=3", "Z../.../...", "'Z' is none of XO."),
    ],
)
def test_an_impossible_position_is_refused_with_a_sentence(
    name: str, text: str, sentence: str
) -> None:
    with pytest.raises(ValueError, match=r"position '") as refusal:
        native(name).parse_position(text)
    assert str(refusal.value).endswith(sentence)


@pytest.mark.parametrize(
    ("name", "position", "action", "sentence"),
    [
        ("hex?size=3", ".../.../...", "d1", "'d1' is not a cell from a1 to c3"),
        ("hex?size=3", ".../.../...", "swap", "'swap' is not a cell from a1 to c3"),
        ("hex?size=3", "X../.../...", "a1", "cell 'a1' is occupied"),
        ("hex?size=3", "X.O/X../XO.", "b1", "the game is over, so 'b1' cannot be played"),
        (
            "hex?size=3&swap=on",
            ".../.../...",
            "swap",
            "'swap' can only be the second player's first move",
        ),
    ],
)
def test_an_impossible_action_is_refused_with_a_sentence(
    name: str, position: str, action: str, sentence: str
) -> None:
    game = native(name)
    with pytest.raises(ValueError, match=r".") as refusal:
        game.parse_action(game.parse_position(position), action)
    assert str(refusal.value) == sentence


@pytest.mark.parametrize("size", [0, 2, 12, 1000])
def test_other_sizes_are_refused(size: int) -> None:
    with pytest.raises(ValueError, match=str(size)):
        native(f"hex?size={size}")


@given(text=st.text(alphabet="XO./ swaped", max_size=25))
@settings(max_examples=200, deadline=None)
def test_any_text_is_a_position_or_a_value_error(text: str) -> None:
    game = native("hex?size=3&swap=on")
    try:
        state = game.parse_position(text)
    except ValueError:
        return
    assert game.parse_position(game.position_text(state)) == state
