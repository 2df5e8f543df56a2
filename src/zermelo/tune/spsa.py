"""SPSA: climbs a noisy function of many numbers by two looks at a time (Spall, 1992).

Every step moves all numbers at once, each up or down by chance, and compares the two ends; on
average the difference points uphill. Owns the schedule of the steps and what they say together.
Knows no games: a comparison is a number in [-1, 1].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Point = NDArray[np.float64]

ALPHA = 0.602  # how fast steps shrink ...
GAMMA = 0.101  # ... and how fast the two ends come together: Spall's exponents


@dataclass(frozen=True)
class Schedule:
    """Sizes of the steps in the unit cube."""

    reach: float = 0.15  # half the distance of the first two ends
    gain: float = 0.04  # of the first steps, for a comparison that is won outright
    delay: float = 20.0  # steps after which they begin to shrink

    def reach_at(self, step: int) -> float:
        """Half the distance of the two ends of a step; the first is 0."""
        return float(self.reach / (step + 1.0) ** GAMMA)

    def gain_at(self, step: int) -> float:
        """How far a step goes."""
        return float(self.gain * ((self.delay + 1.0) / (self.delay + step + 1.0)) ** ALPHA)


class Spsa:
    """Where the climb stands. The same seed and comparisons give the same way."""

    def __init__(self, begin: Point, seed: int, schedule: Schedule | None = None) -> None:
        self._schedule = schedule or Schedule()
        self._random = np.random.default_rng(seed)
        self.path: list[Point] = [np.asarray(begin, dtype=np.float64)]
        self._signs = self._draw()

    @property
    def steps(self) -> int:
        """How many were taken."""
        return len(self.path) - 1

    def ends(self) -> tuple[Point, Point]:
        """The two points to be compared next."""
        away = self._schedule.reach_at(self.steps) * self._signs
        return np.clip(self.path[-1] + away, 0.0, 1.0), np.clip(self.path[-1] - away, 0.0, 1.0)

    def tell(self, difference: float) -> None:
        """How much better the first end was, in [-1, 1]."""
        ratio = self._schedule.reach / self._schedule.reach_at(self.steps)
        move = self._schedule.gain_at(self.steps) * ratio * difference * self._signs
        self.path.append(np.clip(self.path[-1] + move, 0.0, 1.0))
        self._signs = self._draw()

    def _draw(self) -> Point:
        return self._random.choice([-1.0, 1.0], size=len(self.path[0]))


def belief(path: Sequence[Point]) -> tuple[Point, Point]:
    """The mean of the last half of the way, and how far it is from sure: two standard errors.

    Steps that follow each other are alike, so the error is that of the means of four stretches.
    """
    late = np.array(path[len(path) // 2 :])
    if len(late) < 8:
        return np.asarray(late.mean(axis=0)), np.ones_like(late[0])
    means = np.array([part.mean(axis=0) for part in np.array_split(late, 4)])
    return np.asarray(late.mean(axis=0)), np.asarray(means.std(axis=0, ddof=1))


def settled(path: Sequence[Point], within: float) -> bool:
    """Whether the mean no longer moves by more than `within`, and is known as well as that."""
    if len(path) < 40:
        return False
    now, error = belief(path)
    before, _ = belief(path[: len(path) * 3 // 4])
    return bool(np.abs(now - before).max() <= within and error.max() <= within)
