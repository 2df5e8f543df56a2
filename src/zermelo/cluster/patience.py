"""Says once that nobody has begun to play, which Ray never does: it waits for cores without end."""

from __future__ import annotations

import time
from collections.abc import Callable

LONG = 30.0  # seconds


class Patience:
    """With those who were asked to play. Used by one thread."""

    def __init__(self, report: Callable[[str], None]) -> None:
        self._report: Callable[[str], None] | None = report
        self._since: float | None = None  # the first look

    def look(self) -> None:
        """Nobody has answered yet; called now and then."""
        now = time.monotonic()
        self._since = now if self._since is None else self._since
        if self._report is not None and now - self._since > LONG:
            self._report(
                f"nobody has begun for {LONG:.0f} s: another command may have the cluster's cores"
            )
            self._report = None

    def heard(self) -> None:
        """Somebody has answered."""
        self._report = None
