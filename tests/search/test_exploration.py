"""S26, S27 and S28: first play by the prior, the root's own constants, exploration by impurity."""

import math
import random
from typing import Any

import numpy as np
import pytest
from native_games import native
from small_trees import TableEvaluator, TreeGame, first_play, puct_scores, random_position, stepped

from zermelo.search import Search, SearchOptions
from zermelo.testing import HashEvaluator

PRIOR_ERROR = 3e-3  # priors are kept with 8 bits or more of mantissa


def check_root_choices(options: SearchOptions, scores: Any, full: bool = False) -> None:
    """Every choice at the root has the best of `scores(result, options)`."""
    for name in ("connect4", "chess"):
        game = native(name)
        for seed in range(3):
            state = random_position(game, random.Random(seed), 40)
            search = Search(game, HashEvaluator(seed), options)
            if full:
                search.run(state, simulations=1, full=True)
            for before, index in stepped(search, state, 60):
                expected = scores(before, options)
                assert expected[index] == pytest.approx(expected.max(), abs=1e-9), (name, seed)


def quiet(**options: Any) -> SearchOptions:
    return SearchOptions(**{"solver": False, "cache_mib": 0, **options})


@pytest.mark.technique("S27")
@pytest.mark.parametrize(
    "chosen",
    [
        {"c_puct_root": 4.0},
        {"c_puct": 4.0, "c_puct_root": 0.4},
        {"c_puct_factor": 3.0, "c_puct_base": 10.0, "c_puct_factor_root": 0.0},
        {"c_puct_factor_root": 3.0, "c_puct_base": 10.0},
    ],
    ids=str,
)
def test_the_root_explores_by_its_own_constant(chosen: dict[str, float]) -> None:
    check_root_choices(quiet(**chosen), puct_scores)


@pytest.mark.technique("S27")
def test_only_the_root_has_its_own_policy_temperature() -> None:
    policy = np.array([0.6, 0.3, 0.1])
    game = TreeGame([[2, 2, 2], 3, 3])
    evaluator = TableEvaluator(game, policies={(): policy.tolist(), (0,): policy.tolist()})
    for own, at_root in ((1.0, 2.0), (2.0, 0.5), (0.5, 0.5), (1.5, 0.0)):
        options = quiet(policy_temperature=own, policy_temperature_root=at_root)
        search = Search(game, evaluator, options)
        result = search.run((), simulations=20)
        place = search.look((0,))
        assert place is not None
        below = [child.prior for child in place.children]
        for priors, temperature in ((result.prior, at_root or own), (below, own)):
            expected = policy ** (1 / temperature)
            expected /= expected.sum()
            assert np.asarray(priors) == pytest.approx(expected, rel=2 * PRIOR_ERROR)


@pytest.mark.technique("S27")
def test_noise_is_mixed_into_the_tempered_priors_of_a_reused_root_once() -> None:
    game = native("connect4")
    options = SearchOptions(policy_temperature_root=3.0, dirichlet_epsilon=0.0, cache_mib=0)
    search = Search(game, HashEvaluator(1), options)
    first = search.run(game.initial(), simulations=30, full=True)
    again = search.run(game.initial(), simulations=30, full=True)
    assert list(first.prior) == list(again.prior)


@pytest.mark.technique("S26")
@pytest.mark.parametrize("slope", [0.0, 0.15, 0.9])
def test_an_untried_action_is_worth_what_its_prior_adds_to_its_parent(slope: float) -> None:
    options = quiet(fpu="imputed", fpu_slope=slope, c_puct=0.7)
    check_root_choices(options, puct_scores)


@pytest.mark.technique("S26")
def test_imputed_values_stand_on_both_sides_of_the_parents() -> None:
    game = native("chess")
    options = quiet(fpu="imputed")
    result = Search(game, HashEvaluator(5), options).run(game.initial(), simulations=5)
    values = np.asarray(first_play(result, options))
    assert values.min() < result.value < values.max()
    assert (np.diff(values) <= 0).all()  # best prior first


def impurity_scores(result: Any, options: SearchOptions) -> np.ndarray:
    impurity = 1.0 - float((result.prior**2).sum())
    grown = float(options.impurity_base) - float(options.impurity_slope) * math.log(
        impurity + 0.001
    )
    plain = puct_scores(result, options)
    q = np.where(result.visits > 0, result.q, first_play(result, options))
    return np.asarray(q + (plain - q) * min(float(options.impurity_most), grown))


@pytest.mark.technique("S28")
@pytest.mark.parametrize(
    "chosen",
    [
        {"impurity_slope": 1.57},
        {"impurity_slope": 3.0, "impurity_base": 2.0, "impurity_most": 1.1},
        {"impurity_slope": 0.7, "impurity_base": 0.1, "policy_temperature": 0.2},
    ],
    ids=str,
)
def test_exploration_grows_where_the_prior_is_sure_of_itself(chosen: dict[str, float]) -> None:
    check_root_choices(quiet(**chosen), impurity_scores)


@pytest.mark.technique("S28")
def test_full_searches_of_self_play_leave_impurity_out() -> None:
    game = native("connect4")
    visits = {}
    for slope in (0.0, 3.0):
        for full in (True, False):
            options = quiet(impurity_slope=slope, dirichlet_epsilon=0.0, policy_temperature=0.5)
            search = Search(game, HashEvaluator(2), options)
            result = search.run(game.initial(), simulations=150, full=full)
            visits[slope, full] = list(result.visits)
    assert visits[0.0, True] == visits[3.0, True]
    assert visits[0.0, False] != visits[3.0, False]
