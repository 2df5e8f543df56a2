"""How strength grows during training (E3): each new checkpoint meets earlier ones.

A ladder is a directory: `meetings.jsonl` has a line for each finished match with the points of its
pairs of games, so ratings outlive the checkpoints. Does not know how a match is played.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist

from zermelo.matches.openings import DEFAULT
from zermelo.matches.store import read_lines
from zermelo.options import option
from zermelo.statistics.bradley_terry import GamePair, Meeting, Ratings, bradley_terry
from zermelo.statistics.rating import CONFIDENCE, ColourSplit, PairPoints, Score


@dataclass(frozen=True)
class LadderOptions:
    """How a new checkpoint is measured."""

    opponents: int = option(3, "Number of earlier checkpoints that a new one meets.", low=1)
    games: int = option(40, "Games against each, in pairs with colours swapped.", low=2)
    simulations: int = option(100, "Simulations of each side per move.", low=1)
    openings: str = option(DEFAULT, "Openings of the games.")
    max_plies: int = option(300, "Longest game; a longer one is a draw.", low=1)
    seed: int = option(0, "Random seed for openings and players.", low=0)


# The new checkpoint's results against an earlier one, or None if they could not meet.
Meet = Callable[[Path], list[PairPoints] | None]


@dataclass(frozen=True)
class Rung:
    """A checkpoint's place on the ladder."""

    elo: float | None  # None if no chain of games leads to the anchor
    margin: float | None  # half of the 95 % interval
    games: int
    score: float  # over all its games
    # Elo above the checkpoint that was rated before it, and half of that 95 % interval. It is much
    # narrower than `margin`, which is the distance to the anchor, an untrained network.
    gain: tuple[float, float] | None = None


class Ladder:
    """The ratings of one run's checkpoints, the first of them being the anchor at 0 Elo."""

    def __init__(
        self, directory: Path, options: LadderOptions | None = None, *, read_only: bool = False
    ) -> None:
        """`read_only` is for those who look on while another process writes."""
        self.options = options or LadderOptions()
        self._file = directory / "meetings.jsonl"
        self._matches = read_lines(self._file, _Match.from_json, mend=not read_only)

    @property
    def names(self) -> list[str]:
        """Everybody who played, in the order in which they came."""
        found = (name for match in self._matches for name in (match.other, match.name))
        return list(dict.fromkeys(found))

    def climb(self, name: str, earlier: Sequence[Path], meet: Meet) -> Rung | None:
        """Lets a checkpoint meet earlier ones, the newest last; None if it has no opponent.

        What was played before is not played again, so it may be called anew after a kill.
        """
        for other in opponents_of(earlier, self.options):
            if not self._met(name, other.name):
                pairs = meet(other)
                if pairs is not None:
                    self._keep(_Match(name, other.name, ColourSplit.of_pairs(pairs), pairs))
        return self.rung(name)

    def rung(self, name: str) -> Rung | None:
        """Where a checkpoint stands now; later games of others move it."""
        return self._rung(name, self._ratings()) if name in self.names else None

    def rungs(self) -> dict[str, Rung]:
        """Where everybody stands now, in the order in which they came."""
        if not self._matches:
            return {}
        ratings = self._ratings()
        return {name: self._rung(name, ratings) for name in self.names}

    def _ratings(self) -> Ratings:
        meetings = [meeting for match in self._matches for meeting in match.meetings()]
        pairs = [pair for match in self._matches for pair in match.game_pairs()]
        return bradley_terry(meetings, self.names[0], pairs=pairs)

    def _rung(self, name: str, ratings: Ratings) -> Rung:
        row = ratings[name]
        gain = self._gain(name, ratings)
        return Rung(row.elo, ratings.margin(name), row.score.games, row.score.score, gain)

    def _gain(self, name: str, ratings: Ratings) -> tuple[float, float] | None:
        rated = [one for one in self.names if one in ratings.names]
        if name not in rated[1:]:  # not rated, or nobody was before it
            return None
        elo, error = ratings.difference(name, rated[rated.index(name) - 1])
        return elo, error * NormalDist().inv_cdf(0.5 + CONFIDENCE / 2.0)

    def _met(self, name: str, other: str) -> bool:
        return any({match.name, match.other} == {name, other} for match in self._matches)

    def _keep(self, match: _Match) -> None:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with self._file.open("a") as file:
            file.write(match.to_json() + "\n")
            file.flush()
            os.fsync(file.fileno())
        self._matches.append(match)


def opponents_of(earlier: Sequence[Path], options: LadderOptions) -> list[Path]:
    """The last one, and others twice as far back each time: near ones tell most, far ones bind."""
    distances = [2**i for i in range(options.opponents)]
    indexes = {max(0, len(earlier) - distance) for distance in distances}
    return [earlier[index] for index in sorted(indexes, reverse=True)] if earlier else []


@dataclass(frozen=True)
class _Match:
    """A line of the file; the results are those of `name`, who came later."""

    name: str
    other: str
    split: ColourSplit
    pairs: list[PairPoints]  # empty in older ladders: their games count as single ones

    def meetings(self) -> tuple[Meeting, Meeting]:
        """By who moved first."""
        first, second = self.split.first, self.split.second.reversed()
        return Meeting(self.name, self.other, first), Meeting(self.other, self.name, second)

    def game_pairs(self) -> list[GamePair]:
        """Each game's points are those of the player who moved first in it."""
        return [
            GamePair(self.name, self.other, (first, 1.0 - second)) for first, second in self.pairs
        ]

    def to_json(self) -> str:
        """Who met whom, and the points of `name` in each pair: moving first, moving second."""
        return json.dumps({"name": self.name, "other": self.other, "pairs": self.pairs})

    @classmethod
    def from_json(cls, line: bytes) -> _Match:
        """Lines of older ladders have sums: names, wins, draws and losses by who moved first."""
        found = json.loads(line)
        if isinstance(found, dict):
            pairs = [(first, second) for first, second in found["pairs"]]
            return cls(found["name"], found["other"], ColourSplit.of_pairs(pairs), pairs)
        (name, other, *first), (_, _, *second), *_ = found
        return cls(name, other, ColourSplit(Score(*first), Score(*second).reversed()), [])
