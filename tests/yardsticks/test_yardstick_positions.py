"""Positions with known results: the package's set, files, and the figures that they give."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exact_player import ByScore, Scores, position_file
from native_games import native
from outside_data import outside_data
from scripts import load_script

from zermelo import _core
from zermelo.errors import UserError
from zermelo.games.protocol import State
from zermelo.search import RolloutEvaluator, SearchOptions, UniformEvaluator
from zermelo.testing import HashEvaluator
from zermelo.yardsticks import positions as known_positions
from zermelo.yardsticks.choosers import (
    Choice,
    PolicyChooser,
    RandomChooser,
    SearchChooser,
)
from zermelo.yardsticks.labels import OPENING_FILE, Connect4Labels, sign
from zermelo.yardsticks.positions import (
    KnownPosition,
    PositionSet,
    PositionYardstick,
    connect4_set,
    read_positions,
)

ROOT = Path(__file__).parents[2]
CONNECT4: Any = native("connect4")
TICTACTOE: Any = native("tictactoe")


def set_scores() -> Scores:
    table = {str(p.state): dict(p.scores) for p in connect4_set().positions}
    return lambda state: table[str(state)]


def solver_evaluator(observations: Any) -> tuple[Any, Any]:
    """The solver as a network that is always right, for late positions."""
    logits = np.full((len(observations), 7), -20.0, np.float32)
    values = np.zeros(len(observations), np.float32)
    solver = _core.Connect4Solver(table_mib=1)
    for row, planes in enumerate(observations):
        state = state_of(planes)
        scores = {c: s for c, s in enumerate(solver.analyse(state)) if s is not None}
        logits[row, max(scores, key=lambda c: scores[c])] = 20.0
        values[row] = sign(max(scores.values()))
    return logits, values


def state_of(planes: Any) -> State:
    """The position that the two planes (mover's and opponent's stones) show."""
    stones = planes.reshape(2, 6, 7) > 0
    mover = "X" if stones[0].sum() == stones[1].sum() else "O"
    letters = np.where(stones[0], mover, np.where(stones[1], "O" if mover == "X" else "X", "."))
    for rows in (letters, letters[::-1]):
        try:
            state = CONNECT4.parse_position("/".join("".join(row) for row in rows))
        except ValueError:
            continue
        if np.array_equal(np.asarray(CONNECT4.observe(state)).reshape(2, 6, 7) > 0, stones):
            return state
    raise AssertionError("no such position")


def late(count: int, ply: int = 26) -> PositionSet:
    """The first so many positions of the set that the solver knows at once."""
    known = connect4_set()
    chosen = [p for p in known.positions if CONNECT4.ply(p.state) >= ply]
    return replace(known, positions=chosen[:count])


# ---- the set of the package ---------------------------------------------------------------------


def test_the_set_has_as_many_positions_of_each_ply_and_no_two_are_mirror_images() -> None:
    positions = connect4_set().positions
    plies = Counter(CONNECT4.ply(p.state) for p in positions)
    assert plies == dict.fromkeys(range(8, 35), 22)
    labels = Connect4Labels()
    keys = {labels._key(p.state)[0] for p in positions}
    assert len(keys) == len(positions)
    assert Counter(p.can_err for p in positions) == {True: 17 * 27, False: 5 * 27}
    assert {p.result for p in positions if not p.can_err} == {-1}


def test_the_sets_scores_are_those_of_the_solver() -> None:
    solver = _core.Connect4Solver(table_mib=8)
    sample = [p for p in connect4_set().positions if CONNECT4.ply(p.state) >= 15][:60]
    for position in sample:
        found = {c: s for c, s in enumerate(solver.analyse(position.state)) if s is not None}
        assert dict(position.scores) == found
        assert position.score == solver.solve(position.state)


@pytest.mark.slow
def test_all_scores_of_the_set_are_those_of_the_solver() -> None:
    solver = _core.Connect4Solver(table_mib=64)
    for position in connect4_set().positions:
        found = {c: s for c, s in enumerate(solver.analyse(position.state)) if s is not None}
        assert dict(position.scores) == found


def test_the_tool_makes_the_sets_positions_again() -> None:
    tool = load_script("tools/make_connect4_set.py")
    shipped = set(known_positions.CONNECT4_SET.read_text().splitlines())
    made = list(tool.make_set(tool.SEED, range(28, 35)))
    assert len(made) == 1 + 7 * 22
    assert set(made) <= shipped
    other = list(tool.make_set(tool.SEED + 1, range(33, 35)))
    assert not set(other[1:]) <= shipped


def test_scores_of_the_opening_lead_to_each_other() -> None:
    """A position's best score is one ply's step from its parent's score of that column."""
    labels = Connect4Labels()
    lines = [line for line in OPENING_FILE.read_text().splitlines() if line[0] != "#"]
    checked = 0
    for line in lines:
        state = CONNECT4.parse_position(line.split()[0])
        for column, score in labels.scores(state).items():
            after = CONNECT4.play(state, column)
            if CONNECT4.outcome(after) is None and labels._key(after)[0] in labels._scores:
                assert -max(labels.scores(after).values()) == score
                checked += 1
    assert checked > 200
    assert labels.solved == 0


