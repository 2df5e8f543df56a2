"""S5 to S8 and S21: keeping a tree, noise at its root, older evidence, same seed same visits."""

import random
from typing import Any

import numpy as np
import pytest
from small_trees import random_position

import zermelo
from zermelo import _core
from zermelo.search import Search, SearchOptions, UniformEvaluator
from zermelo.testing import HashEvaluator

CONNECT4 = zermelo.game("connect4")


def search_of(game: Any = CONNECT4, network: int = 0, **options: Any) -> Search:
    return Search(game, HashEvaluator(network), SearchOptions(**{"cache_mib": 0, **options}))


def by_action(result: Any, column: str) -> dict[int, float]:
    return dict(zip(result.actions.tolist(), getattr(result, column).tolist(), strict=True))


def grandchildren(search: Search, action_text: str) -> dict[str, tuple[int, float]]:
    """Visits and Q (for the chooser) of the replies to a root action."""
    nodes = search.tree(max_depth=2).nodes
    parent = next(n["id"] for n in nodes if n["depth"] == 1 and n["action"] == action_text)
    return {n["action"]: (n["visits"], n["q"]) for n in nodes if n["parent"] == parent}


@pytest.mark.technique("S5")
def test_the_played_child_becomes_the_root_with_its_statistics() -> None:
    search = search_of(solver=False)
    state = CONNECT4.initial()
    for _ in range(6):
        result = search.run(state, simulations=400)
        replies = grandchildren(search, result.best.text)
        nodes, visits, q = search.nodes_in_use, result.best.visits, result.best.q
        assert search.advance(result.best_action)
        state = CONNECT4.play(state, result.best_action)
        assert search.nodes_in_use < nodes
        search.check_invariants()
        kept = search.run(state, simulations=0)
        assert kept.root_visits == visits
        assert kept.value == pytest.approx(-q)  # now for the other player
        rows = {row.text: (row.visits, row.q) for row in kept.rows() if row.visits}
        assert rows == replies


@pytest.mark.technique("S5")
def test_without_tree_reuse_every_search_begins_anew() -> None:
    search = search_of(tree_reuse=False)
    result = search.run(CONNECT4.initial(), simulations=100)
    search.advance(result.best_action)
    state = CONNECT4.play(CONNECT4.initial(), result.best_action)
    assert search.run(state, simulations=50).root_visits == 51
    assert search.run(state, simulations=50).root_visits == 51


def test_another_position_begins_a_fresh_tree() -> None:
    search = search_of()
    search.run(CONNECT4.initial(), simulations=100)
    other = CONNECT4.play(CONNECT4.initial(), 0)
    assert search.run(other, simulations=30).root_visits == 31
    search.check_invariants()


def test_an_action_never_searched_can_be_advanced_to() -> None:
    search = search_of(zermelo.game("chess"))
    chess = search.game
    result = search.run(chess.initial(), simulations=3)
    unvisited = int(result.actions[result.visits == 0][0])
    assert not search.advance(unvisited)
    assert search.nodes_in_use == 1
    state = chess.play(chess.initial(), unvisited)
    assert search.run(state, simulations=10).root_visits == 11
    search.check_invariants()


@pytest.mark.technique("S5")
@pytest.mark.parametrize("threads", [1, 2])
def test_memory_returns_to_the_pool(threads: int) -> None:
    search = search_of(threads=threads, max_nodes=20_000)
    reserved = []
    for game_number in range(40):
        state = CONNECT4.initial()
        for _ in range(5):
            result = search.run(state, simulations=300)
            assert result.stop == ""
            state = CONNECT4.play(state, result.best_action)
            search.advance(result.best_action)
        search.clear()
        assert search.nodes_in_use == 0
        assert search.bytes_in_use == 0
        if game_number >= 10:
            reserved.append(search.bytes_reserved)
    # Arenas grow in steps; with several threads the shares are not the same every time.
    assert reserved[-1] == reserved[0] or (threads > 1 and reserved[-1] <= 1.5 * reserved[0])


