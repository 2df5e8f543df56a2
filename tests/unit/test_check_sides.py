"""`check_game` warns of games that break no rule and yet are meant otherwise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zermelo
from zermelo.errors import UserError
from zermelo.games.symmetries import Symmetries, board_symmetries
from zermelo.testing import Check, check_game
from zermelo.testing.check_game import SKIPPED, WARNING

EXAMPLE = Path(__file__).parents[2] / "examples" / "dots_and_boxes.py"
DotsAndBoxes: Any = type(zermelo.game(str(EXAMPLE)))


class Row:
    """Sound: whoever has two stones side by side on a row of six wins.

    A state is (own, other, player, won): stones of the mover and of the other as sets.
    """

    name = "row"
    num_actions = 6
    observation_shape = (2, 1, 6)
    symmetries: Any = board_symmetries(1, 6, kind="left-right")

    def initial(self) -> Any:
        return frozenset(), frozenset(), 0, False

    def legal_actions(self, state: Any) -> Any:
        return [a for a in range(6) if a not in state[0] | state[1]]

    def play(self, state: Any, action: int) -> Any:
        if action not in self.legal_actions(state):
            raise ValueError(f"action {action} is not legal")
        own = state[0] | {action}
        return state[1], own, 1 - state[2], bool(own & {action - 1, action + 1})

    def player(self, state: Any) -> Any:
        return state[2]

    def outcome(self, state: Any) -> Any:
        if state[3]:
            return zermelo.Outcome.SECOND_WINS if state[2] == 0 else zermelo.Outcome.FIRST_WINS
        return zermelo.Outcome.DRAW if len(state[0] | state[1]) == 6 else None

    def observe(self, state: Any) -> Any:
        planes = np.zeros((2, 1, 6), np.float32)
        for plane, stones in enumerate(state[:2]):
            planes[plane, 0, list(stones)] = 1
        return planes


def changed(**members: Any) -> Any:
    """The game with other members."""
    return type("Changed", (Row,), members)()


def found(game: Any, name: str) -> Check:
    report = check_game(game, games=30)
    return {check.name: check for check in report.checks}[name]


def test_a_sound_game_has_no_warning_and_its_tables_are_tried() -> None:
    report = check_game(Row(), games=30)
    assert report.ok
    assert not report.warnings
    assert "tried" in {check.name: check for check in report.checks}["symmetries"].detail


def first_players_side(self: Row, state: Any) -> Any:
    first, second = state[:2] if state[2] == 0 else (state[1], state[0])
    return Row.observe(self, (first, second))


def test_an_observation_from_the_first_players_side_is_warned_of() -> None:
    check = found(changed(observe=first_players_side, symmetries=None), "observation")
    assert check.status == WARNING
    assert check.passed
    assert "from the side of the player to move" in check.detail


def test_few_cells_that_are_each_players_own_are_noticed_beside_many_that_both_fill() -> None:
    """The boxes of Dots and Boxes beside its edges."""
    assert not check_game(DotsAndBoxes(), games=20).warnings

    def observe(self: Any, state: Any) -> Any:
        edges, mine, theirs, player = state
        first, second = (mine, theirs) if player == 0 else (theirs, mine)
        return DotsAndBoxes.observe(self, (edges, first, second, 0))

    unturned = type("Unturned", (DotsAndBoxes,), {"observe": observe})
    check = found(unturned(), "observation")
    assert check.status == WARNING
    assert "from the side of the player to move" in check.detail


def test_a_plane_that_tells_who_moves_is_enough() -> None:
    def observe(self: Row, state: Any) -> Any:
        return np.concatenate([first_players_side(self, state), np.full((1, 1, 6), state[2])])

    game = changed(observe=observe, observation_shape=(3, 1, 6))
    assert found(game, "observation").status == "ok"


def test_outcomes_with_swapped_signs_are_warned_of() -> None:
    def outcome(self: Row, state: Any) -> Any:
        if state[3]:
            return zermelo.Outcome.FIRST_WINS if state[2] == 0 else zermelo.Outcome.SECOND_WINS
        return Row.outcome(self, state)

    check = found(changed(outcome=outcome), "outcome")
    assert check.status == WARNING
    assert "swapped" in check.detail


def test_an_outcome_from_the_movers_side_is_warned_of() -> None:
    def outcome(self: Row, state: Any) -> Any:
        return zermelo.Outcome.FIRST_WINS if state[3] else Row.outcome(self, state)

    check = found(changed(outcome=outcome), "outcome")
    assert check.status == WARNING
    assert "FIRST_WINS" in check.detail


def test_what_depends_on_a_fault_is_skipped() -> None:
    def play(self: Row, state: Any, action: int) -> Any:
        raise RuntimeError("no board")

    report = check_game(changed(play=play))
    checks = {check.name: check for check in report.checks}
    assert not checks["play"].passed
    assert "play() raised RuntimeError: no board" in checks["play"].detail
    assert f"in line {play.__code__.co_firstlineno + 1} of" in checks["play"].detail
    assert checks["end of the game"].status == checks["perft"].status == SKIPPED
    assert [check.name for check in report.failures] == ["play"]


def test_a_value_that_nothing_can_be_done_with_is_a_fault_of_its_method() -> None:
    detail = found(changed(legal_actions=lambda self, state: None), "legal actions").detail
    assert "legal_actions() must be a list, not None" in detail


@pytest.mark.parametrize(
    ("members", "check", "words"),
    [
        ({"num_players": 3}, "attributes", "it has 3 players"),
        ({"num_players": 1}, "attributes", "it has 1 player (num_players)"),
        ({"chance_outcomes": lambda self, s: []}, "attributes", "it has chance"),
        ({"apply_actions": lambda self, s, a: s}, "attributes", "move at the same time"),
        ({"observe": lambda self, s, player: None}, "attributes", "hides information"),
        ({"player": lambda self, s: 2}, "player", "more than two players"),
        ({"player": lambda self, s: (0, 1)}, "player", "several players move at the same time"),
        ({"player": lambda self, s: -1}, "player", "chance or several players at once move"),
        ({"player": lambda self, s: 0}, "player", "only player 0 ever moves"),
        ({"outcome": lambda self, s: 3.5}, "initial position", "it ends with scores"),
        ({"outcome": lambda self, s: (1, 0) if s[3] else None}, "outcome", "it ends with scores"),
    ],
)
def test_other_kinds_of_games_are_not_supported_because(
    members: dict[str, Any], check: str, words: str
) -> None:
    detail = found(changed(**members), check).detail
    assert detail.startswith("not supported, because")
    assert words in detail
    if check == "attributes":
        with pytest.raises(UserError, match="not supported, because"):
            zermelo.game(changed(**members))


def test_false_tables_of_symmetries_are_found() -> None:
    true = board_symmetries(1, 6, kind="left-right")
    wrong = Symmetries(true.cells, (true.actions[0], (0, 1, 2, 3, 5, 4)))
    assert "symmetry 1" in found(changed(symmetries=wrong), "symmetries").detail
    short = Symmetries(true.cells, ((0, 1), (1, 0)))
    assert "not of 6 actions" in found(changed(symmetries=short), "symmetries").detail
    assert "board_symmetries" in found(changed(symmetries=[0, 1]), "symmetries").detail
