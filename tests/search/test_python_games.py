"""Games in Python: symmetries as tables, hashes of plain states, and few calls."""

from __future__ import annotations

import random
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from small_trees import CountingEvaluator

from zermelo import _core, board_symmetries
from zermelo.errors import UserError
from zermelo.games import game as find_game
from zermelo.games.symmetries import image_action, image_hash, image_planes, symmetry_count
from zermelo.network import architecture_for
from zermelo.network.architecture import NetworkOptions
from zermelo.network.weights import random_weights
from zermelo.replay.canonical import canonical
from zermelo.search import EvaluationCache, Search, SearchOptions, UniformEvaluator
from zermelo.selfplay.self_play import SelfPlay
from zermelo.testing import HashEvaluator, check_game

EXAMPLE = str(Path(__file__).parents[2] / "examples" / "dots_and_boxes.py")


class Counted:
    """A game that counts the calls of its methods."""

    def __init__(self, game: Any) -> None:
        self.calls: Counter[str] = Counter()
        for name in ("name", "num_actions", "observation_shape", "symmetries"):
            setattr(self, name, getattr(game, name))
        for name in ("initial", "legal_actions", "play", "player", "outcome", "observe"):
            setattr(self, name, self._counted(name, getattr(game, name)))

    def _counted(self, name: str, method: Any) -> Any:
        def call(*arguments: Any) -> Any:
            self.calls[name] += 1
            return method(*arguments)

        return call


def random_state(game: Any, plies: int, rng: random.Random) -> Any:
    state = game.initial()
    for _ in range(plies):
        state = game.play(state, rng.choice(game.legal_actions(state)))
    return state


def test_the_example_is_sound() -> None:
    report = check_game(find_game(EXAMPLE), games=5)
    assert report.ok, str(report)


def test_a_square_has_eight_symmetries_and_a_rectangle_four() -> None:
    assert len(board_symmetries(3, 3)) == 8
    assert len(board_symmetries(2, 3)) == 4
    assert board_symmetries(2, 3, kind="left-right").cells == (
        (0, 1, 2, 3, 4, 5),
        (2, 1, 0, 5, 4, 3),
    )


