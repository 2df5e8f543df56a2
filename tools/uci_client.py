"""An engine process and a clock: what the UCI tools share.

Lines are bytes on the way in, so that anything can be sent; every line that comes back carries the
moment at which it came.
"""

from __future__ import annotations

import queue
import subprocess
import sys
import threading
import time
from collections.abc import Sequence


class Client:
    """An engine that is being talked to. `spoken` are the lines that nobody has asked for yet."""

    def __init__(self, arguments: Sequence[str] = ()) -> None:
        self.started = time.perf_counter()
        command = [sys.executable, "-m", "zermelo.uci", *arguments]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._spoken: queue.SimpleQueue[tuple[float, str] | None] = queue.SimpleQueue()
        threading.Thread(target=self._listen, daemon=True).start()

    def send(self, line: str | bytes) -> float:
        """Sends a line; the moment at which that was done."""
        data = line.encode() if isinstance(line, str) else line
        assert self._process.stdin is not None
        self._process.stdin.write(data + b"\n")
        self._process.stdin.flush()
        return time.perf_counter()

    def until(self, start: str, seconds: float = 60.0) -> tuple[float, list[str]]:
        """Waits for a line that starts so; when it came, and all lines up to it."""
        lines: list[str] = []
        deadline = time.perf_counter() + seconds
        while True:
            try:
                found = self._spoken.get(timeout=max(deadline - time.perf_counter(), 0.001))
            except queue.Empty:
                raise TimeoutError(f"no '{start}' within {seconds} s") from None
            if found is None:
                raise EOFError(f"the engine ended before '{start}'")
            lines.append(found[1])
            if found[1].startswith(start):
                return found[0], lines

    def end_of_input(self, seconds: float = 5.0) -> tuple[float, int, list[str]]:
        """Closes the engine's input: seconds until it ended, its exit code, its last lines."""
        assert self._process.stdin is not None
        closed = time.perf_counter()
        self._process.stdin.close()
        try:
            code = self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return seconds, -1, []
        ended = time.perf_counter() - closed
        lines = []
        while (found := self._spoken.get(timeout=seconds)) is not None:
            lines.append(found[1])
        return ended, code, lines

    @property
    def pid(self) -> int:
        """The engine's process."""
        return self._process.pid

    def kill(self) -> None:
        """Ends the process at once."""
        self._process.kill()
        self._process.wait()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._spoken.put((time.perf_counter(), line.decode("utf-8", "replace").rstrip("\n")))
        self._spoken.put(None)
