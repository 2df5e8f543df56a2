"""A suite of problems (EPD with `bm` and `am`) as a yardstick: the share that is solved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import zermelo
from zermelo.errors import UserError
from zermelo.evaluator import Evaluator
from zermelo.games.notation import action_text, parse_position
from zermelo.games.protocol import Game, State
from zermelo.games.registry import kind_of
from zermelo.search import SearchOptions
from zermelo.suites.files import Problem, read_suite
from zermelo.yardsticks.choosers import Chooser, PolicyChooser, Poll, SearchChooser

CHUNK = 64  # problems searched together
CHESS_MATES = Path(zermelo.__file__).parent / "data" / "chess_mates.epd"  # for runs without a suite


@dataclass
class SuiteYardstick:
    """How many problems a network solves, with its search and without."""

    game: Game
    path: Path
    simulations: int = 100
    search: SearchOptions | None = None
    limit: int | None = None  # only the first problems

    def __post_init__(self) -> None:
        suite = read_suite(self.path, self.limit)
        if suite.game != kind_of(self.game):
            raise UserError(f"'{self.path}' is about {suite.game}, not {self.game.name}")
        asked = [problem for problem in suite.problems if problem.best or problem.avoid]
        if not asked:
            raise UserError(f"'{self.path}' holds {suite.kind}: `zermelo solve` is for those")
        self._problems = [(parse_position(self.game, p.position), p) for p in asked]

    @property
    def name(self) -> str:
        """The prefix of its metrics."""
        return self.path.stem

    def run(
        self,
        evaluator: Evaluator,
        budget_seconds: float = 0.0,  # noqa: ARG002
        poll: Poll | None = None,
    ) -> dict[str, float]:
        """All problems, whatever time they take: shares of other parts could not be compared."""
        search = SearchChooser(self.game, evaluator, self.simulations, self.search)
        policy = PolicyChooser(self.game, evaluator, self.search)
        solved = at_sight = 0
        for first in range(0, len(self._problems), CHUNK):
            if poll is not None:
                poll()
            part = self._problems[first : first + CHUNK]
            solved += self._solved(search, part)
            at_sight += self._solved(policy, part)
        return {
            f"{self.name}.solved": solved / len(self._problems),
            f"{self.name}.policy_solved": at_sight / len(self._problems),
            f"{self.name}.positions": float(len(self._problems)),
        }

    def _solved(self, chooser: Chooser, problems: Sequence[tuple[State, Problem]]) -> int:
        choices = chooser.choose([state for state, _ in problems])
        texts = [
            action_text(self.game, state, choice.action)
            for (state, _), choice in zip(problems, choices, strict=True)
        ]
        return sum(
            text not in problem.avoid and (not problem.best or text in problem.best)
            for text, (_, problem) in zip(texts, problems, strict=True)
        )