def test_actions_move_with_the_cells_they_are_played_on() -> None:
    found = board_symmetries(1, 3, actions=[0, 2, (0, 1), (2, 1), None], kind="left-right")
    assert found.actions[1] == (1, 0, 3, 2, 4)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"actions": [0, 1]}, "has no mirror image"),
        ({"actions": [0, 0]}, "both played on cell 0"),
        ({"kind": "spiral"}, "there are no symmetries 'spiral'"),
        ({"kind": "diagonal"}, "has no diagonal symmetry"),
    ],
)
def test_symmetries_that_cannot_be_are_refused(arguments: Any, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        board_symmetries(1, 3, **arguments)


def test_the_core_refuses_tables_of_another_size() -> None:
    game: Any = Counted(find_game(EXAMPLE))
    game.symmetries = board_symmetries(3, 3)
    with pytest.raises(ValueError, match="symmetries"):
        _core.PyGame(game)


@pytest.mark.technique("S14")
def test_images_of_a_python_position_share_a_networks_answer() -> None:
    game = find_game(EXAMPLE)
    firsts = sorted({image_action(game, 0, k) for k in range(8)})
    assert len(firsts) == 8
    for symmetry in (True, False):
        evaluator = CountingEvaluator(game.num_actions)
        cache = EvaluationCache(1, game.num_actions)
        options = SearchOptions(cache_symmetry=symmetry)
        for action in firsts:
            state = game.play(game.initial(), action)
            Search(game, evaluator, options, cache).run(state, simulations=0)
        assert evaluator.positions == (1 if symmetry else 8)


@pytest.mark.technique("T4")
def test_samples_of_a_python_game_stand_in_their_canonical_image() -> None:
    game = find_game(EXAMPLE)
    network = random_weights(architecture_for(game, NetworkOptions(kind="sparse", hidden=64)))
    player = SelfPlay(game, network, SearchOptions(), _core.SelfPlayOptions(simulations=8, games=4))
    samples = player.play(50).samples
    assert set(samples.symmetries.tolist()) == {8}
    rng = random.Random(1)
    for plies in range(6):
        state = random_state(game, plies, rng)
        words = canonical(game, state).words.tolist()
        images = [image_planes(game, state, k) for k in range(symmetry_count(game, state))]
        packed = [np.append(i.ravel(), np.zeros(i.size % 2, np.float32)) for i in images]
        assert words == min(p.view(np.uint64).tolist() for p in packed)


def test_mirrored_games_lead_to_mirrored_positions() -> None:
    game = find_game(EXAMPLE)
    rng = random.Random(3)
    for k in range(8):
        one = other = game.initial()
        for _ in range(12):
            action = rng.choice(list(game.legal_actions(one)))
            one, other = game.play(one, action), game.play(other, image_action(game, action, k))
        assert np.array_equal(image_planes(game, one, k), np.asarray(game.observe(other)))
        assert image_hash(game, one) == image_hash(game, other)


def test_a_search_plays_each_move_once_and_asks_nothing_of_symmetries() -> None:
    game: Any = Counted(find_game(EXAMPLE))
    Search(game, UniformEvaluator(), SearchOptions()).run(game.initial(), simulations=400)
    assert game.calls["play"] <= 400  # not once for every step of every descent
    assert game.calls["player"] <= 402
    assert game.calls["observe"] == 0  # its states are plain values, which have a hash


class Named(NamedTuple):
    board: str
    mover: int


@dataclass(frozen=True)
class Data:
    board: tuple[int, ...]
    mover: int


def test_plain_states_have_hashes_by_value() -> None:
    text = "".join(["a", "bc"])
    pairs: list[tuple[Any, Any]] = [
        (("abc", 1), (text, 1)),
        (Named("abc", 0), Named(text, 0)),
        (Data((1, 2), 0), Data((*range(1, 3),), 0)),
        (frozenset(["a", "b"]), frozenset(["b", "a"])),
        (("x", "x"), ("x", "".join(["x"]))),
    ]
    for one, other in pairs:
        assert _core.value_hash(one) == _core.value_hash(other)
    different = [("abc", 1), ("abc", 0), ("abd", 1), Data((1, 2), 0), Data((1, 2), 1), b"abc", 7]
    assert len({_core.value_hash(each) for each in different}) == len(different)
    assert _core.value_hash(object()) is None


def test_a_search_with_and_without_remembered_positions_is_the_same() -> None:
    game = find_game(EXAMPLE)
    state = random_state(game, 5, random.Random(2))
    kept = Search(game, HashEvaluator(1))
    first = kept.run(state, simulations=300)
    again = Search(game, HashEvaluator(1)).run(state, simulations=300)
    assert list(first.visits) == list(again.visits)


@pytest.mark.parametrize(
    ("method", "value", "sentence"),
    [
        ("outcome", 0.5, "outcome() returned 0.5, not an Outcome or None"),
        ("outcome", 3, "outcome() returned 3, not an Outcome or None"),
        ("outcome", "draw" * 30, "outcome() returned 'drawdraw"),
        ("player", "X", "player() returned 'X', not 0 or 1"),
        ("player", 2, "player() returned 2, not 0 or 1"),
        ("legal_actions", ["a"], "legal_actions() returned 'a', not numbers of actions"),
        ("hash", -1, "hash() returned -1, not a number from 0 to 2^64 - 1"),
    ],
)
def test_an_answer_of_a_game_that_means_nothing_is_named(
    method: str, value: object, sentence: str
) -> None:
    game: Any = Counted(find_game(EXAMPLE))
    sound = getattr(game, method, None)  # at the start
    setattr(game, method, lambda state: value if state[0] or sound is None else sound(state))
    with pytest.raises(
        _core.RefusedError, match=re.escape(f"game '{game.name}': {sentence}")
    ) as raised:
        Search(game, HashEvaluator(1), SearchOptions()).run(game.initial(), simulations=4)
    assert len(str(raised.value)) < 160
