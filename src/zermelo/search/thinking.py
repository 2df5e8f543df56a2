"""`Thinking`: the search for one move on a board's `LiveSearch`, within its limits and its time.

Also what one move's search leaves to the next: the value to expect, and how long a batch takes, for
a search ends so much later than it should. Owner: the searching thread. Knows no protocol.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from zermelo.search.limits import Limits, visits_that_count
from zermelo.search.live import LiveSearch
from zermelo.search.move_limits import MoveLimits
from zermelo.search.result import SearchResult
from zermelo.search.turn_clock import TurnClock

LONGEST_MARGIN = 0.05  # seconds that a search ends before its time, for the batch under way


@dataclass(frozen=True)
class Memory:
    """What one search leaves to that of the next move."""

    value: float | None = None  # of the action that was played, for its player
    lag: float = 0.0  # seconds that a batch takes


class Thinking:
    """The search for one move at the position where the board stands."""

    def __init__(
        self,
        live: LiveSearch,
        limits: MoveLimits,
        clock: TurnClock,
        before: Memory,
        allowed: Sequence[int] = (),
        *,
        began: Callable[[], None] | None = None,
        watch: Callable[[SearchResult], None] | None = None,
    ) -> None:
        """`before` is what the last move's search left; `allowed` restricts the root's actions.

        `began` is called when `kept` is known, `watch` about fifty times a second after that.
        """
        self.result: SearchResult | None = None  # the newest
        self.kept = 0  # visits that the tree had before
        self._live = live
        self._limits = limits
        self._clock = clock
        self._before = before
        self._allowed = tuple(allowed)
        self._began = began
        self._watch = watch
        self._threads = int(live.options.threads)
        self._leaves = int(live.options.leaves_per_tree)
        self._cache_bytes = int(live.options.cache_mib) << 20
        self._pondered = 0  # simulations on the opponent's time
        self._looked_at = 0.0  # of the last look at the search
        self._longest_pause = 0.0  # seconds between two looks

    def run(self) -> None:
        """Until the limits are reached, the time is over, or somebody stops it."""
        live, limits, clock = self._live, self._limits, self._clock
        clock.begin(live.stop, limits.most_seconds)
        # Makes the root known, and with it how many visits its tree already has.
        self._looked_at = time.perf_counter()
        self.result = live.run(Limits(0, allowed=self._allowed))
        self._note_pause()
        self.kept = self.result.root_visits
        if clock.stopped.is_set():
            return
        simulations: int | None = None
        if limits.nodes is not None and not clock.pondering:
            simulations = limits.nodes - visits_that_count(self.result, self._allowed)
        if self._began is not None:
            self._began()
        enough = simulations is not None and simulations <= 0
        if enough or (limits.instant and not clock.pondering):
            return
        self.result = live.run(Limits(simulations, allowed=self._allowed), self._look)
        self._note_pause()

    def memory(self) -> Memory:
        """What is left to the next move's search."""
        if self.result is None or not len(self.result.actions):
            return self._before
        return Memory(float(self.result.best.q), self._lag_to_keep(self.result))

    def _look(self, result: SearchResult) -> None:
        """Comes about fifty times a second, in the searching thread."""
        if result.final:
            return
        self.result = result
        self._note_pause()
        clock, limits = self._clock, self._limits
        if clock.stopped.is_set():
            self._live.stop()
            return
        enough = limits.too_large(result, self._cache_bytes)
        simulations = simulations_of(result, self.kept)
        if clock.pondering:
            self._pondered = simulations
        else:
            elapsed, depth = clock.elapsed, depth_of(result)
            own = simulations - self._pondered
            enough |= limits.reached(result, elapsed, depth, own, self._allowed)
            if 2 * elapsed > (limits.most_seconds or math.inf):
                clock.end_earlier(self._margin(result))
        if enough:
            self._live.stop()
        elif self._watch is not None:
            self._watch(result)

    def _margin(self, result: SearchResult) -> float:
        """Seconds before the end at which to stop: a batch that has begun is waited for.

        On a clock all of a batch counts, for lateness there costs the game. A fixed time is to be
        used, so half of one does: what is too long once is too short the next time.
        """
        lag = min(self._lag(result) or 0.0, LONGEST_MARGIN)
        return lag if self._limits.manager is not None else lag / 2

    def _note_pause(self) -> None:
        now = time.perf_counter()
        self._longest_pause = max(self._longest_pause, now - self._looked_at)
        self._looked_at = now

    def _lag(self, result: SearchResult) -> float | None:
        """Seconds that a batch takes; None if there was none.

        Looks come between batches: where most positions are cached and batches are rare, one takes
        no longer than the longest pause.
        """
        lag = batch_seconds(result, self._threads)
        return None if lag is None else min(lag, self._longest_pause)

    def _lag_to_keep(self, result: SearchResult) -> float:
        """An old one fades if batches were quicker since; without any it stays."""
        lag, before = self._lag(result), self._before.lag
        if lag is None:
            return before
        if not result.counters["simulations"]:
            # The root alone, perhaps by a cold network: no more than a bound for a whole batch.
            lag = min(lag * self._leaves, before)
        return max(lag, before / 2)


def simulations_of(result: SearchResult, kept: int) -> int:
    """Of this search; where the core does not count yet, the root's visits are the measure."""
    return max(int(result.counters["simulations"]), result.root_visits - kept)


def depth_of(result: SearchResult) -> int:
    """Mean depth of the simulations, in plies, or what the expected line lets one think."""
    mean = float(result.counters["mean_depth"])
    line = len(result.pv) if not result.counters["max_depth"] else 0
    return max(1, round(mean) if mean > 0 else (line + 1) // 2)


def batch_seconds(result: SearchResult, threads: int) -> float | None:
    """How long a thread takes for one batch, on average; None before the first."""
    batches = int(result.counters["batches"])
    return result.seconds * min(threads, batches) / batches if batches else None
