"""`TurnClock`: the time of one move, when it began to run, when it is over, and who ends it early.

Any thread may call `stop` and `ponderhit`, a timer ends the search too; the searching thread does
everything else. All times are seconds of `time.perf_counter()`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from zermelo.search.time_management import is_forever


class TurnClock:
    """`stopped` is set once and stays so, also by a stop before the search begins."""

    def __init__(self, received: float, pondering: bool = False) -> None:
        """`received` is when the move was asked for; `pondering`: the opponent's time runs."""
        self.received = received  # constant
        self.stopped = threading.Event()  # set by any thread
        self._lock = threading.Lock()
        # Guarded by the lock.
        self._pondering = pondering
        self._clock_from = received  # when our own time began to run
        self._end_search: Callable[[], None] | None = None
        self._timer: threading.Timer | None = None
        self._seconds: float | None = None  # from then until the time is over
        self._margin = 0.0  # seconds before that

    # Any thread.

    def stop(self) -> None:
        """Ends the search."""
        self.stopped.set()
        self._end()

    def ponderhit(self) -> bool:
        """The expected action was played, our time runs from now on; False if it already did."""
        with self._lock:
            if not self._pondering:
                return False
            self._pondering = False
            self._clock_from = time.perf_counter()
            self._start_timer()
        return True

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

    def begin(self, end_search: Callable[[], None], most_seconds: float | None) -> None:
        """The search is about to run; `end_search` may be called by any thread."""
        with self._lock:
            self._end_search = end_search
            self._seconds = most_seconds
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

    # Within.

    def _start_timer(self) -> None:
        if self._seconds is None or is_forever(self._seconds):
            return
        left = self._clock_from + self._seconds - self._margin - time.perf_counter()
        self._timer = threading.Timer(max(left, 0.0), self._end)
        self._timer.daemon = True
        self._timer.start()

    def _end(self) -> None:
        with self._lock:
            end = self._end_search
        if end is not None:
            end()
