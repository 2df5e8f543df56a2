"""Two processes that talk in lines of JSON over pipes. Used by one thread at each end."""

from __future__ import annotations

import contextlib
import json
import os
import select
from typing import Any

Message = dict[str, Any]
BLOCK = 1 << 16


class Channel:
    """Sends and receives messages; `closed` once the other end has gone."""

    def __init__(self, read_from: int, write_to: int) -> None:
        """Takes over two file descriptors."""
        self.read_from = read_from
        self.write_to = write_to
        self.closed = False
        self._buffer = b""
        self._received: list[Message] = []

    def send(self, message: Message) -> None:
        """Whole or, if the other end has gone, not at all."""
        data = memoryview((json.dumps(message) + "\n").encode())
        try:
            while data:
                data = data[os.write(self.write_to, data) :]
        except OSError:
            self.closed = True

    def receive(self, timeout: float | None = 0.0) -> Message | None:
        """The next message; None if none comes within the seconds (None: for ever) or at all."""
        while not self._received and not self.closed:
            ready, _, _ = select.select([self.read_from], [], [], timeout)
            if not ready:
                return None
            self._read()
        return self._received.pop(0) if self._received else None

    def close(self) -> None:
        """Closes both descriptors; the other end notices."""
        self.closed = True
        for descriptor in (self.read_from, self.write_to):
            with contextlib.suppress(OSError):
                os.close(descriptor)

    def _read(self) -> None:
        try:
            data = os.read(self.read_from, BLOCK)
        except OSError:
            data = b""
        if not data:
            self.closed = True
            return
        *lines, self._buffer = (self._buffer + data).split(b"\n")
        for line in lines:
            try:
                message = json.loads(line)
            except ValueError:  # the end of what a killed process wrote
                continue
            if isinstance(message, dict):
                self._received.append(message)
