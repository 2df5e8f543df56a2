"""From a `go` to the limits of its search."""

from __future__ import annotations

import time

import pytest

from zermelo.uci.options import Settings
from zermelo.uci.protocol import Go, Position
from zermelo.uci.running import Limits, Running
from zermelo.uci.time_management import LEAST

SETTINGS = Settings.defaults().with_value("MoveOverheadMs", "50")


def limits(go: Go, **rest: object) -> Limits:
    return Limits(go, SETTINGS, **{"white": True, "ply": 0, **rest})  # type: ignore[arg-type]


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
    running.begin(lambda: ended.append(time.perf_counter()), limits(running.go))
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
    running.begin(lambda: ended.append(1), limits(running.go))
    assert ended == [1]
    running.end()
    running.stop()
    assert ended == [1]  # a search that has ended is left alone


def test_the_end_comes_earlier_by_what_a_batch_takes_but_only_once() -> None:
    ended: list[float] = []
    began = time.perf_counter()
    running = Running(Go(movetime=20_000), Position(), SETTINGS, began)
    running.begin(lambda: ended.append(time.perf_counter()), limits(running.go))
    running.end_earlier(19.9)
    running.end_earlier(-5.0)
    deadline = time.perf_counter() + 15
    while not ended and time.perf_counter() < deadline:
        time.sleep(0.005)
    assert ended
    running.end()
