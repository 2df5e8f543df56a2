"""Two processes that talk in lines of JSON over pipes.

At each end one thread receives; any thread sends or hangs up.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import threading
from typing import Any

Message = dict[str, Any]
BLOCK = 1 << 16
NONE = -1  # no descriptor: the system refuses to use it


class Channel:
    """Sends and receives messages; `closed` once the other end is known to have gone.

    What it said before it went is still received.
    """

    def __init__(self, read_from: int, write_to: int) -> None:
        """Takes over two file descriptors."""
        self.read_from = read_from
        self.write_to = write_to
        self.closed = False
        self._ended = False  # nothing more can be read
        self._buffer = b""
        self._received: list[Message] = []
        self._writing = threading.RLock()  # a signal's handler may close what its thread writes to

    def send(self, message: Message) -> None:
        """Whole or, if the other end has gone, not at all."""
        data = memoryview((json.dumps(message) + "\n").encode())
        with self._writing:
            try:
                while data:
                    data = data[os.write(self.write_to, data) :]
            except OSError:
                self.closed = True

    def receive(self, timeout: float | None = 0.0) -> Message | None:
        """The next message; None if none comes within the seconds (None: for ever) or at all."""
        while not self._received and not self._ended:
            ready, _, _ = select.select([self.read_from], [], [], timeout)
            if not ready:
                return None
            self._read()
        return self._received.pop(0) if self._received else None

    def hang_up(self) -> None:
        """Nothing more will be sent; the other end notices and may still answer."""
        with self._writing:
            descriptor, self.write_to = self.write_to, NONE
            if descriptor != NONE:
                with contextlib.suppress(OSError):
                    os.close(descriptor)

    def close(self) -> None:
        """Closes both descriptors; by the thread that receives."""
        self.closed = self._ended = True
        self.hang_up()
        descriptor, self.read_from = self.read_from, NONE
        if descriptor != NONE:
            with contextlib.suppress(OSError):
                os.close(descriptor)

    def _read(self) -> None:
        try:
            data = os.read(self.read_from, BLOCK)
        except OSError:
            data = b""
        if not data:
            self.closed = self._ended = True
            return
        *lines, self._buffer = (self._buffer + data).split(b"\n")
        for line in lines:
            try:
                message = json.loads(line)
            except ValueError:  # the end of what a killed process wrote
                continue
            if isinstance(message, dict):
                self._received.append(message)
