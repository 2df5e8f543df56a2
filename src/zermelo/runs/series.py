"""One figure over the iterations of a run, kept small however long the run is.

Owns the thinning: neighbours are put together into groups, and each group keeps its mean, its
lowest and its highest value, so that no peak is lost. Knows no files and no names of figures.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST = 1024  # groups that are kept
TAIL = 2048  # single values that are kept before they are put into groups

Floats = NDArray[np.float64]


class Series:
    """Values in the order in which they came. `count` is how many there were."""

    def __init__(self) -> None:
        self.count = 0
        self._width = 1  # values to a group
        self._groups: Floats = np.zeros((5, 0))  # last x, sum, lowest, highest, number of values
        self._x: list[float] = []
        self._y: list[float] = []

    def add(self, x: float, y: float) -> None:
        """Both are finite."""
        self.count += 1
        self._x.append(x)
        self._y.append(y)
        if len(self._x) >= TAIL + self._width:
            self._fold()

    @property
    def last(self) -> float | None:
        """The newest value."""
        return self._y[-1] if self._y else None

    def points(self, most: int = MOST) -> dict[str, list[float]]:
        """At most so many groups: `x` (of the last value), `mean`, `low` and `high`."""
        groups = np.concatenate([self._groups, _single(self._x, self._y)], axis=1)
        if groups.shape[1] > most:
            groups = _merged(groups, -(-groups.shape[1] // most))
        x, total, low, high, number = groups
        return {
            "x": x.tolist(),
            "mean": (total / number).tolist(),
            "low": low.tolist(),
            "high": high.tolist(),
        }

    def _fold(self) -> None:
        """The older single values go into groups; the newest stays, whatever the width is."""
        whole = (len(self._x) - 1) // self._width * self._width
        new = _merged(_single(self._x[:whole], self._y[:whole]), self._width)
        del self._x[:whole], self._y[:whole]
        self._groups = np.concatenate([self._groups, new], axis=1)
        while self._groups.shape[1] > MOST:
            self._groups = _merged(self._groups, 2)
            self._width *= 2


def _single(x: list[float], y: list[float]) -> Floats:
    """Each value as a group of its own."""
    return np.array([x, y, y, y, [1.0] * len(x)])


def _merged(groups: Floats, number: int) -> Floats:
    """So many neighbours put together each; the last ones may be fewer."""
    starts = np.arange(0, groups.shape[1], number)
    x, total, low, high, count = groups
    found: list[Any] = [
        x[np.minimum(starts + number, len(x)) - 1],
        np.add.reduceat(total, starts),
        np.minimum.reduceat(low, starts),
        np.maximum.reduceat(high, starts),
        np.add.reduceat(count, starts),
    ]
    return np.array(found)