# ---- shares and errors --------------------------------------------------------------------------


@pytest.mark.technique("E2")
def test_a_perfect_player_keeps_every_value_and_score() -> None:
    perfect = ByScore(set_scores())
    found = PositionYardstick(CONNECT4, connect4_set()).judge(perfect, perfect)
    assert found["connect4.keeps_value"] == found["connect4.keeps_score"] == 1.0
    assert found["connect4.policy_keeps_value"] == found["connect4.policy_keeps_score"] == 1.0
    assert found["connect4.value_error"] == found["connect4.network_value_error"] == 0.0
    assert found["connect4.positions"] == 594
    assert found["connect4.judged"] == sum(each.can_err for each in connect4_set().positions) < 594


@pytest.mark.technique("E2")
def test_the_worst_player_keeps_nothing_and_a_random_one_a_third() -> None:
    worst = ByScore(set_scores(), worst=True)
    chance = RandomChooser(CONNECT4, seed=1)
    found = PositionYardstick(CONNECT4, connect4_set()).judge(worst, chance)
    assert found["connect4.keeps_value"] == found["connect4.keeps_score"] == 0.0
    assert 0.3 < found["connect4.policy_keeps_value"] < 0.45
    assert found["connect4.policy_keeps_score"] < found["connect4.policy_keeps_value"]


def test_a_network_that_is_always_right_scores_one_with_and_without_search() -> None:
    yardstick = PositionYardstick(CONNECT4, late(40), simulations=8)
    found = yardstick.run(solver_evaluator)
    assert found["connect4.keeps_value"] == 1.0
    assert found["connect4.policy_keeps_value"] == found["connect4.policy_keeps_score"] == 1.0
    assert found["connect4.network_value_error"] < 1e-6
    assert found["connect4.value_error"] < 0.3  # the search discounts far results


def test_search_makes_up_for_a_policy_that_points_the_wrong_way() -> None:
    def misled(observations: Any) -> tuple[Any, Any]:
        logits, values = solver_evaluator(observations)
        return -0.1 * logits, values

    found = PositionYardstick(CONNECT4, late(40), simulations=100).run(misled)
    assert found["connect4.policy_keeps_value"] < 0.7
    assert found["connect4.keeps_value"] > found["connect4.policy_keeps_value"] + 0.2
    assert found["connect4.network_value_error"] < 1e-6


@pytest.mark.technique("E2")
def test_a_value_of_the_wrong_sign_shows_in_the_value_error() -> None:
    def pessimist(observations: Any) -> tuple[Any, Any]:
        logits, values = solver_evaluator(observations)
        return logits, -values

    positions = late(30)
    found = PositionYardstick(CONNECT4, positions, simulations=2).run(pessimist)
    results = [abs(p.result) for p in positions.positions]
    assert found["connect4.network_value_error"] == pytest.approx(2 * np.mean(results), abs=1e-6)
    assert found["connect4.policy_keeps_value"] == 1.0


def test_a_set_is_judged_whole_however_short_the_budget_is() -> None:
    yardstick = PositionYardstick(CONNECT4, connect4_set(), simulations=1)
    assert yardstick.run(UniformEvaluator(), 1e-9)["connect4.positions"] == 594
    assert yardstick.run(UniformEvaluator(), 1e-9) == yardstick.run(UniformEvaluator())


def test_the_same_network_gives_the_same_figures() -> None:
    yardstick = PositionYardstick(CONNECT4, connect4_set(), simulations=30)
    assert yardstick.run(RolloutEvaluator(seed=3)) == yardstick.run(RolloutEvaluator(seed=3))


def test_threads_share_the_positions_and_change_no_figure() -> None:
    one, two = (
        PositionYardstick(CONNECT4, late(60), 40, SearchOptions(threads=threads, cache_mib=0)).run(
            HashEvaluator(2).native
        )
        for threads in (1, 2)
    )
    assert one == two


def test_the_policy_is_the_networks_largest_logit_and_its_value() -> None:
    def network(observations: Any) -> tuple[Any, Any]:
        logits = np.tile(np.array([0, 1, 2, 5, 3, 2, 1], np.float32), (len(observations), 1))
        return logits, np.full(len(observations), 0.375, np.float32)

    states = [CONNECT4.initial(), CONNECT4.parse_position("444444")]
    chosen = PolicyChooser(CONNECT4, network).choose(states)
    assert chosen == [Choice(3, 0.375), Choice(4, 0.375)]  # the fourth column is full in the second


