"""A run's metrics as viewers want them: series by tag, read on from where the last look ended.

Owns the reading of a file that grows. A look takes as long as it is given, so that a long run shows
its beginning at once and is complete after a few looks. What is odd in the file is left out. Does
not know what the figures mean.
"""

from __future__ import annotations

import json
import math
import os
import time
from pathlib import Path
from typing import Any

from zermelo.files import open_plain
from zermelo.runs.series import Series
from zermelo.train.metrics import LATE, METRICS_FILE

CHUNK = 1 << 20  # bytes that are read at once
LONGEST_LINE = 32 << 20  # bytes; a longer one is none of ours
MOST_TAGS = 2000
DEEPEST = 8  # tables within tables
NOT_SHOWN = ("iteration", "time")


class Figures:
    """The figures of one run's metrics directory. One thread at a time."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / METRICS_FILE
        self._begin()

    def _begin(self) -> None:
        self.series: dict[str, Series] = {}  # by tag: the names of nested tables, with slashes
        self.last: dict[str, Any] = {}  # the newest iteration's object
        self.evaluated: dict[str, Any] = {}  # the newest yardsticks, with their "iteration"
        self.lines = 0
        self.odd = 0  # lines that mean nothing
        self.iteration = 0
        self.unread = 0  # bytes that the last look did not come to
        self._inode = 0
        self._offset = 0  # in the file
        self._rest = b""  # a line whose end is not there yet

    def look(self, seconds: float = 0.2) -> bool:
        """Reads on for about so long; whether anything is new. See `unread`."""
        until = time.monotonic() + seconds
        try:
            file = open_plain(self.path)
        except OSError:
            changed = self.lines > 0
            self._begin()
            return changed
        with file:
            status = os.fstat(file.fileno())
            changed = False
            if status.st_ino != self._inode or status.st_size < self._offset:
                changed = self.lines > 0  # a run that goes on drops lines by a new file
                self._begin()
                self._inode = status.st_ino
            file.seek(self._offset)
            while chunk := file.read(CHUNK):
                self._offset += len(chunk)
                changed |= self._take(chunk)
                if time.monotonic() >= until:
                    break
            self.unread = max(0, status.st_size - self._offset)
        return changed

    def points(self, tag: str, most: int) -> dict[str, list[float]] | None:
        """Of a series; None if there is none of that name."""
        found = self.series.get(tag)
        return None if found is None else found.points(most)

    def _take(self, chunk: bytes) -> bool:
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        if len(self._rest) > LONGEST_LINE:
            self._rest = b""
        for line in lines:
            self._take_line(line)
        return bool(lines)

    def _take_line(self, line: bytes) -> None:
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            entry = None
        iteration = entry.get("iteration") if isinstance(entry, dict) else None
        if type(iteration) is not int or not 0 <= iteration < 1 << 53:
            self.odd += 1
            return
        self.lines += 1
        self.iteration = iteration
        late = entry.get(LATE)
        if isinstance(late, dict):
            self.evaluated = late | {"iteration": iteration}
        if entry.keys() - {"time"} != {"iteration", LATE}:
            self.last = entry
        self._add(entry, "", float(iteration), 0)

    def _add(self, table: dict[str, Any], prefix: str, x: float, depth: int) -> None:
        for name, value in table.items():
            kind = type(value)
            if kind is dict:
                if depth < DEEPEST:
                    self._add(value, f"{prefix}{name}/", x, depth + 1)
            elif kind is float or kind is int:
                try:
                    number = float(value)
                except OverflowError:
                    continue
                if not math.isfinite(number) or (not prefix and name in NOT_SHOWN):
                    continue
                series = self.series.get(prefix + name)
                if series is None:
                    if len(self.series) >= MOST_TAGS:
                        continue
                    series = self.series[prefix + name] = Series()
                series.add(x, number)
