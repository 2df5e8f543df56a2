"""From a `go` to the limits of its search."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from zermelo.search.move_limits import MoveLimits, look_at
from zermelo.search.thinking import Memory, Thinking, batch_seconds
from zermelo.search.time_management import LEAST
from zermelo.uci.options import Settings
from zermelo.uci.protocol import Go, Position
from zermelo.uci.running import Running, limits_of

SETTINGS = Settings.defaults().with_value("MoveOverheadMs", "50")


def limits(go: Go, **rest: object) -> MoveLimits:
    return limits_of(go, SETTINGS, **{"white": True, "ply": 0, **rest})  # type: ignore[arg-type]


def test_each_side_has_its_own_clock() -> None:
    go = Go(wtime=60_000, btime=6_000, winc=0, binc=0)
    white, black = limits(go), limits(go, white=False)
    assert white.most_seconds is not None and black.most_seconds is not None
    assert white.most_seconds > 5 * black.most_seconds
    only_theirs = limits(Go(btime=6_000))
    assert only_theirs.most_seconds == pytest.approx(black.most_seconds)


def test_a_slow_network_is_given_less_time_and_none_when_there_is_none() -> None:
    quick, slow = limits(Go(wtime=1_000)), limits(Go(wtime=1_000), lag=0.2)
    assert quick.most_seconds is not None and slow.most_seconds is not None
    assert slow.most_seconds < quick.most_seconds
    assert not quick.instant
    assert limits(Go(wtime=100), lag=0.03).instant
    assert limits(Go(wtime=0)).instant


def test_a_forced_move_is_played_at_once() -> None:
    forced = limits(Go(wtime=60_000), forced=True)
    assert forced.instant
    assert forced.most_seconds == LEAST
    assert not limits(Go(nodes=100), forced=True).instant


def test_an_infinite_search_has_no_limits_whatever_else_is_said() -> None:
    endless = limits(Go(wtime=10, nodes=5, depth=1, mate=1, movetime=5, infinite=True))
    assert (endless.nodes, endless.depth, endless.mate, endless.most_seconds) == (None,) * 4


def test_the_shortest_of_several_times_holds() -> None:
    both = limits(Go(wtime=600_000, movetime=100))
    assert both.most_seconds is not None and both.most_seconds < 0.1


def test_huge_numbers_mean_no_limit_and_small_ones_mean_one() -> None:
    assert limits(Go(nodes=2**53)).nodes is None
    assert limits(Go(nodes=-7, depth=0, mate=-1)).nodes == 1
    assert limits(Go(nodes=-7, depth=0, mate=-1)).depth == 1


def test_our_time_begins_with_ponderhit() -> None:
    ended: list[float] = []
    running = Running(Go(ponder=True, movetime=60), Position(), SETTINGS, time.perf_counter())
    running.begin(lambda: ended.append(time.perf_counter()), limits(running.go).most_seconds)
    assert running.pondering
    assert not running.released.wait(0.1)
    assert not ended
    hit = time.perf_counter()
    running.ponderhit()
    assert running.released.is_set()
    deadline = time.perf_counter() + 20
    while not ended and time.perf_counter() < deadline:
        time.sleep(0.005)
    assert ended and ended[0] - hit > 0.04
    running.end()


def test_a_stop_before_the_search_began_ends_it_as_it_begins() -> None:
    ended: list[int] = []
    running = Running(Go(), Position(), SETTINGS, time.perf_counter())
    running.stop()
    running.begin(lambda: ended.append(1), limits(running.go).most_seconds)
    assert ended == [1]
    running.end()
    running.stop()
    assert ended == [1]  # a search that has ended is left alone


def test_the_end_comes_earlier_by_what_a_batch_takes_but_only_once() -> None:
    ended: list[float] = []
    began = time.perf_counter()
    running = Running(Go(movetime=20_000), Position(), SETTINGS, began)
    running.begin(lambda: ended.append(time.perf_counter()), limits(running.go).most_seconds)
    running.end_earlier(19.9)
    running.end_earlier(-5.0)
    deadline = time.perf_counter() + 15
    while not ended and time.perf_counter() < deadline:
        time.sleep(0.005)
    assert ended
    running.end()


def found(visits: dict[int, int], best: int, **rest: Any) -> Any:
    """As a search's result, as far as limits look at it."""
    return SimpleNamespace(
        actions=np.array(list(visits)),
        visits=np.array(list(visits.values())),
        q=np.zeros(len(visits)),
        root_visits=1 + sum(visits.values()),
        best_action=best,
        mate=None,
        final=False,
        **rest,
    )


