"""Evaluators that fail, interrupted searches, and what Python sees of a search."""

import json
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from native_games import native
from scripts import load_script

from zermelo.search import Search, SearchOptions, UniformEvaluator
from zermelo.testing import HashEvaluator

Record = Callable[[str, object], None]

resident_mib = load_script("tools/resident.py").resident_mib
CONNECT4 = native("connect4")
GOLDEN = Path(__file__).parents[1] / "golden"
Answer = tuple[np.ndarray, np.ndarray]


def plain(**options: Any) -> SearchOptions:
    return SearchOptions(**{"cache_mib": 0, **options})


def good(observations: np.ndarray) -> Answer:
    size = len(observations)
    return np.zeros((size, 7), dtype=np.float32), np.zeros(size, dtype=np.float32)


def raises(observations: np.ndarray) -> Answer:
    raise LookupError("the network is away")


def with_policy(change: Callable[[np.ndarray], Any]) -> Callable[[np.ndarray], Any]:
    return lambda observations: (change(good(observations)[0]), good(observations)[1])


def with_value(change: Callable[[np.ndarray], Any]) -> Callable[[np.ndarray], Any]:
    return lambda observations: (good(observations)[0], change(good(observations)[1]))


FAULTS: dict[str, tuple[Callable[[np.ndarray], Any], type[Exception], str]] = {
    "raises": (raises, LookupError, "the network is away"),
    "policy NaN": (with_policy(lambda p: p * np.nan), RuntimeError, "policy that is not finite"),
    "policy inf": (with_policy(lambda p: p + np.inf), RuntimeError, "policy that is not finite"),
    "value NaN": (with_value(lambda v: v * np.nan), RuntimeError, r"not in \[-1, 1\]"),
    "value 2": (with_value(lambda v: v + 2.0), RuntimeError, r"value 2.0+, which is not in"),
    "value -inf": (with_value(lambda v: v - np.inf), RuntimeError, r"not in \[-1, 1\]"),
    "policy shape": (with_policy(lambda p: p[:, :6]), RuntimeError, r"policy of shape \(1, 6\)"),
    "policy flat": (with_policy(lambda p: p.ravel()), RuntimeError, r"shape \(7,\), not \(1, 7\)"),
    "value shape": (with_value(lambda v: np.zeros((len(v), 2))), RuntimeError, "values of shape"),
    "no pair": (lambda observations: good(observations)[0], RuntimeError, "did not return a pair"),
    "three": (lambda observations: (*good(observations), 1), RuntimeError, "not return a pair"),
    "none": (lambda observations: None, RuntimeError, "did not return a pair"),
    "text": (with_value(lambda v: ["x"] * len(v)), ValueError, "could not convert"),
    "draw 2": (
        with_value(lambda v: np.tile([[0.0, 2.0, 0.0]], (len(v), 1))),
        RuntimeError,
        "draw probability",
    ),
}


class Fails:
    """Answers well for `after` calls, then as the fault does; `well` switches it off."""

    def __init__(self, fault: Callable[[np.ndarray], Any], after: int) -> None:
        self.fault = fault
        self.after = after
        self.well = False

    def __call__(self, observations: np.ndarray) -> Any:
        self.after -= 1
        return self.fault(observations) if self.after < 0 and not self.well else good(observations)


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("after", [0, 30])
def test_a_fault_is_one_clear_error_and_leaves_a_good_tree(
    fault: str, threads: int, after: int
) -> None:
    broken, error, message = FAULTS[fault]
    evaluator = Fails(broken, after)
    search = Search(CONNECT4, evaluator, plain(threads=threads))
    with pytest.raises(error, match=message):
        search.run(CONNECT4.initial(), simulations=200)
    search.check_invariants()
    evaluator.well = True
    before = search.nodes_in_use
    result = search.run(CONNECT4.initial(), simulations=50)
    assert result.stop == ""
    assert search.nodes_in_use >= before
    search.check_invariants()
    if after == 0:
        assert int(result.visits.sum()) == 50


@pytest.mark.parametrize("threads", [1, 2])
def test_a_thousand_faults_leak_nothing(threads: int, record_property: Record) -> None:
    evaluator = Fails(raises, after=20)
    search = Search(CONNECT4, evaluator, plain(threads=threads, leaves_per_tree=4))
    with pytest.raises(LookupError):
        search.run(CONNECT4.initial(), simulations=1000)
    nodes = set()
    for _ in range(1000):
        with pytest.raises(LookupError):
            search.run(CONNECT4.initial(), simulations=1000)
        nodes.add(search.nodes_in_use)
    search.check_invariants()
    # Children that were selected once stay, unvisited; then no more are made.
    assert len(nodes) <= 4 * threads
    reserved = search.bytes_reserved
    held: list[float] = []
    for _ in range(1100):
        with pytest.raises(LookupError):
            search.run(CONNECT4.initial(), simulations=1000)
        search.clear()
        held.append(resident_mib())
    assert search.bytes_reserved <= reserved
    assert search.nodes_in_use == 0
    grown = held[-1] - held[100]
    assert grown <= 1.0
    record_property("tried", 2101)
    record_property(f"{threads} threads: memory after 1,000 faults (MiB)", f"{grown:+.2f}")


