"""When a search has done enough: `Limits`, and how the visits of a kept tree count. Pure values."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from zermelo.search.result import SearchResult

UNLIMITED = 2**62  # simulations


@dataclass(frozen=True)
class Limits:
    """Whichever comes first. Without any, only `stop` ends a search."""

    simulations: int | None = None  # further ones
    nodes: int | None = None  # visits of the root, with those that a kept tree already has
    least: int = 0  # simulations that are made although the tree has as many nodes
    seconds: float = 0.0  # 0: no limit
    allowed: tuple[int, ...] = ()  # the root's actions; all if empty

    @property
    def known(self) -> bool:
        """Whether the number of simulations is known beforehand, as Gumbel's plan needs it."""
        return self.simulations is not None and self.nodes is None

    def further(self, kept: SearchResult | None = None) -> int:
        """Simulations still to be made; `kept` is the root as it stands, needed for `nodes`."""
        most = UNLIMITED if self.simulations is None else self.simulations
        if self.nodes is None or kept is None:
            return most
        return min(most, max(self.least, self.nodes - visits_that_count(kept, self.allowed)))


def visits_that_count(result: SearchResult, allowed: Collection[int] = ()) -> int:
    """The root's; of a restricted search its own actions' only."""
    if not allowed:
        return result.root_visits
    pairs = zip(result.actions.tolist(), result.visits.tolist(), strict=True)
    return 1 + sum(int(visits) for action, visits in pairs if action in allowed)
