"""The search budget of an iteration (P4): early networks are not worth many simulations."""

from __future__ import annotations

import math


def simulations_at(iteration: int, iterations: int, full: int, fraction: float) -> int:
    """Simulations of a full search in `iteration` (from 0) of `iterations`.

    Linear from half of `full` in the first iteration to all of it after `fraction` of them.
    """
    growing = fraction * iterations
    done = 1.0 if growing <= 0 else min(1.0, iteration / growing)
    return max(1, math.ceil(full * (0.5 + 0.5 * done)))