def test_a_fault_among_many_boards_is_raised_too() -> None:
    states = [CONNECT4.initial()] * 8
    for threads in (1, 2):
        evaluator = Fails(raises, after=5)
        search = Search(CONNECT4, evaluator, plain(threads=threads, batch=4))
        with pytest.raises(LookupError, match="the network is away"):
            search.run_many(states, simulations=50)
        evaluator.well = True
        assert len(search.run_many(states, simulations=50)) == 8


def test_something_that_is_no_evaluator_is_refused() -> None:
    with pytest.raises(ValueError, match="an evaluator is a callable"):
        Search(CONNECT4, 5)  # type: ignore[arg-type]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("network", ["_core.UniformEvaluator()", "slow"])
def test_ctrl_c_interrupts_a_search_within_a_second(
    threads: int, network: str, record_property: Record
) -> None:
    program = f"""
import sys, time, numpy as np, zermelo
from zermelo import _core
from zermelo.search import Search, SearchOptions
game = zermelo.game("chess")
def slow(observations):
    time.sleep(0.02)
    size = len(observations)
    return np.zeros((size, game.num_actions), np.float32), np.zeros(size, np.float32)
search = Search(game, {network}, SearchOptions(threads={threads}, cache_mib=0))
print("ready", flush=True)
try:
    search.run(game.initial(), seconds=60)
except KeyboardInterrupt:
    search.check_invariants()
    print("interrupted", search.run(game.initial(), simulations=5).stop, flush=True)
"""
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.3)
        start = time.perf_counter()
        process.send_signal(signal.SIGINT)
        answer = process.stdout.readline()
        seconds = time.perf_counter() - start
        _, errors = process.communicate(timeout=20)
    assert answer.strip() == "interrupted"
    assert seconds < 1.0
    assert errors == ""
    name = "slow" if network == "slow" else "quick"
    record_property(f"search, {name} network, {threads} threads (ms)", round(1000 * seconds))


def test_an_evaluator_gets_planes_or_packed_words_from_the_movers_side() -> None:
    seen: list[np.ndarray] = []

    def planes(observations: np.ndarray) -> Answer:
        seen.append(observations.copy())
        return good(observations)

    class Packed:
        packed = True

        def __call__(self, observations: np.ndarray) -> Answer:
            seen.append(observations.copy())
            return good(observations)

    state = CONNECT4.play(CONNECT4.play(CONNECT4.initial(), 3), 3)
    Search(CONNECT4, planes, plain()).run(state, simulations=0)
    Search(CONNECT4, Packed(), plain()).run(state, simulations=0)
    assert seen[0].dtype == np.float32
    assert seen[0].shape == (1, *CONNECT4.observation_shape)
    assert np.array_equal(seen[0][0], CONNECT4.observe(state))
    assert seen[1].dtype == np.uint64
    assert seen[1].shape == (1, CONNECT4.packed_words)
    assert np.array_equal(seen[1][0], CONNECT4.observe_packed(state))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
def test_values_are_scalars_or_win_draw_loss(dtype: type) -> None:
    def scalar(observations: np.ndarray) -> Answer:
        size = len(observations)
        return np.zeros((size, 7), dtype), np.full(size, 0.25, dtype)

    def wdl(observations: np.ndarray) -> Answer:
        size = len(observations)
        return np.zeros((size, 7), dtype), np.tile([[0.5, 0.25, 0.25]], (size, 1)).astype(dtype)

    a = Search(CONNECT4, scalar, plain()).run(CONNECT4.initial(), simulations=40)
    b = Search(CONNECT4, wdl, plain()).run(CONNECT4.initial(), simulations=40)
    assert list(a.visits) == list(b.visits)
    assert a.value == pytest.approx(b.value)
    assert b.best.wdl[1] == pytest.approx(0.25, abs=0.01)
    assert a.best.wdl[1] == pytest.approx(0.0)


def test_columns_of_values_and_strided_policies_are_read_rightly() -> None:
    def strided(observations: np.ndarray) -> Answer:
        size = len(observations)
        policy = np.zeros((size, 14), dtype=np.float64)
        policy[:, ::2] = np.arange(7)
        policy[:, 1::2] = np.nan
        return policy[:, ::2], np.full((size, 1), -0.5)

    result = Search(CONNECT4, strided, plain()).run(CONNECT4.initial(), simulations=0)
    assert list(result.actions) == [6, 5, 4, 3, 2, 1, 0]
    assert result.value == pytest.approx(-0.5)


