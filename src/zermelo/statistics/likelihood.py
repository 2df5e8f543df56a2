"""How well counted results agree with a supposed mean score.

Results fall into a few classes (loss, draw, win; or the five results of a pair of games), each with
a value between 0 and 1 points per game. Among all distributions over the classes with a given mean
the most likely one tilts the observed shares p:

    q(i) = p(i) / (1 + theta * (value(i) - mean))

with the theta that gives the mean. The *drop* is the log-likelihood lost by that constraint, in
natural logarithms. Interval and sequential test both rest on it. Knows neither games nor Elo.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

_HALVINGS = 50  # of the range of theta or of the tilt
_STEEPEST = 60.0  # largest |tilt|: odds of e^60


def drop(counts: ArrayLike, values: ArrayLike, mean: ArrayLike) -> NDArray[np.float64]:
    """Log-likelihood lost by supposing the mean; 0 where it is the observed one.

    Counts are [..., classes], values [classes] in rising order, means [...] strictly between the
    first and the last value. A class that never came may still be part of the most likely
    distribution: theta then stands at the end of its range and the class gets what is left over.
    """
    counts = np.asarray(counts, np.float64)
    distance = np.asarray(values, np.float64) - np.asarray(mean, np.float64)[..., None]
    counts, distance = np.broadcast_arrays(counts, distance)
    low, high = -1.0 / distance[..., -1], -1.0 / distance[..., 0]
    seen = counts > 0
    for _ in range(_HALVINGS):
        theta = (low + high) / 2
        weights = np.where(seen, 1.0 + theta[..., None] * distance, 1.0)
        too_small = (counts * distance / weights).sum(-1) > 0
        low, high = np.where(too_small, theta, low), np.where(too_small, high, theta)
    weights = np.where(seen, 1.0 + ((low + high) / 2)[..., None] * distance, 1.0)
    lost: NDArray[np.float64] = (counts * np.log(weights)).sum(-1)
    return lost


def means_within(
    counts: ArrayLike, values: ArrayLike, most: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The smallest and the largest mean whose drop is at most `most`.

    Counts are [..., classes] and above 0, values [classes] from 0 to 1; the means are [...].
    """
    counts, values = np.asarray(counts, np.float64), np.asarray(values, np.float64)
    return _mean_at(counts, values, most, 1.0), _mean_at(counts, values, most, -1.0)


def _mean_at(
    counts: NDArray[np.float64], values: NDArray[np.float64], most: float, direction: float
) -> NDArray[np.float64]:
    """Where the drop reaches `most`, towards smaller means (1) or larger ones (-1)."""
    low = np.zeros(counts.shape[:-1])
    high = np.full(counts.shape[:-1], _STEEPEST)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        near = _tilted(counts, values, direction * middle)[1] < most
        low, high = np.where(near, middle, low), np.where(near, high, middle)
    return _tilted(counts, values, direction * low)[0]


def _tilted(
    counts: NDArray[np.float64], values: NDArray[np.float64], tilt: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and drop of a tilted distribution.

    With 1 + theta * (value - mean) written as scale * (1 + (e^tilt - 1) * value) both follow from
    the tilt without solving anything.
    """
    weights = 1.0 + np.expm1(tilt)[..., None] * values
    shares = counts / weights
    total = shares.sum(-1)
    scale = total / counts.sum(-1)
    lost = (counts * np.log(scale[..., None] * weights)).sum(-1)
    return (shares @ values) / total, lost
