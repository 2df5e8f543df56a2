"""The runs that the page may show, by id, and the room that looking at them takes.

Owns the views of runs that were looked at lately and the bounds on what is slow: judging positions
by checkpoints, thorough examinations. Threads: any may call anything.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from zermelo.errors import UserError
from zermelo.runs.shelf import RunRow, Shelf
from zermelo.web.refusal import Refusal
from zermelo.web.training.run_view import RunView

KEPT_VIEWS = 24  # runs whose figures stay in memory
WAITING = 16  # callers who may wait for something slow
PATIENCE = 20.0  # seconds that one of them waits
RETRY = 2.0


class Library:
    """Looked up by id; an id is from the list or unknown."""

    def __init__(self, directories: Sequence[Path]) -> None:
        self._shelf = Shelf(directories)
        self._lock = threading.Lock()  # of the shelf and the views
        self._views: OrderedDict[Path, RunView] = OrderedDict()
        self._slow = threading.Lock()
        self._waiting = threading.BoundedSemaphore(WAITING)

    def rows(self) -> list[RunRow]:
        """Every run as it is now, those under way first."""
        with self._lock:
            return self._shelf.rows()

    def paths(self) -> dict[str, Path]:
        """Where runs lie, by id."""
        with self._lock:
            return self._shelf.paths()

    def row(self, id_: str) -> RunRow:
        """One run; a Refusal if there is none of that id."""
        with self._lock:
            try:
                return self._shelf.row(id_)
            except UserError as error:
                raise Refusal(404, str(error)) from None

    def view(self, id_: str) -> RunView:
        """What is known of a run, kept for the next look."""
        path = self.row(id_).path
        with self._lock:
            view = self._views.pop(path, None) or RunView(path)
            self._views[path] = view
            while len(self._views) > KEPT_VIEWS:
                self._views.popitem(last=False)
            return view

    @contextmanager
    def slowly(self) -> Iterator[None]:
        """One at a time does what takes long; too many who wait are told to come back."""
        if not self._waiting.acquire(blocking=False):
            raise Refusal(503, "too many are waiting for this", retry_after=RETRY)
        try:
            if not self._slow.acquire(timeout=PATIENCE):
                raise Refusal(503, "this takes too long at the moment", retry_after=RETRY)
            try:
                yield
            finally:
                self._slow.release()
        finally:
            self._waiting.release()
