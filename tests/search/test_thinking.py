"""One move's search: within its limits and its time, whoever asks for it."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest
from native_games import native

from zermelo.search import LiveSearch, SearchOptions, SearchResult, UniformEvaluator
from zermelo.search.move_limits import MoveLimits
from zermelo.search.thinking import Memory, Thinking
from zermelo.search.time_management import Budget, Manager
from zermelo.search.turn_clock import TurnClock

CHESS = native("chess")
PATIENCE = 60.0  # seconds; far beyond what anything here takes


def board(text: str = "") -> LiveSearch:
    live = LiveSearch(CHESS, UniformEvaluator(), SearchOptions(cache_mib=0))
    live.follow(CHESS.parse_position(text) if text else CHESS.initial())
    return live


def thought(
    live: LiveSearch, limits: MoveLimits, clock: TurnClock | None = None, **rest: Any
) -> Thinking:
    clock = clock or TurnClock(time.perf_counter())
    thinking = Thinking(live, limits, clock, Memory(), **rest)
    try:
        thinking.run()
    finally:
        clock.end()
    return thinking


def visits(thinking: Thinking) -> int:
    assert thinking.result is not None
    return thinking.result.root_visits


def test_nodes_count_those_of_the_tree_that_was_kept() -> None:
    live = board()
    assert visits(thought(live, MoveLimits(nodes=100))) == 100
    more = thought(live, MoveLimits(nodes=250))
    assert (more.kept, visits(more)) == (100, 250)
    assert visits(thought(live, MoveLimits(nodes=50))) == 250


def test_an_instant_move_is_the_root_alone() -> None:
    thinking = thought(board(), MoveLimits(nodes=100, instant=True))
    assert visits(thinking) == 1


def test_the_time_ends_it() -> None:
    thinking = thought(board(), MoveLimits(most_seconds=0.05))
    assert thinking.result is not None
    assert thinking.result.stop == "stopped"


def test_a_budget_is_kept_and_its_value_remembered() -> None:
    seen: list[SearchResult] = []
    began: list[int] = []
    limits = MoveLimits(manager=Manager(Budget(0.1, 0.2), 1.33), most_seconds=0.2)
    thinking = thought(board(), limits, began=lambda: began.append(1), watch=seen.append)
    assert began == [1]
    assert thinking.result is not None
    assert not any(result.final for result in seen)
    assert thinking.memory().value == thinking.result.best.q


def test_a_mate_that_was_asked_for_ends_it() -> None:
    live = board("6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1")
    thinking = thought(live, MoveLimits(mate=1))
    assert thinking.result is not None
    assert thinking.result.mate == 1


def test_a_stop_before_it_began_leaves_a_move_all_the_same() -> None:
    clock = TurnClock(time.perf_counter())
    clock.stop()
    thinking = thought(board(), MoveLimits(), clock)
    assert visits(thinking) == 1


@pytest.mark.parametrize("end", ["stop", "ponderhit"])
def test_on_the_opponents_time_only_a_stop_or_his_move_ends_it(end: str) -> None:
    live, clock = board(), TurnClock(time.perf_counter(), pondering=True)
    arrived = threading.Event()
    limits = MoveLimits(nodes=10, most_seconds=0.01)
    thinking = Thinking(live, limits, clock, Memory(), watch=lambda _result: arrived.set())
    thread = threading.Thread(target=thinking.run)
    thread.start()
    assert arrived.wait(PATIENCE)
    assert clock.pondering
    getattr(clock, end)()
    thread.join(PATIENCE)
    assert not thread.is_alive()
    assert visits(thinking) > 10
    assert not clock.ponderhit() or end == "stop"
    clock.end()
