"""One `go`, from the command to its `bestmove`: what may end it, and who has asked for what.

The reading thread calls `stop` and `ponderhit`, a timer calls `stop` too; the searching thread does
everything else.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection
from dataclasses import replace

from zermelo.search import SearchResult
from zermelo.uci.options import Settings
from zermelo.uci.protocol import LARGEST, Go, Position
from zermelo.uci.time_management import (
    LEAST,
    Budget,
    Look,
    Manager,
    fixed_seconds,
    is_forever,
    plan,
    side_clock,
)


class Running:
    """A search that was asked for. `stopped` and `released` are set once and stay so."""

    def __init__(
        self,
        go: Go,
        position: Position,
        settings: Settings,
        received: float,
        debug: bool = False,
    ) -> None:
        # Constant.
        self.go = go
        self.position = position
        self.settings = settings
        self.received = received  # seconds of time.perf_counter()
        self.debug = debug
        # Set by any thread.
        self.stopped = threading.Event()
        self.unwanted = threading.Event()  # a newer command has made the answer useless
        self.released = threading.Event()  # the answer may be given
        self.finished = threading.Event()  # it was given
        self._lock = threading.Lock()
        # Guarded by the lock.
        self._pondering = go.ponder
        self._clock_from = received  # when our own time began to run
        self._end_search: Callable[[], None] | None = None
        self._timer: threading.Timer | None = None
        self._seconds: float | None = None  # from then until the time is over
        self._margin = 0.0  # seconds before that
        if not (go.ponder or go.endless):
            self.released.set()

    # Any thread.

    def stop(self) -> None:
        """Ends the search and lets the answer out."""
        self.stopped.set()
        self.released.set()
        with self._lock:
            end = self._end_search
        if end is not None:
            end()

    def ponderhit(self) -> None:
        """The move that was pondered on was played: from now on our time runs."""
        with self._lock:
            if not self._pondering:
                return
            self._pondering = False
            self._clock_from = time.perf_counter()
            self._start_timer()
        if not self.go.endless:
            self.released.set()

    @property
    def pondering(self) -> bool:
        """Whether the opponent's time runs."""
        with self._lock:
            return self._pondering

    @property
    def elapsed(self) -> float:
        """Seconds of our own time."""
        with self._lock:
            return time.perf_counter() - self._clock_from

    # The searching thread.

    def begin(self, end_search: Callable[[], None], limits: Limits) -> None:
        """The search is about to run; `end_search` may be called by any thread."""
        with self._lock:
            self._end_search = end_search
            self._seconds = limits.most_seconds
            if not self._pondering:
                self._start_timer()
        if self.stopped.is_set():
            end_search()

    def end_earlier(self, margin: float) -> None:
        """Moves the end forward, once, by what the batch under way will take beyond it."""
        with self._lock:
            if self._margin or self._timer is None or margin <= 0:
                return
            self._margin = margin
            self._timer.cancel()
            self._start_timer()

    def end(self) -> None:
        """The search does not run any more."""
        with self._lock:
            self._end_search = None
            if self._timer is not None:
                self._timer.cancel()

    def _start_timer(self) -> None:
        if self._seconds is None or is_forever(self._seconds):
            return
        left = self._clock_from + self._seconds - self._margin - time.perf_counter()
        self._timer = threading.Timer(max(left, 0.0), self._time_is_over)
        self._timer.daemon = True
        self._timer.start()

    def _time_is_over(self) -> None:
        with self._lock:
            end = self._end_search
        if end is not None:
            end()


class Limits:
    """When a search has done enough, apart from `stop`. Owner: the searching thread."""

    def __init__(
        self,
        go: Go,
        settings: Settings,
        white: bool,
        ply: int,
        expected: float | None = None,
        forced: bool = False,
        lag: float = 0.0,
    ) -> None:
        """`white`: whose clock it is; `expected`: see `Manager`; `forced`: one move only.

        `lag` is how long a batch takes, in seconds: a search ends so much later than it should.
        """
        self.nodes = _at_least_one(go.nodes)
        self.depth = _at_least_one(go.depth)
        self.mate = _at_least_one(go.mate)
        self.ram_bytes = settings["RamLimitMb"] << 20
        self.manager: Manager | None = None
        self.most_seconds: float | None = None
        self.instant = False  # there is no time for more than the root's own evaluation
        if go.infinite:
            self.nodes = self.depth = self.mate = None
            return
        overhead = settings["MoveOverheadMs"]
        mine, other = (go.wtime, go.btime) if white else (go.btime, go.wtime)
        increment = go.winc if white else go.binc
        clock = side_clock(mine if mine is not None else other, increment, go.movestogo, overhead)
        if clock is not None:
            clock = replace(clock, overhead=clock.overhead + lag)
            budget = Budget(LEAST, LEAST) if forced else plan(clock, ply)
            self.instant = budget.most <= max(lag, LEAST)
            self.manager = Manager(budget, settings["SmartPruningFactor"], expected)
            self.most_seconds = budget.most
        if go.movetime is not None:
            fixed = fixed_seconds(go.movetime)
            self.most_seconds = min(fixed, self.most_seconds or fixed)

    def reached(
        self,
        result: SearchResult,
        elapsed: float,
        depth: int,
        simulations: int,
        allowed: Collection[int] = (),
    ) -> bool:
        """Looks at the search; the callback of a running search asks about fifty times a second.

        `elapsed` and `simulations` count from the moment when our own time began to run; `allowed`
        are the root actions to which the search is restricted, empty: all.
        """
        if self.most_seconds is not None and elapsed >= self.most_seconds:
            return True
        if self.nodes is not None and visits_that_count(result, allowed) >= self.nodes:
            return True
        if self.depth is not None and depth >= self.depth:
            return True
        mate = result.mate
        if self.mate is not None and mate is not None and 0 < mate <= self.mate:
            return True
        if self.manager is None:
            return False
        return self.manager.enough(look_at(result, elapsed, simulations, allowed))

    def __str__(self) -> str:
        if self.manager is None:
            return "no clock" if self.most_seconds is None else f"{self.most_seconds:.3f} s"
        budget = self.manager.budget
        return f"about {budget.share:.3f} s, at most {budget.most:.3f} s"

    def too_large(self, result: SearchResult, cache_bytes: int) -> bool:
        """Whether tree and cache exceed RamLimitMb."""
        return bool(self.ram_bytes) and result.bytes + cache_bytes > self.ram_bytes


def visits_that_count(result: SearchResult, allowed: Collection[int]) -> int:
    """The root's; of a restricted search its own moves' only."""
    if not allowed:
        return result.root_visits
    pairs = zip(result.actions.tolist(), result.visits.tolist(), strict=True)
    return 1 + sum(int(visits) for action, visits in pairs if action in allowed)


def look_at(
    result: SearchResult, elapsed: float, simulations: int, allowed: Collection[int] = ()
) -> Look:
    """What the time management wants to know; moves that are not allowed do not compete."""
    best = result.best_action
    visits, actions = result.visits.tolist(), result.actions.tolist()
    at = actions.index(best)
    others = [
        count
        for action, count in zip(actions, visits, strict=True)
        if action != best and (not allowed or action in allowed)
    ]
    return Look(
        elapsed=elapsed,
        best=best,
        best_visits=visits[at],
        runner_up_visits=max(others, default=0),
        simulations=simulations,
        value=float(result.q[at]),
    )


def _at_least_one(limit: int | None) -> int | None:
    return None if limit is None or limit >= LARGEST else max(limit, 1)
