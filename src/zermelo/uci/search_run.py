"""The lines of one `go`: what is said while it is thought about, and the `bestmove`.

Owner: the searching thread. Whatever fails, a legal move comes out: the best so far, else the one
of the highest prior, else the first.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from typing import Any

from zermelo.players.levels import chosen_action
from zermelo.search import LiveSearch, SearchResult
from zermelo.search.thinking import Memory, Thinking
from zermelo.uci.protocol import printable
from zermelo.uci.report import Figures, figures, info_lines, move_stats
from zermelo.uci.running import Running, limits_of
from zermelo.uci.writer import Writer

FIRST_PAUSE, LONGEST_PAUSE = 0.05, 1.0  # seconds between `info` lines: a tenth of the time so far


class SearchRun:
    """The search of one `go` at the position where the board stands."""

    def __init__(
        self,
        writer: Writer,
        running: Running,
        live: LiveSearch,
        allowed: Sequence[int],
        before: Memory,
        hits: Callable[[], int],
        chance: random.Random,
    ) -> None:
        """`before` is what the last move's search left; `hits` counts those of tablebases.

        `chance` decides what an engine of limited strength plays.
        """
        self._writer = writer
        self._running = running
        self._live = live
        self._allowed = allowed
        self._hits = hits
        self._chance = chance
        self._played: int | None = None  # known at the end
        game: Any = live.game
        state = live.state
        self._choices = allowed or game.legal_actions(state)
        self._limits = limits_of(
            running.go,
            running.settings,
            white=game.player(state) == 0,
            ply=game.ply(state),
            expected=before.value,
            forced=len(self._choices) == 1,
            lag=before.lag,
        )
        self._thinking = Thinking(
            live,
            self._limits,
            running,
            before,
            allowed,
            began=self._say_limits if running.debug else None,
            watch=self._say_sometimes,
        )
        self._said_at = 0.0  # seconds since `go`, of the last `info`
        self._said_best: int | None = None

    @property
    def memory(self) -> Memory:
        """What is left to the next move's search."""
        return self._thinking.memory()

    def bestmove(self) -> str:
        """Searches and reports; the line that answers the `go`."""
        try:
            self._thinking.run()
        except Exception as error:
            self._comment(f"error {error}")
        result = self._thinking.result
        if result is None or not len(result.actions):
            return f"bestmove {self._live.game.action_text(self._live.state, self._choices[0])}"
        level = self._running.level
        self._played = result.best_action
        if level is not None:
            self._played = chosen_action(result, level, self._chance, self._allowed)
        self._say(result, self._figures(result), self._running.settings["VerboseMoveStats"])
        row = result.row(result.actions.tolist().index(self._played))
        reply = f" ponder {row.pv[1]}" if len(row.pv) > 1 else ""
        return f"bestmove {row.text}{reply}"

    def _comment(self, text: str) -> None:
        self._writer.say(f"info string {printable(text)}")

    def _say_limits(self) -> None:
        self._comment(f"debug {self._thinking.kept} visits kept, {self._limits}")

    def _say_sometimes(self, result: SearchResult) -> None:
        """More often at first, and when the best move changes."""
        run = self._figures(result)
        pause = min(max(run.seconds * 0.1, FIRST_PAUSE), LONGEST_PAUSE)
        changed = result.best_action != self._said_best
        if run.seconds - self._said_at < (FIRST_PAUSE if changed else pause) and self._said_at:
            return
        self._said_at, self._said_best = run.seconds, result.best_action
        self._say(result, run, self._running.settings["LogLiveStats"])

    def _say(self, result: SearchResult, run: Figures, stats: bool) -> None:
        lines = info_lines(result, run, self._running.settings, self._allowed, self._played)
        if stats:
            lines += move_stats(result, self._live.options)
        self._writer.say_all(lines)

    def _figures(self, result: SearchResult) -> Figures:
        cache = self._live.cache
        return figures(
            result,
            seconds=time.perf_counter() - self._running.received,
            visits_before=self._thinking.kept,
            hashfull=int(cache.permille_full) if cache is not None else 0,
            tbhits=self._hits(),
        )