def test_clear_leaves_a_search_like_a_fresh_one() -> None:
    search, fresh = search_of(), search_of()
    first = search.run(CONNECT4.initial(), simulations=500)
    search.clear()
    second = search.run(CONNECT4.initial(), simulations=500)
    fresh.run(CONNECT4.initial(), simulations=500)
    assert list(first.visits) == list(second.visits)
    assert search.bytes_in_use == fresh.bytes_in_use
    assert search.nodes_in_use == fresh.nodes_in_use


@pytest.mark.technique("S7")
@pytest.mark.parametrize(("epsilon", "alpha"), [(0.25, 0.3), (0.6, 1.0), (1.0, 0.0)])
def test_noise_is_mixed_into_the_network_priors_exactly(epsilon: float, alpha: float) -> None:
    game = zermelo.game("othello")
    options: dict[str, Any] = {"dirichlet_epsilon": epsilon, "dirichlet_alpha": alpha, "seed": 17}
    search = search_of(game, **options)
    network = search.run(game.initial(), simulations=0).prior
    noisy = search_of(game, **options).run(game.initial(), simulations=0, full=True).prior
    concentration = alpha or 10 / len(network)  # 0 means: by the number of legal actions
    noise = _core.Random(17).dirichlet(concentration, len(network))
    assert noisy == pytest.approx((1 - epsilon) * network + epsilon * np.array(noise), abs=1e-15)
    assert noisy.sum() == pytest.approx(1.0, abs=3e-3)


@pytest.mark.technique("S7")
def test_only_full_searches_are_noisy() -> None:
    search = search_of()
    quiet = search.run(CONNECT4.initial(), simulations=50)
    noisy = search_of().run(CONNECT4.initial(), simulations=50, full=True)
    assert not np.allclose(quiet.prior, noisy.prior)
    assert by_action(quiet, "visits") != by_action(noisy, "visits")
    off = search_of(dirichlet_epsilon=0.0, min_root_visits=0)
    full = off.run(CONNECT4.initial(), simulations=50, full=True)
    assert list(full.visits) == list(quiet.visits)


@pytest.mark.technique("S6")
@pytest.mark.parametrize("renoise", [True, False])
def test_a_reused_root_gets_fresh_noise_on_network_priors(renoise: bool) -> None:
    search = search_of(network=3, renoise=renoise, keep_fraction=1.0)
    result = search.run(CONNECT4.initial(), simulations=200, full=True)
    search.advance(result.best_action)
    state = CONNECT4.play(CONNECT4.initial(), result.best_action)
    network = search_of(network=3).run(state, simulations=0).prior
    reused = search.run(state, simulations=0, full=True)
    rng = _core.Random(0)
    rng.dirichlet(0.3, 7)  # the first root's
    noise = np.array(rng.dirichlet(0.3, 7))
    expected = 0.75 * network + 0.25 * noise if renoise else network
    assert reused.prior == pytest.approx(expected, abs=1e-15)


@pytest.mark.technique("S6")
def test_every_action_of_a_reused_root_gets_its_minimum_visits_first() -> None:
    search = search_of(zermelo.game("chess"), min_root_visits=2, keep_fraction=0.6)
    chess = search.game
    result = search.run(chess.initial(), simulations=300, full=True)
    assert result.visits.min() >= 2
    search.advance(result.best_action)
    state = chess.play(chess.initial(), result.best_action)
    before = search.run(state, simulations=0, full=True).visits
    owed = int(np.maximum(0, 2 - before).sum())
    assert owed > 0
    search.clear()
    assert search.run(state, simulations=2 * 20, full=True).visits.min() == 2


