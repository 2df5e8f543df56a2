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
from zermelo.uci.running import Limits, Running, visits_that_count
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
        self._leaves = int(search.options.leaves_per_tree)
        self._cache_bytes = int(self._search.options.cache_mib) << 20
        self._result: SearchResult | None = None  # the newest
        self._visits_before = 0
        self._pondered = 0  # simulations on the opponent's time
        self._looked_at = 0.0  # seconds of time.perf_counter(), of the last look at the search
        self._longest_pause = 0.0  # seconds between two looks
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
        self.memory = Memory(float(result.best.q), self._lag_to_keep(result))
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
        self._looked_at = time.perf_counter()
        self._result = self._search.run(self._state, 0, allowed=self._allowed)
        self._note_pause()
        self._visits_before = self._result.root_visits
        if running.stopped.is_set():
            return
        simulations = UNLIMITED
        if limits.nodes is not None and not running.pondering:
            simulations = limits.nodes - visits_that_count(self._result, self._allowed)
        if running.debug:
            self._comment(f"debug {self._visits_before} visits kept, {limits}")
        if simulations <= 0 or (limits.instant and not running.pondering):
            return
        self._result = self._search.run(
            self._state, simulations, allowed=self._allowed, progress=self._progress
        )
        self._note_pause()

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
        lag, before = self._lag(result), self.memory.lag
        if lag is None:
            return before
        if not result.counters["simulations"]:
            # The root alone, perhaps by a cold network: no more than a bound for a whole batch.
            lag = min(lag * self._leaves, before)
        return max(lag, before / 2)

    def _comment(self, text: str) -> None:
        self._writer.say(f"info string {printable(text)}")

    def _progress(self, result: SearchResult) -> None:
        """Comes about fifty times a second, in the searching thread."""
        self._result = result
        self._note_pause()
        running = self._running
        if running.stopped.is_set():
            self._search.stop()
            return
        run = self._figures(result)
        enough = self._limits.too_large(result, self._cache_bytes)
        if running.pondering:
            self._pondered = run.simulations
        else:
            elapsed, simulations = running.elapsed, run.simulations - self._pondered
            enough |= self._limits.reached(result, elapsed, run.depth, simulations, self._allowed)
            if 2 * elapsed > (self._limits.most_seconds or math.inf):
                running.end_earlier(min(self._lag(result) or 0.0, LONGEST_MARGIN))
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


def batch_seconds(result: SearchResult, threads: int) -> float | None:
    """How long a thread takes for one batch, on average; None before the first."""
    batches = int(result.counters["batches"])
    return result.seconds * min(threads, batches) / batches if batches else None
