"""S18 and S19: many boards in one batch, and many threads on one board."""

import random
import threading
import time
from typing import Any

import numpy as np
import pytest
from native_games import native
from small_trees import CountingEvaluator, random_position

from zermelo.search import Search, SearchOptions, SearchResult, UniformEvaluator
from zermelo.testing import HashEvaluator

GAMES = ["tictactoe", "connect4", "othello", "hex?size=5", "checkers", "chess"]


def plain(**options: Any) -> SearchOptions:
    return SearchOptions(**{"cache_mib": 0, **options})


@pytest.mark.technique("S18")
@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("full", [False, True])
def test_a_board_among_many_is_searched_as_if_alone(name: str, full: bool) -> None:
    game, rng = native(name), random.Random(name)
    states = [random_position(game, rng) for _ in range(12)]
    # Each board has noise of its own; without noise a full search is the same alone.
    options = plain(batch=5, dirichlet_epsilon=0.0)
    together = Search(game, HashEvaluator(), options).run_many(states, simulations=60, full=full)
    for state, result in zip(states, together, strict=True):
        alone = Search(game, HashEvaluator(), options).run(state, simulations=60, full=full)
        assert list(result.visits) == list(alone.visits)
        assert result.q == pytest.approx(alone.q, abs=0)
        assert result.proven == alone.proven
        assert result.best_action == alone.best_action


@pytest.mark.technique("S18")
def test_leaves_of_all_boards_share_a_batch() -> None:
    game, rng = native("othello"), random.Random(1)
    states = [random_position(game, rng, most=20) for _ in range(10)]
    evaluator = CountingEvaluator(game.num_actions)
    search = Search(game, evaluator, plain(batch=32, leaves_per_tree=4))
    results = search.run_many(states, simulations=40)
    assert max(evaluator.batches) == 32
    assert all(int(result.visits.sum()) == 40 for result in results)
    evaluator.batches.clear()
    search.run_many(states[:3], simulations=40)
    assert max(evaluator.batches) == 12


def test_boards_have_different_noise_that_does_not_depend_on_threads() -> None:
    game = native("connect4")
    states = [game.initial()] * 6
    runs = []
    for threads in (1, 2):
        search = Search(game, HashEvaluator(), plain(threads=threads, seed=4))
        results = search.run_many(states, simulations=50, full=True)
        runs.append([result.visits.tolist() for result in results])
        assert len({tuple(result.prior) for result in results}) == 6
    assert runs[0] == runs[1]


def test_no_boards_give_no_results() -> None:
    assert Search("connect4", UniformEvaluator(), plain()).run_many([], simulations=5) == []


@pytest.mark.technique("S19")
@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("threads", [2, 4])
def test_threads_use_the_whole_budget_and_leave_the_tree_in_order(name: str, threads: int) -> None:
    game, rng = native(name), random.Random(name)
    for seed in range(3):
        state = random_position(game, rng, most=30)
        options = plain(threads=threads, leaves_per_tree=1 + seed, cache_mib=seed)
        search = Search(game, HashEvaluator(seed), options)
        result = search.run(state, simulations=2000)
        search.check_invariants()
        if result.proven is None:
            assert result.root_visits == 2001
            chain = len(result.actions) == 1  # its root was evaluated behind the action (S12)
            assert int(result.visits.sum()) == 2000 + chain
        again = search.run(state, simulations=300)
        search.check_invariants()
        if again.proven is None:
            assert again.root_visits == 2301


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_threads_find_the_same_easy_move(threads: int) -> None:
    chess = native("chess")
    state = chess.parse_position("6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1")
    search = Search(chess, UniformEvaluator(), plain(threads=threads))
    result = search.run(state, simulations=5000)
    assert (result.best.text, result.mate) == ("d1d8", 1)
    assert result.root_visits < 500  # the proof ends it
    connect4 = native("connect4")
    state = connect4.parse_position("......./......./......./......./OOO..../XXX....")
    search = Search(connect4, HashEvaluator(), plain(threads=threads, solver=False))
    assert search.run(state, simulations=4000).best_action == 3


@pytest.mark.technique("S19")
def test_threads_work_with_a_python_evaluator_in_mini_batches() -> None:
    game = native("othello")
    evaluator = CountingEvaluator(game.num_actions, value=0.1)
    search = Search(game, evaluator, plain(threads=3, leaves_per_tree=8))
    result = search.run(game.initial(), simulations=600)
    search.check_invariants()
    assert result.root_visits == 601
    assert evaluator.positions == result.counters["evaluations"]
    assert np.mean(evaluator.batches[5:]) > 4


