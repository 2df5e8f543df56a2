"""`check_game` passes sound games and names each fault of an unsound one in a sentence."""

from __future__ import annotations

import itertools
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zermelo
from zermelo.games.protocol import state_hash
from zermelo.testing import HashEvaluator, Report, check_game
from zermelo.testing.hash_evaluator import mix64

EXAMPLE = Path(__file__).parents[2] / "examples" / "my_game.py"
COUNT = itertools.count()


class Beans:
    """Sound: take one or two of seven beans; the last one wins.

    A state is (beans, player).
    """

    name = "beans"
    num_actions = 2
    observation_shape = (2, 1, 7)

    def initial(self) -> Any:
        return (7, 0)

    def legal_actions(self, state: Any) -> list[int]:
        return [0, 1][: state[0]]

    def play(self, state: Any, action: int) -> Any:
        if action not in self.legal_actions(state):
            raise ValueError(f"action {action} is not legal")
        return (state[0] - action - 1, 1 - state[1])

    def player(self, state: Any) -> Any:
        return state[1]

    def outcome(self, state: Any) -> Any:
        if state[0]:
            return None
        return zermelo.Outcome.SECOND_WINS if state[1] == 0 else zermelo.Outcome.FIRST_WINS

    def observe(self, state: Any) -> Any:
        planes = np.zeros((2, 1, 7), np.float32)
        planes[0, 0, : state[0]] = 1
        planes[1] = state[1]
        return planes


def fault(game: Any, name: str) -> str:
    """The sentence of the check called `name`, which must have failed."""
    report = check_game(game, games=5)
    assert not report.ok
    found = {check.name: check for check in report.checks}[name]
    assert not found.passed
    assert "\n" not in found.detail
    return found.detail


def test_a_sound_game_passes_and_says_what_it_has_not() -> None:
    report = check_game(Beans())
    assert report.ok, str(report)
    assert "the game has none" in {check.name: check.detail for check in report.checks}["hash"]
    assert report.games == 20
    assert 4 <= report.longest_game <= 7


@pytest.mark.technique("E6")
def test_the_example_is_sound_and_at_most_sixty_lines_long() -> None:
    report = check_game(zermelo.game(EXAMPLE))
    assert report.ok, str(report)
    assert len(EXAMPLE.read_text().splitlines()) <= 60


def test_the_report_is_plain_data() -> None:
    report = check_game(Beans(), games=2)
    data = json.loads(json.dumps(report.to_dict()))
    assert data["ok"] is True
    assert data["checks"][0] == {
        "name": "attributes", "passed": True, "detail": "tried once", "status": "ok",
    }  # fmt: skip


def test_the_same_seed_plays_the_same_games() -> None:
    reports = [check_game(Beans(), games=5, seed=3) for _ in range(2)]
    assert reports[0].positions == reports[1].positions


@pytest.mark.parametrize(
    ("attribute", "value", "words"),
    [
        ("name", "", "name must be a text"),
        ("name", "\x1b[2Jx", "name must be one line that can be shown"),
        ("num_actions", 0, "num_actions must be from 1"),
        ("num_actions", 2.0, "num_actions must be from 1"),
        ("num_actions", 70000, "num_actions must be from 1"),
        ("observation_shape", (7,), "observation_shape must be (planes, rows, columns)"),
        ("observation_shape", (2, 0, 7), "observation_shape must be (planes, rows, columns)"),
        ("observe", None, "the game lacks observe"),
    ],
)
def test_wrong_attributes_are_named(attribute: str, value: Any, words: str) -> None:
    wrong = type("Wrong", (Beans,), {attribute: value})
    assert words in fault(wrong(), "attributes")


def broken(method: str, function: Any) -> Any:
    """Beans with one method replaced."""
    return type("Broken", (Beans,), {method: function})()


