"""The logistic scale of chess: mean score and Elo difference, one from the other."""

from __future__ import annotations

import math


def elo_of(score: float) -> float:
    """Elo difference that a mean score means; infinite at 0 and 1."""
    if score <= 0.0:
        return -math.inf
    return math.inf if score >= 1.0 else 400.0 * math.log10(score / (1.0 - score))


def score_of(elo: float) -> float:
    """The mean score that an Elo difference promises."""
    return 0.5 + 0.5 * math.tanh(elo * math.log(10.0) / 800.0)  # the logistic, never too large