@pytest.mark.technique("S8")
@pytest.mark.parametrize("keep", [0.0, 0.3, 0.6, 0.9])
@pytest.mark.parametrize("name", ["connect4", "othello?size=6", "chess"])
def test_discounting_scales_visits_and_leaves_q(name: str, keep: float) -> None:
    game = zermelo.game(name)
    for seed in range(6):
        state = random_position(game, random.Random(seed), most=30)
        options = {"dirichlet_epsilon": 0.0, "min_root_visits": 0, "solver": seed % 2 == 0}
        search = search_of(game, seed, keep_fraction=keep, **options)
        before = search.run(state, simulations=500)
        replies = grandchildren(search, before.best.text)
        after = search.run(state, simulations=0, full=True)
        search.check_invariants()
        if before.proven:
            continue
        assert int(after.visits.sum()) == int(keep * before.visits.sum())
        assert np.abs(after.visits - keep * before.visits).max() <= 1
        kept = after.visits > 0
        assert after.q[kept] == pytest.approx(before.q[kept], abs=1e-12)
        if keep >= 0.6 and after.best.text == before.best.text:
            for text, (visits, q) in grandchildren(search, after.best.text).items():
                assert abs(visits - keep * replies[text][0]) <= 2
                assert q == pytest.approx(replies[text][1], abs=1e-9)


@pytest.mark.technique("S8")
def test_only_a_full_search_of_a_reused_tree_is_discounted() -> None:
    search = search_of(keep_fraction=0.5)
    search.run(CONNECT4.initial(), simulations=200, full=True)
    assert search.run(CONNECT4.initial(), simulations=0).root_visits == 201
    assert search.run(CONNECT4.initial(), simulations=0, full=True).root_visits == 101
    fresh = search_of(keep_fraction=0.5).run(CONNECT4.initial(), simulations=200, full=True)
    assert fresh.root_visits == 201


@pytest.mark.parametrize("name", ["tictactoe", "connect4", "othello?size=6", "checkers", "chess"])
def test_self_play_with_discounting_keeps_the_books(name: str) -> None:
    game = zermelo.game(name)
    for seed in range(3):
        state = game.initial()
        search = search_of(game, seed, leaves_per_tree=1 + seed)
        for _ in range(30):
            if game.outcome(state) is not None:
                break
            result = search.run(state, simulations=120, full=True)
            search.check_invariants()
            state = game.play(state, result.best_action)
            search.advance(result.best_action)
            search.check_invariants()


@pytest.mark.technique("S21")
def test_the_same_seed_gives_the_same_visits() -> None:
    game = zermelo.game("chess")
    results = []
    for _ in range(20):
        search = search_of(game, network=9, leaves_per_tree=3)
        first = search.run(game.initial(), simulations=150, full=True)
        search.advance(first.best_action)
        state = game.play(game.initial(), first.best_action)
        second = search.run(state, simulations=150, full=True)
        results.append((first.visits.tolist(), first.q.tolist(), second.visits.tolist()))
    assert all(result == results[0] for result in results)
    other = Search(game, HashEvaluator(9), SearchOptions(cache_mib=0, seed=1, leaves_per_tree=3))
    assert other.run(game.initial(), 150, full=True).visits.tolist() != results[0][0]


@pytest.mark.technique("S21")
def test_the_cache_does_not_change_the_visits() -> None:
    with_cache = Search(
        CONNECT4, HashEvaluator(2), SearchOptions(cache_mib=1, cache_symmetry=False)
    )
    runs = []
    for _ in range(3):  # the second and third time every evaluation is a hit
        runs.append(with_cache.run(CONNECT4.initial(), simulations=300).visits.tolist())
        with_cache.clear()
    runs.append(search_of(network=2).run(CONNECT4.initial(), simulations=300).visits.tolist())
    assert all(visits == runs[0] for visits in runs)


def test_uniform_and_rollout_evaluators_are_repeatable() -> None:
    for evaluator in (UniformEvaluator(), _core.RolloutEvaluator(rollouts=2, seed=5)):
        runs = [
            Search(CONNECT4, evaluator, SearchOptions(cache_mib=0))
            .run(CONNECT4.initial(), simulations=200)
            .visits.tolist()
            for _ in range(3)
        ]
        assert runs[0] == runs[1] == runs[2]