@pytest.mark.technique("S19")
def test_every_thread_evaluates_leaves_of_the_one_tree() -> None:
    game = native("othello")
    evaluator = CountingEvaluator(game.num_actions)
    seen: set[int] = set()

    def slow(observations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        seen.add(threading.get_ident())
        time.sleep(0.002)  # the others get their turn
        return evaluator(observations)

    search = Search(game, slow, plain(threads=3))
    assert search.run(game.initial(), simulations=90).root_visits == 91
    assert len(seen) == 3


@pytest.mark.technique("S19")
def test_virtual_loss_keeps_threads_apart() -> None:
    game = native("chess")
    rates = {}
    for virtual_loss in (0, 1):
        options = plain(threads=4, virtual_loss=virtual_loss, leaves_per_tree=8)
        search = Search(game, CountingEvaluator(game.num_actions), options)
        result = search.run(game.initial(), simulations=400)
        search.check_invariants()
        rates[virtual_loss] = result.counters["collisions"] / result.counters["simulations"]
    assert rates[1] < rates[0]


def test_stop_ends_a_search_from_another_thread() -> None:
    game = native("chess")
    for threads in (1, 2):
        search = Search(game, UniformEvaluator(), plain(threads=threads))
        timer = threading.Timer(0.15, search.stop)
        timer.start()
        start = time.perf_counter()
        result = search.run(game.initial(), seconds=30)
        assert time.perf_counter() - start < 2.0
        timer.join()
        assert result.stop == "stopped"
        assert result.root_visits > 100
        search.check_invariants()
        assert search.run(game.initial(), simulations=10).stop == ""


@pytest.mark.parametrize("threads", [1, 2])
def test_a_time_limit_ends_the_search(threads: int) -> None:
    game = native("chess")
    search = Search(game, UniformEvaluator(), plain(threads=threads))
    result = search.run(game.initial(), seconds=0.2)
    assert result.stop == "time"
    assert 0.15 < result.seconds < 0.5
    with pytest.raises(ValueError, match="needs simulations or seconds"):
        search.run(game.initial())


def test_a_slow_evaluator_does_not_stretch_the_time_limit() -> None:
    game = native("connect4")

    def slow(observations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        time.sleep(0.03)
        size = len(observations)
        return np.zeros((size, 7), dtype=np.float32), np.zeros(size, dtype=np.float32)

    result = Search(game, slow, plain()).run(game.initial(), seconds=0.1)
    assert result.seconds < 0.25


@pytest.mark.parametrize("threads", [1, 2])
def test_a_search_stops_at_its_bound_of_nodes_and_says_so(threads: int) -> None:
    game = native("chess")
    search = Search(game, UniformEvaluator(), plain(max_nodes=2000, threads=threads))
    result = search.run(game.initial(), simulations=100_000)
    assert result.stop == "max_nodes"
    assert 500 < result.nodes < 4000
    search.check_invariants()
    # After a move there is room again.
    state = game.play(game.initial(), result.best_action)
    search.advance(result.best_action)
    assert search.run(state, simulations=50).root_visits > 50


@pytest.mark.parametrize("threads", [1, 3])
def test_progress_shows_the_search_so_far(threads: int) -> None:
    game = native("chess")
    search = Search(game, UniformEvaluator(), plain(threads=threads))
    seen: list[SearchResult] = []
    result = search.run(game.initial(), seconds=0.5, progress=seen.append)
    assert 3 <= len(seen) <= 60
    visits = [r.root_visits for r in seen]
    assert visits == sorted(visits)
    assert visits[-1] <= result.root_visits
    assert all(r.best.pv for r in seen)


def test_an_error_of_the_progress_callback_ends_the_search() -> None:
    game = native("chess")

    def refuse(_: SearchResult) -> None:
        raise LookupError("enough")

    for threads in (1, 2):
        search = Search(game, UniformEvaluator(), plain(threads=threads))
        with pytest.raises(LookupError, match="enough"):
            search.run(game.initial(), seconds=20, progress=refuse)
        search.check_invariants()
        search.run(game.initial(), simulations=10)
        search.check_invariants()
