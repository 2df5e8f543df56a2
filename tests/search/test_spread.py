"""S23, S24 and S25: what the spread of values is used for, and the regularised backup."""

import math
import random
from typing import Any

import numpy as np
import pytest
from native_games import native
from small_trees import (
    LOSS,
    WIN,
    TableEvaluator,
    TreeGame,
    first_play,
    puct_scores,
    random_position,
    stepped,
)

from zermelo.search import Search, SearchOptions
from zermelo.testing import HashEvaluator


def quiet(**options: Any) -> SearchOptions:
    return SearchOptions(**{"solver": False, "cache_mib": 0, **options})


@pytest.mark.technique("S24")
@pytest.mark.parametrize(
    "chosen",
    [
        {"spread_weight": 0.85},
        {"spread_weight": 1.0, "spread_prior": 0.1, "spread_prior_visits": 9},
    ],
    ids=str,
)
def test_the_root_explores_by_the_spread_of_its_values(chosen: dict[str, float]) -> None:
    options = quiet(turn_discount=1.0, **chosen)
    weight, prior = float(options.spread_weight), float(options.spread_prior)
    believed = float(options.spread_prior_visits)
    for name in ("connect4", "chess"):
        game = native(name)
        state = random_position(game, random.Random(name), 30)
        values = [Search(game, HashEvaluator(3), options).run(state, simulations=0).value]
        for before, index in stepped(Search(game, HashEvaluator(3), options), state, 80):
            deviation = math.sqrt(
                (np.var(values) * len(values) + believed * prior**2) / (len(values) + believed)
            )
            plain = puct_scores(before, options)
            q = np.where(before.visits > 0, before.q, first_play(before, options))
            scores = q + (plain - q) * (1 + weight * (deviation / prior - 1))
            assert scores[index] == pytest.approx(scores.max(), abs=1e-9)
            # The next simulation's value: what the root's sum grows by.
            after = Search(game, HashEvaluator(3), options).run(state, simulations=len(values))
            values.append(after.value * after.root_visits - sum(values))


def choice(lines: dict[int, list[float]], priors: list[float], **chosen: Any) -> int:
    """What is played where each root action shows these values, one after the other, for us."""
    game = TreeGame([30] * len(lines))
    seen: dict[int, int] = dict.fromkeys(lines, 0)

    def value(path: tuple[int, ...]) -> float:
        if not path:
            return 0.0
        found = lines[path[0]][seen[path[0]] % len(lines[path[0]])]
        seen[path[0]] += 1
        return found if len(path) % 2 == 0 else -found

    evaluator = TableEvaluator(game, value, {(): priors})
    options = quiet(turn_discount=1.0, c_puct=2.0, **chosen)
    return Search(game, evaluator, options).run((), simulations=200).best_action


@pytest.mark.technique("S23")
def test_a_sure_good_action_is_played_before_one_that_has_more_visits() -> None:
    # Action 0 has the prior, so more visits; action 1 is better in every one of its own.
    lines = {0: [0.9, -0.7], 1: [0.2]}
    assert choice(lines, [0.8, 0.2]) == 0
    assert choice(lines, [0.8, 0.2], lcb_z=1.96) == 1


@pytest.mark.technique("S23")
def test_few_visits_prove_nothing() -> None:
    lines = {0: [0.1], 1: [0.9]}
    for chosen in ({"lcb_visit_share": 1.0}, {"lcb_min_visits": 1000}):
        assert choice(lines, [0.99, 0.01]) == choice(lines, [0.99, 0.01], lcb_z=0.1, **chosen)
    game = native("connect4")
    state = game.initial()
    for seed in range(20):
        bounded, plain = (
            Search(game, HashEvaluator(seed), quiet(lcb_z=z)).run(state, simulations=9)
            for z in (3.0, 0.0)
        )
        assert bounded.best_action == plain.best_action


@pytest.mark.technique("S23")
def test_self_play_plays_by_visits() -> None:
    game = native("chess")
    differ = 0
    for seed in range(12):
        options = quiet(lcb_z=0.5, lcb_visit_share=0.0, lcb_min_visits=1, dirichlet_epsilon=0.0)
        search = Search(game, HashEvaluator(seed), options)
        full = search.run(game.initial(), simulations=60, full=True)
        assert full.visits[list(full.actions).index(full.best_action)] == full.visits.max()
        played = Search(game, HashEvaluator(seed), options).run(game.initial(), simulations=60)
        differ += played.best_action != played.actions[played.visits.argmax()]
    assert differ > 0


@pytest.mark.technique("S23")
def test_proven_results_come_before_bounds() -> None:
    options = SearchOptions(lcb_z=1.0, lcb_min_visits=1, lcb_visit_share=0.0, cache_mib=0)
    won = TreeGame([5, WIN, 5])
    result = Search(won, TableEvaluator(won, {(0,): -0.99}), options).run((), simulations=50)
    assert result.best_action == 1
    lost = TreeGame([[LOSS, LOSS], 5])
    result = Search(lost, TableEvaluator(lost, {(1,): 0.99}), options).run((), simulations=50)
    assert result.best_action == 1


def regularised(priors: np.ndarray, q: np.ndarray, scale: float) -> float:
    """The policy's value by bisection."""
    low, high = float((q + scale * priors).max()), float(q.max() + scale)
    for _ in range(200):
        alpha = (low + high) / 2
        if (scale * priors / (alpha - q)).sum() > 1:
            low = alpha
        else:
            high = alpha
    policy = scale * priors / (high - q)
    return float((policy * q).sum() / policy.sum())


@pytest.mark.technique("S25")
@pytest.mark.parametrize("shrinkage", [0.0, 3.0])
def test_the_roots_value_is_that_of_the_regularised_policy(shrinkage: float) -> None:
    for name in ("connect4", "othello", "chess"):
        game = native(name)
        for seed in range(4):
            options = quiet(backup="regularised", backup_shrinkage=shrinkage, turn_discount=0.98)
            state = random_position(game, random.Random(seed), 30)
            search = Search(game, HashEvaluator(seed), options)
            own = search.run(state, simulations=0).value
            before = search.run(state, simulations=70)
            result = search.run(state, simulations=1)
            if len(result.actions) < 2:
                continue
            logs = np.log(result.prior)
            imputed = np.clip(before.value + 0.15 * (logs - (result.prior * logs).sum()), -1.0, 1.0)
            made = result.visits.astype(float)
            weight = np.where(made > 0, made + shrinkage, 1.0)
            q = np.where(made > 0, (0.98 * made * result.q + shrinkage * imputed) / weight, imputed)
            visits = result.root_visits
            scale = 1.5 * math.sqrt(visits) / (visits + 1)
            expected = ((visits - 1) * regularised(result.prior, q, scale) + own) / visits
            assert result.value == pytest.approx(expected, abs=1e-6), (name, seed)