# ---- files of positions -------------------------------------------------------------------------


def test_a_file_is_judged_by_solving_what_the_choices_lead_to(tmp_path: Path) -> None:
    positions = read_positions(position_file(tmp_path), CONNECT4)
    solver = _core.Connect4Solver(table_mib=8)

    def scores(state: State) -> dict[int, int]:
        return {c: s for c, s in enumerate(solver.analyse(state)) if s is not None}

    yardstick = PositionYardstick(CONNECT4, positions, labels=Connect4Labels())
    found = yardstick.judge(ByScore(scores), ByScore(scores, worst=True))
    prefix = "connect4.Test_L9_R9"
    assert found[f"{prefix}.keeps_value"] == found[f"{prefix}.keeps_score"] == 1.0
    lost = sum(p.result < 0 for p in positions.positions) / len(positions.positions)
    assert 0 < lost < 1
    assert found[f"{prefix}.policy_keeps_value"] == pytest.approx(lost)  # lost whatever is played


def test_what_was_solved_is_kept_and_not_solved_again(tmp_path: Path) -> None:
    positions = read_positions(position_file(tmp_path), CONNECT4)
    cache = tmp_path / "kept" / "results.txt"
    runs = []
    for _ in range(2):
        labels = Connect4Labels(cache, threads=2)
        yardstick = PositionYardstick(CONNECT4, positions, 20, labels=labels, exact=False)
        runs.append((yardstick.run(UniformEvaluator()), labels.solved))
        with cache.open("a") as file:
            file.write("......./torn li")  # as a killed process leaves it
    assert runs[0][0] == runs[1][0]
    assert runs[0][1] > 5
    assert runs[1][1] == 0


def test_kept_results_serve_mirror_images_and_agree_with_the_solver(tmp_path: Path) -> None:
    cache = tmp_path / "results.txt"
    solver = _core.Connect4Solver(table_mib=8)
    states = [p.state for p in late(30, ply=20).positions]
    results = Connect4Labels(cache).results(states)
    assert results == [solver.solve_weak(state) for state in states]
    images = [CONNECT4.transform(state, 1) for state in states]
    labels = Connect4Labels(cache)
    assert labels.results(images) == results
    assert labels.solved == 0
    labels.scores(states[0])
    again = Connect4Labels(cache)
    mirrored = {6 - column: score for column, score in again.scores(states[0]).items()}
    assert again.scores(images[0]) == mirrored
    assert again.solved == 0


def test_a_set_of_another_game_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="about connect4, not tictactoe"):
        read_positions(position_file(tmp_path), TICTACTOE)


def test_othello_positions_use_the_scores_of_their_file(tmp_path: Path) -> None:
    board = "---------------------------OX------XO---------------------------"
    game = native("othello")
    moves = [game.action_text(game.initial(), a) for a in game.legal_actions(game.initial())]
    scored = ";".join(
        f"{move}:{score:+d}" for move, score in zip(moves, (4, 0, -2, 2), strict=True)
    )
    path = tmp_path / "small.obf"
    path.write_text(f"{board} X;{scored};\n")
    positions = read_positions(path, game)
    (position,) = positions.positions
    assert sorted(position.scores.values()) == [-2, 0, 2, 4]
    yardstick = PositionYardstick(game, positions)
    kept = {score: yardstick.keeps_value(position, a) for a, score in position.scores.items()}
    assert kept == {4: True, 2: True, 0: False, -2: False}


def test_the_published_scores_are_those_of_our_solver() -> None:
    solver = _core.Connect4Solver(table_mib=8)
    for name in ("Test_L3_R1", "Test_L2_R1"):
        path = outside_data(f"connect4/{name}")
        for position in read_positions(path, CONNECT4, 50).positions:
            assert solver.solve(position.state) == position.score


def test_known_positions_without_scores_can_all_be_mistaken() -> None:
    state = CONNECT4.parse_position("44")
    assert KnownPosition(state, 1).can_err
    assert not KnownPosition(state, -2, {0: -2, 1: -5}).can_err
    assert KnownPosition(state, 0, {0: 0, 1: -5}).can_err


def test_search_options_reach_the_search() -> None:
    """With the solver a mate is proven and its value exact; without it the value is an average."""
    state = TICTACTOE.parse_position("XX./OO./...")
    for solver, exact in ((True, True), (False, False)):
        options = SearchOptions(solver=solver)
        chooser = SearchChooser(TICTACTOE, UniformEvaluator(), 30, options)
        assert (chooser.choose([state])[0].value == 1.0) is exact
