"""S13 and S14: positions that come back in a game, and evaluations that are known already."""

import random
from typing import Any

import numpy as np
import pytest
from native_games import native
from small_trees import CountingEvaluator, random_position

from zermelo import _core
from zermelo.search import EvaluationCache, Search, SearchOptions, UniformEvaluator
from zermelo.testing import HashEvaluator

CHESS = native("chess")
TICTACTOE = native("tictactoe")
SHUFFLE = "moves g1f3 g8f6 f3g1 f6g8"


def plain(**options: Any) -> SearchOptions:
    return SearchOptions(**{"cache_mib": 0, **options})


def nodes_with_lines(search: Search) -> list[tuple[dict[str, Any], list[str]]]:
    """Every exported node with the line from the root to it."""
    lines: list[list[str]] = []
    found = []
    for node in search.tree(max_depth=12).nodes:
        parent = node["parent"]
        lines.append([] if parent is None else [*lines[parent], node["action"]])
        found.append((node, lines[-1]))
    return found


def repeating_nodes(search: Search, fen: str) -> list[dict[str, Any]]:
    """Nodes whose position stood on the board since the root."""
    root = " ".join(fen.split()[:4])
    repeating = []
    for node, line in nodes_with_lines(search):
        seen, state = {root}, CHESS.parse_position(fen)
        for depth, text in enumerate(line):
            state = CHESS.play(state, CHESS.parse_action(state, text))
            key = " ".join(CHESS.position_text(state).split()[:4])
            if depth == len(line) - 1 and key in seen:
                repeating.append(node)
            seen.add(key)
    return repeating


@pytest.mark.technique("S13")
def test_a_position_that_repeats_on_the_path_is_a_draw_at_once() -> None:
    fen = "7k/5r2/8/8/8/8/2R5/K7 w - - 0 1"
    values = {}
    for on in (True, False):
        search = Search(CHESS, HashEvaluator(1), plain(repetition_draw=on, c_puct=20.0))
        search.run(CHESS.parse_position(fen), simulations=30_000)
        repeating = repeating_nodes(search, fen)
        assert len(repeating) >= 5
        values[on] = {node["q"] for node in repeating}
        parents = {node["parent"] for node in search.tree(max_depth=12).nodes}
        expanded = [node for node in repeating if node["id"] in parents]
        assert bool(expanded) == (not on)
        assert all(node["proven"] is None for node in repeating)  # another way may not repeat
        search.check_invariants()
    assert values[True] == {0.0}
    assert values[False] != {0.0}


@pytest.mark.technique("S13")
def test_positions_before_the_root_count_towards_threefold_only() -> None:
    once = CHESS.parse_position(f"startpos {SHUFFLE}")
    move = CHESS.parse_action(once, "g1f3")  # leads to a position that stood there once before
    result = Search(CHESS, HashEvaluator(), plain()).run(once, simulations=60)
    row = result.row(list(result.actions).index(move))
    assert row.visits == 0 or (row.q != 0.0 and row.certain is None)
    alone = Search(CHESS, HashEvaluator(), plain()).run(once, simulations=200, allowed=[move])
    row = alone.row(list(alone.actions).index(move))
    assert row.visits > 100
    assert row.q != 0.0 and row.certain is None

    twice = CHESS.parse_position(f"startpos {SHUFFLE} g1f3 g8f6 f3g1")
    third = CHESS.parse_action(twice, "f6g8")  # the start position for the third time
    result = Search(CHESS, HashEvaluator(), plain()).run(twice, simulations=50, allowed=[third])
    assert next(r for r in result.rows() if r.action == third).certain == (0, 1)


@pytest.mark.technique("S14")
def test_transpositions_reuse_evaluations() -> None:
    counts = {}
    for mib in (0, 4):
        evaluator = CountingEvaluator(CHESS.num_actions)
        options = SearchOptions(cache_mib=mib, solver=False)
        result = Search(CHESS, evaluator, options).run(CHESS.initial(), simulations=1500)
        counts[mib] = evaluator.positions
        assert result.counters["evaluations"] == evaluator.positions
        assert result.counters["cache_hits"] == (1501 - evaluator.positions if mib else 0)
    assert counts[0] == 1501
    assert counts[4] < 1450


@pytest.mark.technique("S14")
def test_a_second_search_needs_no_evaluation_of_what_is_cached() -> None:
    evaluator = CountingEvaluator(7, value=0.1)
    game = native("connect4")
    cache = EvaluationCache(4, 7)
    first = Search(game, evaluator, SearchOptions(), cache).run(game.initial(), simulations=200)
    asked = evaluator.positions
    second = Search(game, evaluator, SearchOptions(), cache).run(game.initial(), simulations=200)
    assert evaluator.positions == asked
    assert list(first.visits) == list(second.visits)
    assert second.counters["cache_hits"] == 201
    assert cache.hits >= 201


@pytest.mark.technique("S14")
@pytest.mark.parametrize("symmetry", [True, False])
def test_mirrored_positions_share_an_evaluation(symmetry: bool) -> None:
    evaluator = CountingEvaluator(9)
    cache = EvaluationCache(1, 9)
    options = SearchOptions(cache_symmetry=symmetry)
    rng = random.Random(0)
    for _ in range(20):
        state = random_position(TICTACTOE, rng)
        while len(TICTACTOE.legal_actions(state)) < 2:
            state = random_position(TICTACTOE, rng)
        Search(TICTACTOE, evaluator, options, cache).run(state, simulations=0)
        before = evaluator.positions
        for k in range(1, TICTACTOE.num_symmetries(state)):
            image = TICTACTOE.transform(state, k)
            Search(TICTACTOE, evaluator, options, cache).run(image, simulations=0)
        if symmetry:
            assert evaluator.positions == before
    assert symmetry or evaluator.positions > 60


