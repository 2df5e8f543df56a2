"""The sequential test of a match: stop as soon as the results say enough.

The generalised sequential probability ratio test compares the most likely distribution of results
whose mean score is that of `elo1` with the one whose mean is that of `elo0`. It asks for no model
of draws and for none of the openings: given pairs of games (the pentanomial form) it is right even
though the two games of a pair depend on each other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zermelo.errors import UserError
from zermelo.statistics.elo import score_of
from zermelo.statistics.likelihood import drop


@dataclass(frozen=True)
class SprtState:
    """Where a test stands. `decision` is "H0", "H1" or "" while it goes on."""

    llr: float  # log-likelihood ratio of elo1 to elo0
    lower: float  # at or below: H0 (not better than elo0) is accepted
    upper: float  # at or above: H1 (at least elo1) is accepted

    @property
    def decision(self) -> str:
        """The hypothesis that is accepted, "" for none yet."""
        return "H1" if self.llr >= self.upper else "H0" if self.llr <= self.lower else ""

    def __str__(self) -> str:
        decided = f", {self.decision} accepted" if self.decision else ""
        return f"LLR {self.llr:+.2f} ({self.lower:.2f}, {self.upper:.2f}){decided}"

    def to_dict(self) -> dict[str, Any]:
        """Plain values with stable keys, for JSON."""
        return {
            "llr": self.llr,
            "lower": self.lower,
            "upper": self.upper,
            "decision": self.decision,
        }


@dataclass(frozen=True)
class Sprt:
    """The test of "at least elo1" (H1) against "at most elo0" (H0), in logistic Elo.

    `alpha` bounds the probability of accepting H1 at elo0, `beta` that of accepting H0 at elo1.
    """

    elo0: float
    elo1: float
    alpha: float = 0.05
    beta: float = 0.05

    def __post_init__(self) -> None:
        if not self.elo0 < self.elo1:
            raise UserError(f"sprt: elo0 ({self.elo0:g}) must be less than elo1 ({self.elo1:g})")
        for name in ("elo0", "elo1"):
            if not 0.0 < score_of(getattr(self, name)) < 1.0:
                raise UserError(
                    f"sprt: {name} is {getattr(self, name):g}, which is too far from 0: "
                    "nothing but wins or losses is expected there"
                )
        for name in ("alpha", "beta"):
            if not 0.0 < getattr(self, name) < 0.5:
                raise UserError(f"sprt: {name} is {getattr(self, name):g}, not between 0 and 0.5")

    @property
    def bounds(self) -> tuple[float, float]:
        """Log-likelihood ratios at which the test ends."""
        lower = math.log(self.beta / (1.0 - self.alpha))
        return lower, math.log((1.0 - self.beta) / self.alpha)

    def llr(self, counts: ArrayLike, values: Sequence[float]) -> NDArray[np.float64]:
        """Log-likelihood ratio for counts [..., classes] of results worth `values` [classes]."""
        mean0, mean1 = (score_of(elo) for elo in (self.elo0, self.elo1))
        return drop(counts, values, mean0) - drop(counts, values, mean1)

    def state(self, counts: Sequence[int], values: Sequence[float]) -> SprtState:
        """Where the test stands after these results."""
        llr = float(self.llr(counts, values)) if any(counts) else 0.0
        return SprtState(llr, *self.bounds)
