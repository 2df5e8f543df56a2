"""Standard output as several threads write to it: whole lines, at once."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import BinaryIO


class Writer:
    """`closed` is true when nobody reads any more."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._lock = threading.Lock()
        self.closed = False

    def say(self, line: str) -> None:
        """One line."""
        self.say_all((line,))

    def say_all(self, lines: Iterable[str]) -> None:
        """Lines that belong together: no other thread's line comes between them."""
        data = "".join(line + "\n" for line in lines).encode("ascii", "replace")
        with self._lock:
            if self.closed or not data:
                return
            try:
                self._stream.write(data)
                self._stream.flush()
            except (OSError, ValueError):
                self.closed = True
