"""The metrics of a run: one JSON object per iteration in metrics.jsonl, and TensorBoard events.

Yardsticks that end after their iteration's line was written may add a line of their own, with
"evaluate" alone; readers see one object all the same.

The JSONL file is the record; TensorBoard is written beside it where it is installed. Needs no
torch to read.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from zermelo.checkpoint.manifest import plain
from zermelo.errors import UserError
from zermelo.files import read_plain, write_whole
from zermelo.train.events import EventFile

METRICS_FILE = "metrics.jsonl"
LATE = "evaluate"  # what may come in a line of its own


def read_metrics(directory: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """The objects of a run's metrics directory, oldest first; lines that are torn are left out.

    Late yardsticks are put into their iteration's object; without one they are left out.
    """
    found: list[dict[str, Any]] = []
    try:
        entries = [entry for entry, _ in _lines(Path(directory) / METRICS_FILE)]
    except OSError:  # what cannot be read says nothing
        return found
    for entry in entries:
        if entry.keys() - {"time"} != {"iteration", LATE}:
            found.append(entry)
            continue
        for earlier in reversed(found):
            if earlier["iteration"] == entry["iteration"]:
                earlier[LATE] = {**(earlier.get(LATE) or {}), **(entry[LATE] or {})}
                break
    return found


def _lines(path: Path) -> Iterator[tuple[dict[str, Any], bytes]]:
    """Each whole line: its object and its bytes."""
    try:
        data = read_plain(path)
    except FileNotFoundError:
        return
    for line in data.splitlines(keepends=True):
        if not line.endswith(b"\n"):
            return
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            continue
        numbered = isinstance(entry, dict) and type(entry.get("iteration")) is int
        if numbered and isinstance(entry.get(LATE), dict | None):
            yield entry, line


class MetricsWriter:
    """Appends to a run's metrics. One process writes, any number may read.

    `last` is the iteration of the checkpoint that the run goes on from: lines of later iterations
    are dropped, as they will come again (-1 drops all, None keeps all). `report` takes sentences.
    """

    def __init__(
        self,
        directory: str | os.PathLike[str],
        last: int | None = None,
        *,
        tensorboard: bool = True,
        report: Callable[[str], None] | None = None,
    ) -> None:
        self.directory = Path(directory)
        self.path = self.directory / METRICS_FILE
        self._report = report or (lambda _: None)
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
            self._tidy(last)
            self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        except OSError as error:
            raise UserError(
                f"metrics cannot be written to '{self.path}': {error.strerror}"
            ) from error
        self._lost_events = False  # as by a full disk: tried again with the next line
        self._events: EventFile | None = None
        if tensorboard:
            self._events = self._open_events(last)

    def write(self, iteration: int, metrics: Mapping[str, Any]) -> None:
        """One iteration, or later its "evaluate" alone; what is not finite becomes null."""
        entry = plain({"iteration": iteration, "time": round(time.time(), 3), **metrics})
        line = json.dumps(entry, allow_nan=False, separators=(",", ":")).encode() + b"\n"
        before = os.fstat(self._file).st_size
        try:
            written = os.write(self._file, line)
            if written != len(line):
                os.write(self._file, line[written:])  # says why it did not fit
            os.fsync(self._file)
        except OSError as error:
            os.ftruncate(self._file, before)
            raise UserError(
                f"metrics cannot be written to '{self.path}': {error.strerror}"
            ) from error
        self._write_events(iteration, entry)

    def close(self) -> None:
        """Ends both files; calling it twice does no harm."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
        self._close_events()

    def __enter__(self) -> MetricsWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _tidy(self, last: int | None) -> None:
        """Drops what a crash left and what the run will do again; the file is replaced whole."""
        if not self.path.exists():
            return
        kept = [
            line for entry, line in _lines(self.path) if last is None or entry["iteration"] <= last
        ]
        if sum(map(len, kept)) != self.path.stat().st_size:
            write_whole(self.path, *kept)

    # ---- TensorBoard ----------------------------------------------------------------------------

    def _open_events(self, last: int | None) -> EventFile | None:
        # Events from that step on, of earlier files, are not shown.
        purge = None if last is None else last + 1
        try:
            return EventFile(self.directory, purge)
        except ImportError:
            self._report("tensorboard is not installed, so metrics go to metrics.jsonl alone")
        except OSError as error:
            self._lose_events(error.strerror or str(error))
        return None

    def _lose_events(self, reason: str) -> None:
        if not self._lost_events:
            self._report(f"TensorBoard's events cannot be written for now: {reason}")
        self._lost_events = True
        self._close_events()

    def _close_events(self) -> None:
        events, self._events = self._events, None
        if events is not None:
            events.close()

    def _write_events(self, iteration: int, entry: Mapping[str, Any]) -> None:
        if self._events is None and self._lost_events:
            self._events = self._open_events(None)
        if self._events is None:
            return
        try:
            self._events.write(iteration, dict(_scalars(entry)))
        except OSError as error:
            self._lose_events(error.strerror or str(error))
            return
        if self._lost_events:
            self._lost_events = False
            self._report("TensorBoard's events are written again")


def _scalars(entry: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, float]]:
    """Numbers by tag: a nested table's name and a slash come before its own."""
    for name, value in entry.items():
        if isinstance(value, Mapping):
            yield from _scalars(value, f"{prefix}{name}/")
        elif isinstance(value, int | float) and name not in ("iteration", "time"):
            yield f"{prefix}{name}", float(value)
