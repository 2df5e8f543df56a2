"""How strength grows during training (E3): each new checkpoint meets earlier ones.

A ladder is a directory: `meetings.jsonl` has a line for each finished match, so ratings outlive the
checkpoints: wins, draws and losses by who moved first, and the points of the pairs. Does not know
how a match is played.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from zermelo.evaluate.bradley_terry import GamePair, Meeting, bradley_terry
from zermelo.evaluate.match_store import read_lines
from zermelo.evaluate.openings import DEFAULT
from zermelo.evaluate.rating import ColourSplit, Pentanomial, Score
from zermelo.options import option


@dataclass(frozen=True)
class LadderOptions:
    """How a new checkpoint is measured."""

    opponents: int = option(3, "Earlier checkpoints that a new one meets.", low=1)
    games: int = option(40, "Games against each, in pairs with colours swapped.", low=2)
    simulations: int = option(100, "Of each side, for a move.", low=1)
    openings: str = option(DEFAULT, "Where the games begin.")
    max_plies: int = option(300, "A longer game is a draw.", low=1)
    seed: int = option(0, "Of the openings and of chance.", low=0)


# The new checkpoint's result against an earlier one, or None if there was no time.
Meet = Callable[[Path], ColourSplit | None]


@dataclass(frozen=True)
class Rung:
    """A checkpoint's place on the ladder."""

    elo: float | None  # None if no chain of games leads to the anchor
    margin: float | None  # half of the 95 % interval
    games: int
    score: float  # over all its games


class Ladder:
    """The ratings of one run's checkpoints, the first of them being the anchor at 0 Elo."""

    def __init__(self, directory: Path, options: LadderOptions | None = None) -> None:
        self.options = options or LadderOptions()
        directory.mkdir(parents=True, exist_ok=True)
        self._file = directory / "meetings.jsonl"
        self._matches = read_lines(self._file, _Match.from_json)

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
                split = meet(other)
                if split is not None:
                    self._keep(name, other.name, split)
        return self.rung(name)

    def rung(self, name: str) -> Rung | None:
        """Where a checkpoint stands now; later games of others move it."""
        if name not in self.names:
            return None
        meetings = [meeting for match in self._matches for meeting in match.meetings]
        pairs = [pair for match in self._matches for pair in match.pairs]
        ratings = bradley_terry(meetings, self.names[0], pairs=pairs)
        row = ratings[name]
        return Rung(row.elo, ratings.margin(name), row.score.games, row.score.score)

    def _met(self, name: str, other: str) -> bool:
        return any({match.name, match.other} == {name, other} for match in self._matches)

    def _keep(self, name: str, other: str, split: ColourSplit) -> None:
        match = _Match(name, other, split)
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

    @property
    def meetings(self) -> tuple[Meeting, Meeting]:
        """By who moved first."""
        first, second = self.split.first, self.split.second.reversed()
        return Meeting(self.name, self.other, first), Meeting(self.other, self.name, second)

    @property
    def pairs(self) -> list[GamePair]:
        """Pairs with these points and these results by colour; none if they are not known.

        Only a pair's points are kept. Which of its games gave them is open, but does not change
        ratings and their errors.
        """
        if self.split.pairs.games != self.split.total.games:
            return []
        first, second = self.split.first, self.split.second
        none, half, one, more, both = self.split.pairs.pairs
        drawn = (first.draws + second.draws - half - more) // 2  # pairs of two draws
        for win_draw in range(more + 1):
            draw_loss = first.draws - (more - win_draw) - drawn
            win_loss = first.wins - both - win_draw
            if 0 <= draw_loss <= half and 0 <= win_loss <= one - drawn:
                times = {
                    (0.0, 0.0): none,
                    (0.5, 0.0): draw_loss,
                    (0.0, 0.5): half - draw_loss,
                    (0.5, 0.5): drawn,
                    (1.0, 0.0): win_loss,
                    (0.0, 1.0): one - drawn - win_loss,
                    (1.0, 0.5): win_draw,
                    (0.5, 1.0): more - win_draw,
                    (1.0, 1.0): both,
                }
                return [
                    GamePair(self.name, self.other, (points, 1.0 - own_second))
                    for (points, own_second), count in times.items()
                    for _ in range(count)
                ]
        return []

    def to_json(self) -> str:
        """Results as in `meetings`, and how many pairs gave 0, 1/2, 1, 3/2 and 2 points."""
        scores = [(m.first, m.second, m.score) for m in self.meetings]
        rows = [[first, second, s.wins, s.draws, s.losses] for first, second, s in scores]
        return json.dumps([*rows, self.split.pairs.pairs])

    @classmethod
    def from_json(cls, line: bytes) -> _Match:
        """Lines of older ladders have no pairs: their games are single ones."""
        (name, other, *first), (_, _, *second), *pairs = json.loads(line)
        known = Pentanomial(tuple(pairs[0])) if pairs else Pentanomial()
        return cls(name, other, ColourSplit(Score(*first), Score(*second).reversed(), known))
