"""`Listeners`: who wants to be told of something. Any thread may come and go; calls nobody."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

Listener = TypeVar("Listener")


class Listeners(Generic[Listener]):
    """Kept in the order in which they came."""

    def __init__(self) -> None:
        self.lock = threading.RLock()  # held by whoever needs nobody to come or go meanwhile
        self._present: dict[object, Listener] = {}  # guarded by the lock

    def add(self, listener: Listener) -> Callable[[], None]:
        """The return value takes it out again; more than once does no harm."""
        key = object()
        with self.lock:
            self._present[key] = listener

        def remove() -> None:
            with self.lock:
                self._present.pop(key, None)

        return remove

    def present(self) -> dict[object, Listener]:
        """Who is there now, each by a key of its own."""
        with self.lock:
            return dict(self._present)

    def clear(self) -> None:
        """All go."""
        with self.lock:
            self._present.clear()
