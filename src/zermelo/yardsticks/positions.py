"""Positions with known results: does the chosen action keep the result, and how wrong is the value?

A result is +1, 0 or -1 for the player to move under best play; a score also tells how soon. An
action keeps the result if the position after it is worth no less.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from zermelo.errors import UserError
from zermelo.evaluator import Evaluator
from zermelo.games import game as find_game
from zermelo.games.notation import action_text, parse_position
from zermelo.games.protocol import Game, State
from zermelo.games.registry import kind_of
from zermelo.search import SearchOptions
from zermelo.suites.files import read_suite
from zermelo.yardsticks.choosers import (
    Choice,
    Chooser,
    PolicyChooser,
    Poll,
    SearchChooser,
)
from zermelo.yardsticks.labels import DATA, Connect4Labels, read_scores, sign

CONNECT4_SET = DATA / "connect4_set.txt"
GENERATED = "generated"  # the name of that set
CHUNK = 128  # positions searched together

Progress = Callable[[str, int, int], None]  # what is done, how many, of how many


@dataclass(frozen=True)
class KnownPosition:
    """A position and what is known of it, always for the player to move."""

    state: State
    score: int
    scores: Mapping[int, int] = field(default_factory=dict)  # of actions; empty if not known

    @property
    def result(self) -> int:
        """+1, 0 or -1."""
        return sign(self.score)

    @property
    def can_err(self) -> bool:
        """Whether some action gives the result away; taken to be so where it is not known."""
        return not self.scores or any(sign(s) < self.result for s in self.scores.values())


@dataclass(frozen=True)
class PositionSet:
    """A named set of such positions.

    With `every`, positions in which no action can give the result away count as kept, as they do
    in the figures that others publish; else the shares are over the other positions only.
    """

    name: str
    positions: Sequence[KnownPosition]
    every: bool = True


def connect4_set(path: Path = CONNECT4_SET) -> PositionSet:
    """The set that ships with the package: `tools/make_connect4_set.py` made it."""
    game: Any = find_game("connect4")
    positions = []
    for line in path.read_text().splitlines():
        moves, *fields = line.split()
        if moves == "#":
            continue
        listed = enumerate(read_scores(fields))
        scores = {column: score for column, score in listed if score is not None}
        state = game.parse_position(moves)
        positions.append(KnownPosition(state, max(scores.values()), scores))
    return PositionSet("connect4", positions, every=False)


def read_positions(path: Path, game: Game, limit: int | None = None) -> PositionSet:
    """A file of positions with their exact scores: Connect Four's or Othello's (`.obf`)."""
    suite = read_suite(path, limit)
    if suite.game != kind_of(game):
        raise UserError(f"'{path}' is about {suite.game}, not {game.name}")
    if suite.kind not in ("connect4", "othello"):
        raise UserError(f"'{path}' does not give the exact scores of its positions")
    positions = []
    for problem in suite.problems:
        assert problem.score is not None
        state = parse_position(game, problem.position)
        texts = {action_text(game, state, a): a for a in game.legal_actions(state)}
        scores = {texts[text]: score for text, score in problem.scores.items()}
        positions.append(KnownPosition(state, problem.score, scores))
    return PositionSet(f"{suite.game}.{path.stem}", positions)


@dataclass
class PositionYardstick:
    """How well an evaluator chooses in known positions, with a search and without."""

    game: Game
    positions: PositionSet
    simulations: int = 100
    search: SearchOptions | None = None
    labels: Connect4Labels | None = None  # for positions whose actions have no scores
    exact: bool = True  # also whether the score is kept; without scores that takes long
    progress: Progress | None = None

    @property
    def name(self) -> str:
        """The prefix of its metrics."""
        return self.positions.name

    def run(
        self,
        evaluator: Evaluator,
        budget_seconds: float = 0.0,  # noqa: ARG002
        poll: Poll | None = None,
    ) -> dict[str, float]:
        """All positions, whatever time they take: shares of other parts could not be compared."""
        search = SearchChooser(self.game, evaluator, self.simulations, self.search)
        policy = PolicyChooser(self.game, evaluator, self.search)
        return self.judge(search, policy, poll)

    def judge(self, search: Chooser, policy: Chooser, poll: Poll | None = None) -> dict[str, float]:
        """The figures of two choosers side by side."""
        known = self.positions.positions
        chosen: tuple[list[Choice], list[Choice]] = ([], [])
        for first in range(0, len(known), CHUNK):
            if poll is not None:
                poll()
            states = [position.state for position in known[first : first + CHUNK]]
            for index, chooser in enumerate((search, policy)):
                chosen[index].extend(chooser.choose(states))
            self._tell("searched", first + len(states), len(known))
        self._label_children(known, chosen)
        figures = {
            f"{self.name}.positions": float(len(known)),
            f"{self.name}.judged": float(sum(map(self._is_judged, known))),
        }
        for prefix, error, found in zip(
            ("", "policy_"), ("value_error", "network_value_error"), chosen, strict=True
        ):
            shares = self._shares(known, [choice.action for choice in found])
            figures |= {f"{self.name}.{prefix}{key}": value for key, value in shares.items()}
            results = np.array([position.result for position in known])
            values = np.array([choice.value for choice in found])
            figures[f"{self.name}.{error}"] = float(np.abs(values - results).mean())
        return figures

    def _shares(self, known: Sequence[KnownPosition], actions: Sequence[int]) -> dict[str, float]:
        judged = [
            (position, action)
            for position, action in zip(known, actions, strict=True)
            if self._is_judged(position)
        ]
        if not judged:
            return {}
        shares = {"keeps_value": sum(self.keeps_value(*one) for one in judged) / len(judged)}
        if self.exact:
            shares["keeps_score"] = sum(self.keeps_score(*one) for one in judged) / len(judged)
        return shares

    def _is_judged(self, position: KnownPosition) -> bool:
        """Whether the position counts for the shares."""
        return self.positions.every or position.can_err

    def keeps_value(self, position: KnownPosition, action: int) -> bool:
        """Whether the action gives nothing of the result away."""
        if position.result < 0:
            return True
        if position.scores:  # what a file does not list is taken for the worst
            return sign(position.scores.get(action, -1)) >= position.result
        return self._solver.result_after(position.state, action) >= position.result

    def keeps_score(self, position: KnownPosition, action: int) -> bool:
        """Whether no action wins sooner, or loses later."""
        if position.scores:
            return position.scores.get(action) == position.score
        after = self.game.play(position.state, action)
        if self.game.outcome(after) is not None:
            return True  # it wins at once, or fills the board
        return -self._solver.score(after) == position.score

    @cached_property
    def _solver(self) -> Connect4Labels:
        if self.game.name != "connect4":
            raise UserError(f"the actions of these positions of {self.game.name} have no scores")
        return self.labels or Connect4Labels()

    def _label_children(
        self, known: Sequence[KnownPosition], chosen: Sequence[Sequence[Choice]]
    ) -> None:
        """Solves what the chosen actions lead to, where that decides something."""
        children = [
            self.game.play(position.state, choice.action)
            for found in chosen
            for position, choice in zip(known, found, strict=True)
            if not position.scores and position.result >= 0
        ]
        if children:
            self._solver.results(children, lambda done, of: self._tell("solved", done, of))

    def _tell(self, what: str, done: int, of: int) -> None:
        if self.progress is not None:
            self.progress(f"{self.name}: {what}", done, of)
