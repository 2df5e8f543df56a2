"""When the search for one move has done enough, apart from a stop.

Looks at results; knows nothing of threads, timers or where the limits come from.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from zermelo.search.limits import visits_that_count
from zermelo.search.result import SearchResult
from zermelo.search.time_management import Look, Manager


@dataclass
class MoveLimits:
    """Whichever comes first; None is no limit. Owner: the searching thread."""

    nodes: int | None = None  # visits of the root, with those of a kept tree
    depth: int | None = None  # mean depth of the simulations, in plies
    mate: int | None = None  # a proven win in so many moves
    manager: Manager | None = None  # of the clock
    most_seconds: float | None = None
    instant: bool = False  # there is no time for more than the root's own evaluation
    memory_bytes: int = 0  # of tree and cache; 0: no limit

    def reached(
        self,
        result: SearchResult,
        elapsed: float,
        depth: int,
        simulations: int,
        allowed: Collection[int] = (),
    ) -> bool:
        """Looks at the search, in the order of time, about fifty times a second.

        `elapsed` (seconds) and `simulations` count from the moment when our own time began to run;
        `allowed` are the root actions to which the search is restricted, empty: all.
        """
        if self.most_seconds is not None and elapsed >= self.most_seconds:
            return True
        if self.nodes is not None and visits_that_count(result, allowed) >= self.nodes:
            return True
        if self.depth is not None and depth >= self.depth:
            return True
        mate = result.mate
        if self.mate is not None and mate is not None and 0 < mate <= self.mate:
            return True
        if self.manager is None:
            return False
        return self.manager.enough(look_at(result, elapsed, simulations, allowed))

    def too_large(self, result: SearchResult, cache_bytes: int) -> bool:
        """Whether tree and cache exceed the memory."""
        return bool(self.memory_bytes) and result.bytes + cache_bytes > self.memory_bytes

    def __str__(self) -> str:
        if self.manager is None:
            return "no clock" if self.most_seconds is None else f"{self.most_seconds:.3f} s"
        budget = self.manager.budget
        return f"about {budget.share:.3f} s, at most {budget.most:.3f} s"


def look_at(
    result: SearchResult, elapsed: float, simulations: int, allowed: Collection[int] = ()
) -> Look:
    """What the time management wants to know; actions that are not allowed do not compete."""
    best = result.best_action
    visits, actions = result.visits.tolist(), result.actions.tolist()
    at = actions.index(best)
    others = [
        count
        for action, count in zip(actions, visits, strict=True)
        if action != best and (not allowed or action in allowed)
    ]
    return Look(
        elapsed=elapsed,
        best=best,
        best_visits=visits[at],
        runner_up_visits=max(others, default=0),
        simulations=simulations,
        value=float(result.q[at]),
    )
