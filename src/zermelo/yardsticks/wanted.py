"""The yardsticks that somebody asks for by name: sets of positions, perfect play, opponents.

Does not measure: `measure` takes what comes out of here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from zermelo.errors import UserError
from zermelo.games.protocol import Game
from zermelo.options import make_options
from zermelo.search import SearchOptions
from zermelo.yardsticks.labels import Connect4Labels, default_cache
from zermelo.yardsticks.measure import (
    EvaluateOptions,
    Yardstick,
    refuse_equal_names,
    yardsticks_for,
)
from zermelo.yardsticks.perfect import PerfectYardstick
from zermelo.yardsticks.positions import GENERATED, PositionYardstick, connect4_set, read_positions
from zermelo.yardsticks.suite import SuiteYardstick

Progress = Callable[[str, int, int], None]


def evaluate_options(**given: Any) -> EvaluateOptions:
    """Those of a run, with what is given and not None."""
    values = {name: value for name, value in given.items() if value is not None}
    return make_options(EvaluateOptions, values, "yardstick")


class Wanted:
    """Makes the yardsticks that somebody asks for.

    `progress` gets what is being measured, how many are done, and of how many.
    """

    def __init__(
        self,
        game: Game,
        plan: EvaluateOptions,
        search: SearchOptions,
        progress: Progress,
        cache: Path | None,
        threads: int,
        exact: bool,
        limit: int | None,
    ) -> None:
        self.game = game
        self.plan = plan
        self.search = search
        self.progress = progress
        self.cache = cache
        self.threads = threads
        self.exact = exact
        self.limit = limit
        self._labels: Connect4Labels | None = None

    def usual(self) -> list[Yardstick]:
        """What a training run measures."""
        found = yardsticks_for(self.game, self.plan, self.search)
        for made in found:
            if isinstance(made, PositionYardstick):
                made.progress = self.progress
        return found

    def of_sets(self, names: list[str], opponents: bool, perfect: int) -> list[Yardstick]:
        """Sets of positions, the perfect player, a suite, and opponents if they were named."""
        found = [self.of_set(path) for name in names for path in self.files(name)]
        plan = self.plan
        if plan.suite:
            suite = Path(plan.suite)
            found.append(
                SuiteYardstick(self.game, suite, plan.simulations, self.search, self.limit)
            )
        if perfect and self.game.name != "connect4":
            raise UserError(f"--perfect is for connect4, not for {self.game.name}")
        games = plan.games if opponents else 0
        others = replace(plan, positions=0, games=games, suite="")
        for made in yardsticks_for(self.game, others, self.search):
            if isinstance(made, PerfectYardstick):
                made.labels = self.labels()
                made.progress = self.progress
            found.append(made)
        refuse_equal_names(made.name for made in found)
        return found

    def files(self, name: str) -> Sequence[Path | None]:
        """The files that a name stands for; None is the set of the package."""
        if name == GENERATED:
            return [None]
        path = Path(name)
        if path.is_dir():
            return sorted(p for p in path.iterdir() if p.is_file() and p.name[0] != ".")
        if not path.is_file():
            raise UserError(
                f"there are no positions '{name}': give '{GENERATED}', a file or a folder"
            )
        return [path]

    def of_set(self, path: Path | None) -> Yardstick:
        """One set of positions."""
        if path is None:
            if self.game.name != "connect4":
                raise UserError(f"the set '{GENERATED}' is for connect4, not for {self.game.name}")
            known = connect4_set()
            known = replace(known, positions=known.positions[: self.limit])
        else:
            known = read_positions(path, self.game, self.limit)
        scored = all(position.scores for position in known.positions)
        return PositionYardstick(
            self.game,
            known,
            self.plan.simulations,
            self.search,
            labels=None if scored else self.labels(),
            exact=scored or self.exact,
            progress=self.progress,
        )

    def labels(self) -> Connect4Labels:
        """One for all, with the results of earlier days."""
        if self._labels is None:
            self._labels = Connect4Labels(self.cache or default_cache(), self.threads)
        return self._labels