@pytest.mark.technique("S14")
def test_a_shared_evaluation_moves_its_policy_with_the_actions() -> None:
    cache = EvaluationCache(1, 9)
    state = TICTACTOE.parse_position("XO./.../...")
    evaluator = HashEvaluator(3)
    original = Search(TICTACTOE, evaluator, SearchOptions(), cache).run(state, simulations=0)
    priors = dict(zip(original.actions.tolist(), original.prior.tolist(), strict=True))
    for k in range(1, 8):
        image = TICTACTOE.transform(state, k)
        result = Search(TICTACTOE, evaluator, SearchOptions(), cache).run(image, simulations=0)
        moved = dict(zip(result.actions.tolist(), result.prior.tolist(), strict=True))
        assert moved == {TICTACTOE.transform_action(a, k): p for a, p in priors.items()}
        assert result.value == original.value


@pytest.mark.technique("S14")
def test_the_rule_50_counter_and_repetitions_tell_cached_positions_apart() -> None:
    fen = "7k/5r2/8/8/8/8/2R5/K7 w - - {} 40"
    evaluator = CountingEvaluator(CHESS.num_actions)
    cache = EvaluationCache(1, CHESS.num_actions)
    for counter in (0, 20, 90):
        state = CHESS.parse_position(fen.format(counter))
        Search(CHESS, evaluator, SearchOptions(), cache).run(state, simulations=0)
    assert evaluator.positions == 3
    for state in (
        CHESS.initial(),
        CHESS.parse_position(f"startpos {SHUFFLE}"),
    ):
        Search(CHESS, evaluator, SearchOptions(), cache).run(state, simulations=0)
    assert evaluator.positions == 5


def test_older_history_that_the_encoder_shows_can_be_ignored() -> None:
    lc0 = native("chess?encoder=lc0")
    # The same position by two orders of moves, with as many plies and no capture.
    orders = ("g1f3 g8f6 b1c3 b8c6", "b1c3 b8c6 g1f3 g8f6")
    asked = {}
    for history in (True, False):
        evaluator = CountingEvaluator(lc0.num_actions)
        cache = EvaluationCache(1, lc0.num_actions)
        for order in orders:
            state = lc0.parse_position(f"startpos moves {order}")
            options = SearchOptions(cache_history=history)
            Search(lc0, evaluator, options, cache).run(state, simulations=0)
        asked[history] = evaluator.positions
    assert asked == {True: 2, False: 1}


@pytest.mark.parametrize(("clocks", "asked"), [((0, 39), 1), ((39, 40), 2), ((60, 61), 2)])
def test_a_low_clock_can_be_ignored_and_a_high_one_cannot(
    clocks: tuple[int, int], asked: int
) -> None:
    evaluator = CountingEvaluator(CHESS.num_actions)
    cache = EvaluationCache(1, CHESS.num_actions)
    for clock in clocks:
        state = CHESS.parse_position(f"4k3/8/8/8/8/8/4P3/4K3 w - - {clock} 70")
        Search(CHESS, evaluator, SearchOptions(cache_clock=False), cache).run(state, simulations=0)
    assert evaluator.positions == asked


@pytest.mark.technique("S14")
def test_the_cache_is_bounded_and_forgets_the_old() -> None:
    cache = EvaluationCache(1, CHESS.num_actions)
    search = Search(CHESS, UniformEvaluator(), SearchOptions(solver=False), cache)
    assert 5_000 < cache.capacity < 50_000
    search.run(CHESS.initial(), simulations=3 * cache.capacity)
    assert 900 < cache.permille_full <= 1000
    cache.clear()
    assert cache.permille_full == 0


def test_without_a_cache_nothing_is_kept() -> None:
    search = Search(TICTACTOE, UniformEvaluator(), plain())
    assert search.cache is None
    assert search.run(TICTACTOE.initial(), simulations=50).counters["cache_hits"] == 0


def test_equal_leaves_of_one_batch_are_evaluated_once() -> None:
    game = native("connect4")
    evaluator = CountingEvaluator(7)
    options = SearchOptions(batch=64, cache_mib=1)
    states = [game.initial()] * 16
    results = Search(game, evaluator, options).run_many(states, simulations=30)
    assert evaluator.positions <= 31
    assert all(list(r.visits) == list(results[0].visits) for r in results)


def test_another_network_does_not_see_the_old_ones_evaluations() -> None:
    game = native("connect4")
    search = Search(game, HashEvaluator(1), SearchOptions(cache_mib=1))
    search.run(game.initial(), simulations=100)
    search.swap_evaluator(HashEvaluator(2))
    swapped = search.run(game.initial(), simulations=100)
    fresh = Search(game, HashEvaluator(2), SearchOptions(cache_mib=1))
    assert np.array_equal(swapped.visits, fresh.run(game.initial(), simulations=100).visits)


def test_positions_with_more_actions_than_the_cache_keeps_are_still_searched() -> None:
    game = native("hex?size=11")
    search = Search(game, _core.HashEvaluator(0), SearchOptions(cache_mib=1))
    result = search.run(game.initial(), simulations=300)
    assert int(result.visits.sum()) == 300
    search.check_invariants()
