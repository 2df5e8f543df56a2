"""P9: ends a search whose visits no longer shift. The reference's part; the core has its twin."""

from __future__ import annotations

import math
from collections.abc import Sequence


class Settling:
    """Looks at the root's visits once in `interval` simulations.

    The search is over when the shares of visits changed by less than `bound` nats per visit since
    the last look: KL(old || new) / new visits; but not before `minimum` simulations.
    """

    def __init__(
        self, visits: Sequence[int], root_visits: int, bound: float, interval: int, minimum: int
    ) -> None:
        """`visits` of the root's actions, and of the root, as the search begins."""
        self._bound, self._interval, self._minimum = bound, interval, minimum
        self._first = root_visits
        self._due = root_visits + interval
        self._before = list(visits)

    def over(self, visits: Sequence[int], root_visits: int) -> bool:
        """Whether the search has done enough."""
        if self._bound <= 0 or root_visits < self._due:
            return False
        self._due = root_visits + self._interval
        before, self._before = self._before, list(visits)
        if root_visits - self._first < self._minimum:
            return False
        return gain(before, visits) < self._bound


def gain(before: Sequence[int], after: Sequence[int]) -> float:
    """Nats per visit; 1 where there is nothing to compare."""
    old, new = sum(before), sum(after)
    if old == 0 or new <= old:
        return 1.0
    divergence = sum(
        b / old * math.log(b / old / (a / new)) for b, a in zip(before, after, strict=True) if b
    )
    return divergence / (new - old)
