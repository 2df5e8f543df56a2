"""Whether a game keeps its two sides apart as it should, judged by all random games together.

Such faults break no rule: another player is meant, or the winner is named from the wrong side.
They are warnings, since a strange game may be meant so.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from zermelo.games.protocol import Outcome, value_for
from zermelo.testing.position import Position

LEAST_GAMES = 8  # decided ones, to say anything about outcomes
LEAST_STEPS = 40  # of each player, to say anything about observations
ONE_SIDED = 0.7  # share of what changes that belongs to one player's actions only
LEAST_OWN = 10  # steps that change a plane, to call it one player's

OBSERVED = (
    "observe() seems to show the board alike whoever moves, and nothing in it tells who moves: "
    "show it from the side of the player to move (his own pieces in the first plane)"
)
LAST_LOSES = (
    "whoever makes the last action lost all of {games} decided games: are FIRST_WINS and "
    "SECOND_WINS swapped?"
)
ONE_WINS = (
    "all of {games} decided games are {name}: outcome() names the winner by who began, whoever "
    "is to move; is it told from the mover's side?"
)
ONE_MOVES = "only player {player} ever moves"


@dataclass
class Sides:
    """What the random games showed."""

    last_won: list[bool] = field(default_factory=list)  # of decided games
    winners: list[Outcome] = field(default_factory=list)
    movers: set[int] = field(default_factory=set)
    changed: dict[int, npt.NDArray[np.float64]] = field(default_factory=dict)  # plane sums by mover
    altered: dict[int, npt.NDArray[np.int64]] = field(default_factory=dict)  # steps, by plane
    steps: dict[int, int] = field(default_factory=dict)
    constant: dict[int, npt.NDArray[np.float64]] = field(default_factory=dict)  # 0 or NaN: varies

    def see(self, before: Position | None, now: Position) -> None:
        """A position and the one before it."""
        self.movers.add(now.player)
        planes = now.seen
        assert planes is not None
        self._see_constants(now.player, planes)
        if before is not None and before.seen is not None and now.outcome is None:
            difference = np.abs(planes - before.seen).astype(np.float64)
            varied = difference.reshape(len(planes), -1)
            whole = (varied == varied[:, :1]).all(axis=1)  # a plane of one number that changed
            sums = np.where(whole, 0.0, varied.sum(axis=1))
            self.changed[before.player] = self.changed.get(before.player, 0.0) + sums
            self.altered[before.player] = self.altered.get(before.player, 0) + (sums > 0)
            self.steps[before.player] = self.steps.get(before.player, 0) + 1

    def _see_constants(self, player: int, planes: npt.NDArray[np.float32]) -> None:
        """The number that each plane is full of whenever this player moves; NaN if there is none"""
        flat = planes.reshape(len(planes), -1)
        numbers = np.where((flat == flat[:, :1]).all(axis=1), flat[:, 0], np.nan).astype(np.float64)
        known = self.constant.get(player)
        same = numbers if known is None else np.where(known == numbers, known, np.nan)
        self.constant[player] = same

    def end(self, before: Position | None, last: Position) -> None:
        """A finished game."""
        if before is None or last.outcome in (None, Outcome.DRAW):
            return
        assert last.outcome is not None
        self.last_won.append(value_for(last.outcome, before.player) > 0)
        self.winners.append(last.outcome)

    # ---- verdicts -------------------------------------------------------------------------------

    def observation(self) -> str:
        """A warning about observations, or ""."""
        if min((self.steps.get(player, 0) for player in (0, 1)), default=0) < LEAST_STEPS:
            return ""
        if self._tells_mover():
            return ""
        first, second = (self.changed[player] / self.steps[player] for player in (0, 1))
        total = float((first + second).sum())
        apart = float(np.abs(first - second).sum())
        one_sided = total > 0 and apart / total > ONE_SIDED
        return OBSERVED if one_sided or self._each_has_planes() else ""

    def _each_has_planes(self) -> bool:
        """Whether one plane changes by the first player's actions only, one by the second's only.

        Seen from the mover's side it changes by both, since sides are swapped whenever the turn is.
        """
        first, second = self.altered[0], self.altered[1]
        firsts = (first >= LEAST_OWN) & (second == 0)
        seconds = (second >= LEAST_OWN) & (first == 0)
        return bool(firsts.any() and seconds.any())

    def _tells_mover(self) -> bool:
        """Whether a plane is full of one number for one player and of another for the other."""
        first, second = self.constant[0], self.constant[1]
        return bool((np.isfinite(first) & np.isfinite(second) & (first != second)).any())

    def outcome(self) -> str:
        """A warning about outcomes, or ""."""
        games = len(self.winners)
        if games < LEAST_GAMES:
            return ""
        if not any(self.last_won):
            return LAST_LOSES.format(games=games)
        if len(set(self.winners)) == 1 and len(set(self.last_won)) == 2:
            return ONE_WINS.format(games=games, name=self.winners[0].name)
        return ""

    def player(self) -> str:
        """Who never moves, as the reason of a sentence, or ""."""
        return ONE_MOVES.format(player=min(self.movers)) if len(self.movers) == 1 else ""
