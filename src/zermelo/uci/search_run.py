"""The search of one `go`: runs it, reports on it, and makes its last lines.

Owner: the searching thread. Whatever fails, a legal move comes out: the best so far, else the one
of the highest prior, else the first.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from zermelo.games.protocol import State
from zermelo.search import Search, SearchResult
from zermelo.uci.protocol import printable
from zermelo.uci.report import Figures, figures, info_lines, move_stats
from zermelo.uci.running import Limits, Running
from zermelo.uci.writer import Writer

UNLIMITED = 2**62  # simulations
LONGEST_MARGIN = 0.05  # seconds that a search ends before its time, for the batch under way
FIRST_PAUSE, LONGEST_PAUSE = 0.05, 1.0  # seconds between `info` lines: a tenth of the time so far


@dataclass(frozen=True)
class Memory:
    """What one search leaves to that of the next move."""

    value: float | None = None  # of the move that was played
    lag: float = 0.0  # seconds that a batch takes


class SearchRun:
    """The search of one `go`: runs it, reports, and makes its last lines."""

    def __init__(
        self,
        writer: Writer,
        running: Running,
        search: Search,
        state: State,
        allowed: list[int],
        before: Memory,
        hits: Callable[[], int],
    ) -> None:
        """`before` is what the last move's search left; `hits` counts those of tablebases."""
        self.memory = before
        self._writer = writer
        self._running = running
        self._search = search
        self._game: Any = search.game
        self._state = state
        self._allowed = allowed
        self._hits = hits
        choices = allowed or self._game.legal_actions(state)
        self._limits = Limits(
            running.go,
            running.settings,
            white=self._game.player(state) == 0,
            ply=self._game.ply(state),
            expected=before.value,
            forced=len(choices) == 1,
            lag=before.lag,
        )
        self._threads = int(search.options.threads)
        self._cache_bytes = int(self._search.options.cache_mib) << 20
        self._result: SearchResult | None = None  # the newest
        self._visits_before = 0
        self._said_at = 0.0  # seconds since `go`, of the last `info`
        self._said_best: int | None = None

    def bestmove(self) -> str:
        """Searches and reports; the line that answers the `go`."""
        try:
            self._search_on()
        except Exception as error:
            self._comment(f"error {error}")
        result = self._result
        if result is None or not len(result.actions):
            return f"bestmove {self._text(self._first_legal())}"
        run = self._figures(result)
        lag = batch_seconds(result, run.seconds, self._threads)
        self.memory = Memory(float(result.best.q), max(lag, self.memory.lag / 2))
        lines = info_lines(result, run, self._running.settings, self._allowed)
        if self._running.settings["VerboseMoveStats"]:
            lines += move_stats(result, self._search.options)
        self._writer.say_all(lines)
        pv = result.pv
        reply = f" ponder {pv[1]}" if len(pv) > 1 else ""
        return f"bestmove {result.best.text}{reply}"

    def _search_on(self) -> None:
        running, limits = self._running, self._limits
        running.begin(self._search.stop, limits)
        self._visits_before = 0
        # Makes the root known, and with it how many visits its tree already has.
        self._result = self._search.run(self._state, 0, allowed=self._allowed)
        self._visits_before = self._result.root_visits
        if running.stopped.is_set():
            return
        simulations = UNLIMITED
        if limits.nodes is not None and not running.pondering:
            simulations = limits.nodes - self._visits_that_count(self._result)
        if running.debug:
            self._comment(f"debug {self._visits_before} visits kept, {limits}")
        if simulations <= 0 or (limits.instant and not running.pondering):
            return
        self._result = self._search.run(
            self._state, simulations, allowed=self._allowed, progress=self._progress
        )

    def _visits_that_count(self, result: SearchResult) -> int:
        """The root's; of a restricted search its own moves' only."""
        if not self._allowed:
            return result.root_visits
        pairs = zip(result.actions.tolist(), result.visits.tolist(), strict=True)
        return 1 + sum(int(visits) for action, visits in pairs if action in self._allowed)

    def _comment(self, text: str) -> None:
        self._writer.say(f"info string {printable(text)}")

    def _progress(self, result: SearchResult) -> None:
        """Comes about fifty times a second, in the searching thread."""
        self._result = result
        running = self._running
        if running.stopped.is_set():
            self._search.stop()
            return
        run = self._figures(result)
        enough = self._limits.too_large(result, self._cache_bytes)
        if not running.pondering:
            elapsed = running.elapsed
            enough |= self._limits.reached(result, elapsed, run.depth, run.simulations)
            if 2 * elapsed > (self._limits.most_seconds or math.inf):
                running.end_earlier(batch_seconds(result, run.seconds, self._threads))
        if enough:
            self._search.stop()
            return
        self._say_sometimes(result, run)

    def _say_sometimes(self, result: SearchResult, run: Figures) -> None:
        """More often at first, and when the best move changes."""
        pause = min(max(run.seconds * 0.1, FIRST_PAUSE), LONGEST_PAUSE)
        changed = result.best_action != self._said_best
        if run.seconds - self._said_at < (FIRST_PAUSE if changed else pause) and self._said_at:
            return
        self._said_at, self._said_best = run.seconds, result.best_action
        lines = info_lines(result, run, self._running.settings, self._allowed)
        if self._running.settings["LogLiveStats"]:
            lines += move_stats(result, self._search.options)
        self._writer.say_all(lines)

    def _figures(self, result: SearchResult) -> Figures:
        cache = self._search.cache
        return figures(
            result,
            seconds=time.perf_counter() - self._running.received,
            visits_before=self._visits_before,
            hashfull=int(cache.permille_full) if cache is not None else 0,
            tbhits=self._hits(),
        )

    def _first_legal(self) -> int:
        return int((self._allowed or self._game.legal_actions(self._state))[0])

    def _text(self, action: int) -> str:
        return str(self._game.action_text(self._state, action))


def batch_seconds(result: SearchResult, seconds: float, threads: int) -> float:
    """How long a thread takes for one batch; 0 while there are too few to tell."""
    batches = int(result.counters["batches"])
    return min(seconds * threads / batches, LONGEST_MARGIN) if batches >= 4 * threads else 0.0