def test_a_finished_game_is_not_searched() -> None:
    game = native("tictactoe")
    over = game.parse_position("XXX/OO./...")
    search = Search(game, UniformEvaluator(), plain())
    with pytest.raises(ValueError, match="the game is over"):
        search.run(over, simulations=5)
    with pytest.raises(ValueError, match="the game is over"):
        search.run_many([game.initial(), over], simulations=5)
    with pytest.raises(ValueError, match="no tree"):
        Search(game, UniformEvaluator()).advance(0)


def test_a_refused_position_leaves_the_tree_where_it_was() -> None:
    game = native("tictactoe")
    search = Search(game, UniformEvaluator(), plain())
    result = search.run(game.initial(), simulations=50)
    with pytest.raises(ValueError, match="the game is over"):
        search.run(game.parse_position("XXX/OO./..."), simulations=5)
    assert search.advance(result.best_action)


def test_a_result_can_be_shown_before_and_after_a_move() -> None:
    search = Search(CONNECT4, HashEvaluator(), plain())
    assert search.result() is None
    result = search.run(CONNECT4.initial(), simulations=50)
    assert "visits" in repr(search.result())
    search.advance(result.best_action)
    assert isinstance(repr(search.result()), str)


def test_options_are_pickled_compared_and_refused_with_the_nearest_name() -> None:
    options = SearchOptions(c_puct=2.5, fpu="reduced", threads=2, seed=7)
    assert pickle.loads(pickle.dumps(options)) == options
    assert options != SearchOptions()
    assert options.replace(c_puct=1.5).c_puct == 1.5
    assert SearchOptions(**options.to_dict()) == options
    assert eval(repr(options), {"SearchOptions": SearchOptions}) == options
    with pytest.raises(ValueError, match="nearest is 'c_puct'"):
        SearchOptions(cpuct=1.0)
    with pytest.raises(ValueError, match="'threads' cannot be 0"):
        SearchOptions(threads=0)
    with pytest.raises(ValueError, match="one of zero parent reduced loss"):
        SearchOptions(fpu="none")
    with pytest.raises(ValueError, match="'fpu'"):
        options.fpu = "best"


def keys_of(value: Any, prefix: str = "") -> list[str]:
    """Every key of nested dicts and lists of dicts, dotted."""
    if isinstance(value, list):
        return keys_of(value[0], prefix + "[]") if value and isinstance(value[0], dict) else []
    if not isinstance(value, dict):
        return []
    found = []
    for key, inner in value.items():
        found += [prefix + "." + key, *keys_of(inner, prefix + "." + key)]
    return found


def test_the_keys_of_exported_results_and_trees_are_stable() -> None:
    search = Search(CONNECT4, HashEvaluator(), plain())
    result = search.run(CONNECT4.initial(), simulations=20).to_dict()
    tree = json.loads(search.tree().to_json())
    lines = [f"result{key}" for key in keys_of(json.loads(json.dumps(result)))]
    lines += [f"tree{key}" for key in keys_of(tree)]
    assert lines == (GOLDEN / "search_keys.txt").read_text().split()


def test_an_exported_tree_keeps_to_its_limits() -> None:
    search = Search(CONNECT4, HashEvaluator(), plain())
    search.run(CONNECT4.initial(), simulations=500)
    for depth, least in ((0, 1), (1, 1), (3, 1), (6, 5), (6, 40)):
        nodes = search.tree(max_depth=depth, min_visits=least).nodes
        assert nodes[0]["visits"] == 501
        assert max(node["depth"] for node in nodes) <= depth
        assert all(node["visits"] >= least for node in nodes)
        for node in nodes[1:]:
            parent = nodes[node["parent"]]
            assert parent["id"] == node["parent"] < node["id"]
            assert parent["depth"] + 1 == node["depth"]
    assert sum(n["visits"] for n in search.tree(max_depth=1).nodes[1:]) == 500
    graph = search.tree(max_depth=1).to_graphviz()
    assert graph.startswith("digraph tree {") and graph.endswith("}")
    assert graph.count("->") == 7


@pytest.mark.parametrize("meddle", ["run(state, simulations=5)", "clear()", "advance(0)"])
def test_a_running_search_refuses_to_be_used_a_second_time(meddle: str) -> None:
    # In a process of its own: memory would be at stake.
    program = f"""
import threading, time, zermelo
from zermelo.search import Search, SearchOptions, UniformEvaluator
game = zermelo.game("connect4")
state = game.initial()
search = Search(game, UniformEvaluator(), SearchOptions(cache_mib=0))
search.run(state, simulations=5)
thread = threading.Thread(target=search.run, args=(state,), kwargs=dict(seconds=20))
thread.start()
time.sleep(0.2)
try:
    search.{meddle}
except RuntimeError as error:
    print("refused:", error)
search.stop()
thread.join()
search.check_invariants()
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("refused:")
