"""S9, S15, S16 and S20: forced visits and their pruning, the Gumbel root, what is played."""

import math
import resource
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from native_games import native
from small_trees import TableEvaluator, TreeGame, puct_scores

from zermelo.search import Search, SearchOptions, UniformEvaluator
from zermelo.testing import HashEvaluator

CONNECT4 = native("connect4")
OTHELLO = native("othello")


def search_of(game: Any = CONNECT4, network: int = 0, **options: Any) -> Search:
    chosen = {"cache_mib": 0, "dirichlet_epsilon": 0.0, "solver": False, **options}
    return Search(game, HashEvaluator(network), SearchOptions(**chosen))


@pytest.mark.technique("S9")
def test_minimum_root_visits_come_first_and_in_order() -> None:
    search = search_of(min_root_visits=3)
    for done in range(22):
        search.clear()
        visits = search.run(CONNECT4.initial(), simulations=done, full=True).visits
        assert list(visits) == [min(3, max(0, done - 3 * i)) for i in range(7)]


@pytest.mark.technique("S9")
def test_forced_visits_leave_the_policy_target() -> None:
    forced = search_of(min_root_visits=5).run(CONNECT4.initial(), simulations=55, full=True)
    assert forced.visits.min() >= 5
    assert forced.target == pytest.approx((forced.visits - 5) / 20)
    none = search_of(min_root_visits=0).run(CONNECT4.initial(), simulations=55, full=True)
    assert none.visits.min() < 5
    assert none.target == pytest.approx(none.visits / 55)


@pytest.mark.technique("S9")
def test_play_does_not_force_visits() -> None:
    result = search_of(min_root_visits=5).run(CONNECT4.initial(), simulations=55)
    plain = search_of(min_root_visits=0).run(CONNECT4.initial(), simulations=55)
    assert list(result.visits) == list(plain.visits)
    assert result.target == pytest.approx(result.visits / 55)


def test_a_target_of_forced_visits_alone_is_still_a_policy() -> None:
    result = search_of(min_root_visits=5).run(CONNECT4.initial(), simulations=20, full=True)
    assert result.target.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("k", [0.5, 2.0, 8.0])
def test_forced_playouts_give_every_action_its_share(k: float) -> None:
    options = {"forced_playouts": k, "min_root_visits": 1}
    result = search_of(OTHELLO, 4, **options).run(OTHELLO.initial(), simulations=400, full=True)
    owed = np.sqrt(k * result.prior * result.visits.sum())
    assert (result.visits >= np.floor(owed) - 1).all()
    plain = search_of(OTHELLO, 4).run(OTHELLO.initial(), simulations=400, full=True)
    assert result.visits.min() >= plain.visits.min()
    fast = search_of(OTHELLO, 4, **options).run(OTHELLO.initial(), simulations=400)
    unforced = search_of(OTHELLO, 4).run(OTHELLO.initial(), simulations=400)
    assert list(fast.visits) == list(unforced.visits)  # full searches only


@pytest.mark.technique("S15")
def test_forced_playouts_are_more_with_a_larger_k() -> None:
    least = []
    for k in (0.0, 2.0, 20.0):
        options = {"forced_playouts": k, "c_puct": 0.3}
        result = search_of(CONNECT4, 1, **options).run(CONNECT4.initial(), 400, full=True)
        least.append(int(result.visits.min()))
    assert least[0] < least[1] < least[2]


@pytest.mark.technique("S15")
def test_the_target_subtracts_forced_visits_that_did_not_improve_the_choice() -> None:
    k = 4.0
    for network in range(5):
        search = search_of(CONNECT4, network, forced_playouts=k, min_root_visits=1, c_puct=0.8)
        result = search.run(CONNECT4.initial(), simulations=600, full=True)
        best = int(np.argmax(result.visits))
        assert result.actions[best] == result.best_action
        shares = result.target / result.target[best] * (result.visits[best] - 1)
        options = search.options
        scale = float(options.c_puct) * math.sqrt(result.visits.sum())
        limit = puct_scores(result, options)[best]
        for i in range(len(shares)):
            if i == best:
                continue
            n, owed = float(result.visits[i]), math.sqrt(k * result.prior[i] * result.visits.sum())
            kept = shares[i]
            assert n - owed - 1 - 1e-6 <= kept <= n or kept == 0
            assert kept != pytest.approx(1.0)  # a single visit left is none
            score = result.q[i] + scale * result.prior[i] / (1 + kept)
            # With one visit fewer it would have been chosen before the best action.
            assert score <= limit + 1e-9 or kept >= n - owed - 1e-6 or kept <= 1
        assert result.target.sum() == pytest.approx(1.0)
        assert result.target[best] > result.visits[best] / result.visits.sum()


