"""When a run ends early: Ctrl-C, a termination signal, or the time that was given is over."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM)
TIME_OVER = "the time is over"
INTERRUPTED = 130  # the exit code
SHOW_CURSOR = b"\x1b[?25h\n"  # which a live view hides


class StoppedError(Exception):
    """Leaves the loop; everything finished so far is on disk."""


class Stop:
    """Asked by the loop at every step. In a `with`, the first signal stops, the second kills.

    A handler may interrupt anything, also itself, so the first signal only sets a flag: `on_signal`
    runs at the next check. The second ends the process on the spot, after `on_kill`, which must not
    wait; what is being written then is left aside, as with any kill.
    """

    def __init__(self, seconds: float | None = None) -> None:
        self.deadline = None if seconds is None else time.monotonic() + seconds
        self.asked = ""  # why, once somebody did
        self.on_signal: Callable[[], None] = lambda: None
        self.on_kill: Callable[[], None] = lambda: None
        self._before: dict[int, Any] = {}
        self._told = False

    def request(self, reason: str) -> None:
        """Stops at the next check."""
        self.asked = self.asked or reason

    def check(self) -> None:
        """Raises StoppedError if somebody asked."""
        if not self.asked:
            return
        if self.interrupted and not self._told:
            self._told = True
            self.on_signal()
        raise StoppedError(self.asked)

    def check_time(self) -> None:
        """The same, and also when the time is over."""
        if self.deadline is not None and time.monotonic() >= self.deadline:
            self.request(TIME_OVER)
        self.check()

    def seconds_left(self) -> float | None:
        """Until the deadline; None without one."""
        return None if self.deadline is None else max(0.0, self.deadline - time.monotonic())

    @property
    def interrupted(self) -> bool:
        """Whether it was a signal."""
        return self.asked == "interrupted"

    def __enter__(self) -> Stop:
        if threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                self._before[number] = signal.signal(number, self._hear)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before.clear()

    def _hear(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        if not self.interrupted:
            self.asked = "interrupted"
            return
        try:
            self.on_kill()
            if os.isatty(2):
                os.write(2, SHOW_CURSOR)
        finally:
            os._exit(INTERRUPTED)