@pytest.mark.parametrize(
    ("method", "function", "name", "words"),
    [
        ("initial", lambda self: (0, 0), "initial position", "the game is already over"),
        ("initial", lambda self: 1 / 0, "initial position", "initial() raised ZeroDivisionError"),
        ("player", lambda self, s: s[1] + 1, "player", "more than two players (player() is 2)"),
        ("player", lambda self, s: None, "player", "player() must be 0 or 1, not None,"),
        ("outcome", lambda self, s: None if s[0] else "x", "outcome", "must be None or an Outcome"),
        ("legal_actions", lambda self, s: [], "legal actions", "legal_actions() is empty"),
        ("legal_actions", lambda self, s: sys.exit(7), "legal actions", "raised SystemExit: 7"),
        ("legal_actions", lambda self, s: COUNT, "legal actions", "must be a list, not count("),
        ("legal_actions", lambda self, s: [0, 0], "legal actions", "names an action twice"),
        ("legal_actions", lambda self, s: [0, 2], "legal actions", "action 2 is not a number"),
        ("legal_actions", lambda self, s: ["a"], "legal actions", "action 'a' is not a number"),
        (
            "observe",
            lambda self, s: np.zeros(7),
            "observation",
            "has the shape (7,), not (2, 1, 7)",
        ),
        ("observe", lambda self, s: "text", "observation", "returns no array of numbers"),
        ("observe", lambda self, s: np.full((2, 1, 7), np.nan), "observation", "not finite"),
        (
            "observe",
            lambda self, s: np.random.default_rng().random((2, 1, 7)),
            "observation",
            "observe() changes from call to call",
        ),
        (
            "initial",
            lambda self: (5 + next(COUNT) % 2, 0),
            "initial position",
            "another position each time",
        ),
        ("play", lambda self, s, a: s, "play", "returned the same object"),
        ("play", lambda self, s, a: (max(0, s[0] - a - 1), 1 - s[1]), "illegal actions", "accepts"),
        ("play", lambda self, s, a: {}[a], "play", "play() raised KeyError"),
        ("hash", lambda self, s: -1, "hash", "hash() must be from 0 to 2**64 - 1"),
        ("hash", lambda self, s: 7, "hash", "the same hash"),
        ("hash", lambda self, s: id(object()) ^ np.random.randint(1 << 30), "hash", "hash"),
        ("cells", lambda self, s: "...", "cells", "cells() must be 7 letters"),
        ("action_text", lambda self, s, a: "x", "notation", "two actions have the same text"),
        ("position_text", lambda self, s: "a\nb", "notation", "must be one line"),
        ("parse_action", lambda self, s, text: 0, "notation", "accepts 'no such action'"),
        ("repeated_within", lambda self, s, n: True, "repetition", "repeated_within(0) is True"),
        ("num_symmetries", lambda self, s: 2, "symmetries", "also needs transform"),
    ],
)
def test_each_fault_has_its_sentence(method: str, function: Any, name: str, words: str) -> None:
    assert words in fault(broken(method, function), name)


def test_a_game_that_never_ends_is_found() -> None:
    endless = broken("play", lambda self, s, a: (s[0] % 7 + 1, 1 - s[1]))
    report = check_game(endless, games=3, max_plies=50)
    details = {check.name: check.detail for check in report.checks}
    assert details["end of the game"] == "a random game is not over after 50 plies"


class Mutable(Beans):
    """Changes the state it is given."""

    def initial(self) -> Any:
        return [7, 0]

    def play(self, state: Any, action: int) -> Any:
        after = super().play(state, action)
        state[0] -= 1
        return list(after)


def test_a_state_that_changes_is_found() -> None:
    assert "changed the old state's observation" in fault(Mutable(), "play")


class Mirrored(Beans):
    """Has a symmetry that is none."""

    def num_symmetries(self, state: Any) -> int:
        return 2

    def transform(self, state: Any, symmetry: int) -> Any:
        return state

    def transform_action(self, action: int, symmetry: int) -> int:
        return action if symmetry == 0 else 1 - action

    def transform_cell(self, cell: int, symmetry: int) -> int:
        return cell


def test_a_symmetry_that_does_not_hold_is_found() -> None:
    assert "symmetry 1" in fault(Mirrored(), "symmetries")


def test_a_sentence_tells_how_to_get_to_the_fault() -> None:
    late = broken("player", lambda self, s: s[1] if s[0] > 3 else 5)
    assert "after actions" in fault(late, "player")


def test_refusing_with_another_exception_is_remarked_but_passes() -> None:
    def play(self: Beans, state: Any, action: int) -> Any:
        if action not in self.legal_actions(state):
            raise IndexError
        return Beans.play(self, state, action)

    report: Report = check_game(broken("play", play), games=5)
    assert report.ok
    assert "refused, but with IndexError" in str(report)


def test_the_hash_evaluator_is_the_documented_formula() -> None:
    game = Beans()
    state = game.initial()
    word = (1 << 64) - 1
    key = state_hash(game, state) ^ mix64((5 + 0x5851F42D4C957F2D) & word)
    logits, value = HashEvaluator(5)(game, state, [0, 1])
    assert logits == [(mix64(key ^ mix64(a + 1)) >> 40) / 2**22 - 2.0 for a in (0, 1)]
    assert value == (mix64(key ^ 0xA0761D6478BD642F) >> 40) / 2**23 - 1.0
    assert HashEvaluator(5).draw(game, state) == 0.5 * (1 - abs(value))


def test_mix64_is_splitmix64() -> None:
    # The first outputs of SplitMix64 seeded with 0, published with the generator.
    step = 0x9E3779B97F4A7C15
    assert [mix64(step), mix64(2 * step)] == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4]


def test_logits_and_values_stay_in_their_ranges_and_fit_a_float32() -> None:
    game = Beans()
    for seed in range(200):
        logits, value = HashEvaluator(seed)(game, game.initial(), range(2))
        assert all(-2.0 <= logit < 2.0 for logit in logits)
        assert -1.0 <= value < 1.0
        assert all(float(np.float32(number)) == number for number in (*logits, value))
