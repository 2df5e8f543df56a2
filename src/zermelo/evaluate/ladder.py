"""How strength grows during training (E3): each new checkpoint meets earlier ones.

A ladder is a directory: `meetings.jsonl` has a line for each finished match, so ratings outlive the
checkpoints. Does not know how a match is played.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from zermelo.evaluate.bradley_terry import Meeting, bradley_terry
from zermelo.evaluate.match_store import read_lines
from zermelo.evaluate.openings import DEFAULT
from zermelo.evaluate.rating import ColourSplit, Score
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
        self._meetings = [m for pair in read_lines(self._file, _read_pair) for m in pair]

    @property
    def names(self) -> list[str]:
        """Everybody who played, in the order in which they came."""
        found = (name for m in self._meetings for name in (m.second, m.first))
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
        ratings = bradley_terry(self._meetings, self.names[0])
        row = ratings[name]
        return Rung(row.elo, ratings.margin(name), row.score.games, row.score.score)

    def _met(self, name: str, other: str) -> bool:
        return any({m.first, m.second} == {name, other} for m in self._meetings)

    def _keep(self, name: str, other: str, split: ColourSplit) -> None:
        pair = (Meeting(name, other, split.first), Meeting(other, name, split.second.reversed()))
        with self._file.open("a") as file:
            file.write(_write_pair(pair) + "\n")
            file.flush()
            os.fsync(file.fileno())
        self._meetings += pair


def opponents_of(earlier: Sequence[Path], options: LadderOptions) -> list[Path]:
    """The last one, and others twice as far back each time: near ones tell most, far ones bind."""
    distances = [2**i for i in range(options.opponents)]
    indexes = {max(0, len(earlier) - distance) for distance in distances}
    return [earlier[index] for index in sorted(indexes, reverse=True)] if earlier else []


def _write_pair(pair: Sequence[Meeting]) -> str:
    rows = [[m.first, m.second, m.score.wins, m.score.draws, m.score.losses] for m in pair]
    return json.dumps(rows)


def _read_pair(line: bytes) -> list[Meeting]:
    rows = json.loads(line)
    return [Meeting(first, second, Score(*counts)) for first, second, *counts in rows]
