"""A column that grows at one end and shrinks at the other, always in one piece of memory."""

from __future__ import annotations

import numpy as np

from zermelo.replay.columns import Array

SLACK = 8  # a new piece has room for one part in so many more


class GrowingColumn:
    """Numbers, or rows of `width` numbers. Nothing that `live` showed is ever written to again."""

    def __init__(self, dtype: str, width: int | None = None) -> None:
        self._shape = () if width is None else (width,)
        self._data = np.empty((0, *self._shape), dtype)
        self._start = 0
        self._stop = 0

    def __len__(self) -> int:
        """Rows that are here."""
        return self._stop - self._start

    def live(self) -> Array:
        """They, as a view."""
        return self._data[self._start : self._stop]

    def append(self, rows: Array) -> None:
        """At the new end. Pages of memory behind it are not touched before they are needed."""
        needed = self._stop + len(rows)
        if needed > len(self._data):
            live = self.live()
            needed = len(live) + len(rows)
            data = np.empty((needed + needed // SLACK, *self._shape), self._data.dtype)
            data[: len(live)] = live
            self._start, self._stop, self._data = 0, len(live), data
        self._data[self._stop : self._stop + len(rows)] = rows
        self._stop += len(rows)

    def drop(self, count: int) -> None:
        """At the old end; their memory is given back when the column next grows."""
        self._start += count