def test_a_restricted_search_looks_at_its_own_moves_only() -> None:
    result = found({1: 900, 2: 60, 3: 30}, best=2)
    fifty = limits(Go(nodes=100))
    assert fifty.reached(result, 0.1, 1, 50)
    assert not fifty.reached(result, 0.1, 1, 50, allowed=[2, 3])
    assert limits(Go(nodes=91)).reached(result, 0.1, 1, 50, allowed=[2, 3])
    assert look_at(result, 0.1, 50).runner_up_visits == 900
    assert look_at(result, 0.1, 50, [2, 3]).runner_up_visits == 30
    assert look_at(result, 0.1, 50, [2]).runner_up_visits == 0


def test_a_batch_is_timed_from_the_first_one_on() -> None:
    def of(batches: int, seconds: float, threads: int) -> float | None:
        result: Any = SimpleNamespace(counters={"batches": batches}, seconds=seconds)
        return batch_seconds(result, threads)

    assert of(0, 0.3, 2) is None
    assert of(1, 0.3, 2) == pytest.approx(0.3)  # the other thread has not finished its own
    assert of(2, 0.3, 2) == pytest.approx(0.3)
    assert of(20, 3.0, 2) == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("batches", "simulations", "seconds", "kept"),
    [
        (0, 0, 0.5, 0.4),  # nothing was evaluated
        (1, 0, 0.1, 0.4),  # the root alone, which may take an eighth of a batch
        (1, 0, 0.01, 0.2),  # too quick for a batch that slow
        (10, 80, 0.1, 0.2),
        (2, 16, 1.2, 0.6),
    ],
)
def test_an_old_lag_fades_only_when_batches_were_quicker_since(
    batches: int, simulations: int, seconds: float, kept: float
) -> None:
    run = new_run(Go(), lag=0.4)
    run._longest_pause = 60.0
    counters = {"batches": batches, "simulations": simulations}
    result = found({1: 5}, best=1, counters=counters, seconds=seconds)
    assert run._lag_to_keep(result) == pytest.approx(kept)


def test_rare_batches_are_not_taken_for_slow_ones() -> None:
    run = new_run(Go())
    run._longest_pause = 0.03  # between two looks, which come between batches
    counters = {"batches": 4, "simulations": 90_000}  # the rest was in the cache
    result = found({1: 5}, best=1, counters=counters, seconds=2.0)
    assert run._lag_to_keep(result) == 0.03


def new_run(go: Go, lag: float = 0.0) -> Thinking:
    """Of a search with eight leaves a batch that stays where it is."""
    options = SimpleNamespace(threads=1, leaves_per_tree=8, cache_mib=0)
    live: Any = SimpleNamespace(options=options, stop=lambda: None)
    running = Running(go, Position(), SETTINGS, time.perf_counter())
    return Thinking(live, limits(go), running, Memory(lag=lag))


def test_simulations_on_the_opponents_time_are_not_taken_for_our_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = new_run(Go(ponder=True, wtime=60_000))
    looks: list[int] = []

    def reached(_result: Any, _elapsed: float, _depth: int, simulations: int, *_: Any) -> bool:
        looks.append(simulations)
        return False

    monkeypatch.setattr(run._limits, "reached", reached)
    for simulations in (1_000, 500_000, 500_300):
        if simulations == 500_300:
            run._clock.ponderhit()
        counters = {"batches": 0, "evaluations": 0, "max_depth": 3, "mean_depth": 2.0}
        counters["simulations"] = simulations
        result = found({1: 5, 2: 4}, best=1, counters=counters, seconds=1.0, bytes=0, pv=("a",))
        run._look(result)
    assert looks == [300]