def halving(actions: int, simulations: int) -> list[int]:
    """Visits by rank after sequential halving, written once more."""
    visits, alive, left = [0] * actions, actions, simulations
    phases = max(1, math.ceil(math.log2(actions)))
    while left:
        for _ in range(max(1, simulations // (phases * alive))):
            for i in range(alive):
                if left:
                    visits[i] += 1
                    left -= 1
        alive = max(2, alive // 2)
    return sorted(visits, reverse=True)


@pytest.mark.technique("S16")
@pytest.mark.parametrize(
    ("considered", "simulations"), [(4, 16), (7, 16), (2, 16), (16, 16), (4, 64), (7, 8), (4, 2)]
)
def test_the_gumbel_root_halves_its_actions(considered: int, simulations: int) -> None:
    game = TreeGame([3] * 16)
    evaluator = TableEvaluator(game, lambda path: math.sin(sum(path) + 3.0 * len(path)) / 2)
    options = SearchOptions(gumbel=True, gumbel_actions=considered, cache_mib=0, solver=False)
    result = Search(game, evaluator, options).run((), simulations=simulations)
    expected = halving(considered, simulations) + [0] * (16 - considered)
    assert sorted(result.visits, reverse=True) == expected
    assert result.visits[list(result.actions).index(result.best_action)] == result.visits.max()


@pytest.mark.technique("S16")
def test_two_threads_spend_the_whole_budget_at_a_gumbel_root() -> None:
    options = SearchOptions(gumbel=True, threads=2, solver=False)
    for _ in range(30):
        result = Search(OTHELLO, HashEvaluator(0), options).run(OTHELLO.initial(), simulations=700)
        assert result.root_visits == 701


@pytest.mark.technique("S16")
def test_the_gumbel_target_is_the_improved_policy() -> None:
    options = {"gumbel": True, "gumbel_visit": 10.0, "gumbel_scale": 0.3}
    result = search_of(CONNECT4, 6, **options).run(CONNECT4.initial(), simulations=32)
    visited = np.flatnonzero(result.visits)
    assert len(visited) >= 2
    sigma = (10.0 + result.visits.max()) * 0.3
    logits = np.log(result.prior) + sigma * result.q
    expected = np.exp(logits[visited] - logits[visited[0]])
    assert result.target[visited] / result.target[visited[0]] == pytest.approx(expected)
    assert result.target.sum() == pytest.approx(1.0)


@pytest.mark.technique("S16")
def test_actions_never_visited_get_the_mixed_value_in_the_gumbel_target() -> None:
    game = TreeGame([3] * 8)
    evaluator = TableEvaluator(game, {(): 0.3, **{(a,): -0.1 * a for a in range(8)}})
    chosen = {"gumbel": True, "gumbel_actions": 4, "gumbel_visit": 5.0, "gumbel_scale": 0.5}
    options = SearchOptions(**chosen, cache_mib=0, solver=False, turn_discount=1.0)
    result = Search(game, evaluator, options).run((), simulations=4)
    visited = result.visits > 0
    assert int(visited.sum()) == 4
    q = result.q[visited]
    mixed = (0.3 + 4 * q.mean()) / (1 + 4)  # the network's value of the root, and equal priors
    completed = np.where(visited, result.q, mixed)
    logits = (5.0 + result.visits.max()) * 0.5 * completed
    expected = np.exp(logits) / np.exp(logits).sum()
    assert result.target == pytest.approx(expected, rel=1e-5)
    assert result.value == pytest.approx(expected @ completed, rel=1e-5)


def test_what_halving_spends_on_worse_actions_does_not_lower_the_gumbel_roots_value() -> None:
    game = TreeGame([3] * 8)

    def values(path: tuple[int, ...]) -> float:  # one action wins, seven lose
        good = 0.9 if path[:1] == (5,) else -0.9
        return 0.0 if not path else good if len(path) % 2 == 0 else -good

    options = SearchOptions(gumbel=True, cache_mib=0, solver=False, turn_discount=1.0)
    result = Search(game, TableEvaluator(game, values), options).run((), simulations=24)
    mean = float(result.visits @ result.q) / result.root_visits
    assert mean < 0.3
    assert result.value == pytest.approx(0.9, abs=1e-3)


@pytest.mark.technique("S16")
def test_gumbel_finds_a_good_action_that_the_prior_hides_with_few_simulations() -> None:
    game = TreeGame([3] * 10)
    priors = [0.11] * 9 + [0.01]

    def values(path: tuple[int, ...]) -> float:
        good = 0.8 if path[:1] == (9,) else -0.1
        return good if len(path) % 2 == 0 else -good

    played = {}
    for gumbel in (True, False):
        options = SearchOptions(gumbel=gumbel, cache_mib=0, solver=False)
        search = Search(game, TableEvaluator(game, values, {(): priors}), options)
        played[gumbel] = search.run((), simulations=20).best_action
    assert played[True] == 9
    assert played[False] != 9


def test_gumbel_samples_differ_by_seed_in_full_searches_only() -> None:
    def considered(seed: int, full: bool) -> tuple[int, ...]:
        search = search_of(OTHELLO, 0, gumbel=True, gumbel_actions=2, seed=seed)
        result = search.run(OTHELLO.initial(), simulations=2, full=full)
        return tuple(result.actions[result.visits > 0])

    assert len({considered(seed, True) for seed in range(12)}) > 1
    assert len({considered(seed, False) for seed in range(12)}) == 1


@pytest.mark.timeout(60)
def test_gumbel_with_a_time_limit_alone_ends_in_time() -> None:
    before = resource.getrlimit(resource.RLIMIT_AS)
    mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (mapped + (1 << 30), before[1]))  # not all memory
    try:
        search = search_of(CONNECT4, gumbel=True)
        result = search.run(CONNECT4.initial(), seconds=0.1)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
    assert result.seconds < 1.0
    assert result.root_visits > 100


@pytest.mark.technique("S20")
def test_the_policy_is_visits_to_the_power_of_one_over_the_temperature() -> None:
    result = search_of(network=5).run(CONNECT4.initial(), simulations=200)
    for temperature in (0.25, 0.5, 1.0, 1.3, 10.0):
        powered = result.visits ** (1 / temperature)
        assert result.policy(temperature) == pytest.approx(powered / powered.sum())
    greedy = result.policy(0.0)
    assert greedy.sum() == 1.0
    assert result.actions[int(greedy.argmax())] == result.best_action
    assert result.policy(0.01).argmax() == result.visits.argmax()
    with pytest.raises(ValueError, match="negative"):
        result.policy(-1.0)


def test_without_any_visit_the_policy_is_finite() -> None:
    policy = search_of().run(CONNECT4.initial(), simulations=0).policy()
    assert np.isfinite(policy).all()
    assert policy.sum() == pytest.approx(1.0)


@pytest.mark.technique("S20")
def test_equal_visits_are_decided_for_the_first_action() -> None:
    # Equal priors and values: after 14 simulations every column has two visits.
    search = Search(CONNECT4, UniformEvaluator(), SearchOptions(cache_mib=0, solver=False))
    result = search.run(CONNECT4.initial(), simulations=14)
    assert set(result.visits) == {2}
    assert result.best_action == result.actions[0] == 0
    assert [row.action for row in result.rows()] == list(range(7))


@pytest.mark.technique("S20")
def test_rows_carry_visits_q_prior_wdl_proof_and_line() -> None:
    game = native("tictactoe")
    state = game.parse_position("XX./OO./...")
    search = Search(game, HashEvaluator(), SearchOptions(cache_mib=0))
    result = search.run(state, simulations=100)
    row = result.best
    assert (row.text, row.certain, row.wdl) == ("c3", (1, 1), (1.0, 0.0, 0.0))
    for row in result.rows():
        assert row.pv[0] == row.text
        assert sum(row.wdl) == pytest.approx(1.0)
        assert all(-1e-12 <= p <= 1 + 1e-12 for p in row.wdl)
        assert row.wdl[0] - row.wdl[2] == pytest.approx(row.q)
        position = state
        for text in row.pv:  # every line can be played
            position = game.play(position, game.parse_action(position, text))
    assert result.rows()[0].text == result.best.text


def test_allowed_restricts_what_is_searched_and_what_is_played() -> None:
    search = search_of(network=0)
    before = search.run(CONNECT4.initial(), simulations=500)
    least = int(before.actions[before.visits.argmin()])
    after = search.run(CONNECT4.initial(), simulations=50, allowed=[least])
    gained = dict(zip(after.actions.tolist(), (after.visits - before.visits).tolist(), strict=True))
    assert gained[least] == 50
    assert after.best_action == least
    assert after.rows()[0].action == least
    with pytest.raises(ValueError, match="99"):
        search.run(CONNECT4.initial(), simulations=5, allowed=[99])


def test_a_forbidden_win_is_not_played() -> None:
    game = native("tictactoe")
    state = game.parse_position("XX./OO./...")
    search = Search(game, HashEvaluator(), SearchOptions(cache_mib=0))
    assert search.run(state, simulations=100).best.text == "c3"
    other = game.parse_action(state, "a1")
    assert search.run(state, simulations=100, allowed=[other]).best_action == other


@pytest.mark.parametrize("threads", [1, 2])
def test_a_search_restricted_to_lost_actions_ends(threads: int) -> None:
    game = native("tictactoe")
    state = game.parse_position("XX./O.O/...")
    lost = game.parse_action(state, "a1")
    options = SearchOptions(cache_mib=0, threads=threads)
    search = Search(game, HashEvaluator(), options)
    result = search.run(state, simulations=100_000, seconds=5.0, allowed=[lost])
    assert result.stop == ""
    assert result.best_action == lost
