"""TensorBoard's event file, written in this thread: whoever writes hears of a full disk.

TensorBoard's own writer has a thread that dies of one. Needs tensorboard for the form of records.
"""

from __future__ import annotations

import io
import itertools
import os
import socket
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_numbers = itertools.count()  # of the files of this process


class EventFile:
    """One file of scalars. `purge` hides what earlier files have from that step on."""

    def __init__(self, directory: Path, purge: int | None = None) -> None:
        """An ImportError without tensorboard, an OSError where there is no room."""
        from tensorboard.compat.proto import (  # type: ignore[import-untyped]
            event_pb2,
            summary_pb2,
        )
        from tensorboard.summary.writer.record_writer import (  # type: ignore[import-untyped]
            RecordWriter,
        )

        self._events: Any = event_pb2
        self._summaries: Any = summary_pb2
        self._records: Any = RecordWriter
        name = f"events.out.tfevents.{int(time.time()):010d}.{socket.gethostname()}"
        self.path = directory / f"{name}.{os.getpid()}.{next(_numbers)}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        self._file = os.open(self.path, flags, 0o666)
        begin = [self._event(file_version="brain.Event:2")]
        if purge is not None:
            start = event_pb2.SessionLog(status=event_pb2.SessionLog.START)
            begin.append(self._event(step=purge, session_log=start))
        try:
            self._append(begin)
        except OSError:
            self.close()
            raise

    def write(self, step: int, scalars: Mapping[str, float]) -> None:
        """All of them or none."""
        events = []
        for tag, number in scalars.items():
            value = self._summaries.Summary.Value(tag=tag, simple_value=number)
            summary = self._summaries.Summary(value=[value])
            events.append(self._event(step=step, summary=summary))
        self._append(events)

    def close(self) -> None:
        """Calling it twice does no harm."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _event(self, **fields: Any) -> Any:
        return self._events.Event(wall_time=time.time(), **fields)

    def _append(self, events: list[Any]) -> None:
        data = io.BytesIO()
        for event in events:
            self._records(data).write(event.SerializeToString())
        before = os.fstat(self._file).st_size
        left = data.getvalue()
        try:
            while left:
                left = left[os.write(self._file, left) :]
        except OSError:
            os.ftruncate(self._file, before)
            raise
