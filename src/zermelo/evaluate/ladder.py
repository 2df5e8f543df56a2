"""How strength grows during training (E3): each new checkpoint meets earlier ones and yardsticks.

A ladder is a directory: `meetings.jsonl` has a line for each finished match, so ratings outlive the
checkpoints; the matches themselves stand in directories of their own.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zermelo.evaluate.adjudicate import AdjudicateOptions
from zermelo.evaluate.bradley_terry import Meeting, Ratings, bradley_terry
from zermelo.evaluate.contestants import with_budget
from zermelo.evaluate.match import MatchOptions, play_match
from zermelo.evaluate.match_store import read_lines
from zermelo.evaluate.openings import DEFAULT
from zermelo.evaluate.rating import ColourSplit, Score
from zermelo.games.protocol import Game
from zermelo.options import option


@dataclass(frozen=True)
class LadderOptions:
    """How a new checkpoint is measured."""

    opponents: int = option(3, "Earlier checkpoints that a new one meets.", low=1)
    games: int = option(40, "Games against each, in pairs with colours swapped.", low=2)
    simulations: int = option(100, "Of each side, for a move.", low=1)
    yardsticks: str = option("", "Fixed opponents, separated by blanks, such as `random`.")
    openings: str = option(DEFAULT, "Where the games begin.")
    max_plies: int = option(300, "A longer game is a draw.", low=1)
    concurrency: int = option(1, "Processes.", low=1)
    seed: int = option(0, "Of the openings and of chance.", low=0)


# Lets two players meet, given by their texts: the first one's result, or None if there was no time.
Meet = Callable[[str, str], ColourSplit | None]


@dataclass(frozen=True)
class Rung:
    """A checkpoint's place on the ladder."""

    name: str
    elo: float | None  # None if no chain of games leads to the anchor
    margin: float | None  # half of the 95 % interval
    games: int
    score: float  # over all its games

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for metrics."""
        return dict(vars(self))


class Ladder:
    """The ratings of one run's checkpoints, the first of them being the anchor at 0 Elo.

    A yardstick is no checkpoint, even if it was the first to play.
    """

    def __init__(
        self, directory: Path, game: str | Game, options: LadderOptions | None = None
    ) -> None:
        self.directory = directory
        self.game = game
        self.options = options or LadderOptions()
        directory.mkdir(parents=True, exist_ok=True)
        self._file = directory / "meetings.jsonl"
        self._meetings = [m for pair in read_lines(self._file, _read_pair) for m in pair]

    @property
    def names(self) -> list[str]:
        """Everybody who played, in the order in which they came."""
        found = (name for m in self._meetings for name in (m.second, m.first))
        return list(dict.fromkeys(found))

    def climb(
        self, checkpoint: Path, earlier: Sequence[Path], meet: Meet | None = None
    ) -> Rung | None:
        """Lets a checkpoint meet earlier ones, the newest last; None if it has no opponent.

        `meet` plays, or if it is not given, a match does. What was played before is not played
        again, so it may be called anew after a kill.
        """
        name = checkpoint.name
        chosen = opponents_of([path for path in earlier if path != checkpoint], self.options)
        yardsticks = self.options.yardsticks.split()
        for other, spec in [*((p.name, str(p)) for p in chosen), *((y, y) for y in yardsticks)]:
            if not self._met(name, other):
                specs = (str(checkpoint), spec)
                split = meet(*specs) if meet else self._match(f"{name}-{other}", specs)
                if split is not None:
                    self._keep(name, other, split)
        return self.rung(name)

    def ratings(self) -> Ratings | None:
        """Of all who played; None before the first match."""
        if not self._meetings:
            return None
        return bradley_terry(self._meetings, self._anchor())

    def rung(self, name: str) -> Rung | None:
        """Where a player stands now; later games of others move it."""
        ratings = self.ratings()
        if ratings is None or name not in self.names:
            return None
        row = ratings[name]
        return Rung(name, row.elo, ratings.margin(name), row.score.games, row.score.score)

    def rungs(self) -> list[Rung]:
        """All, in the order in which they came."""
        found = (self.rung(name) for name in self.names)
        return [rung for rung in found if rung is not None]

    def _anchor(self) -> str:
        yardsticks, names = self.options.yardsticks.split(), self.names
        return next((name for name in names if name not in yardsticks), names[0])

    def _met(self, name: str, other: str) -> bool:
        return any({m.first, m.second} == {name, other} for m in self._meetings)

    def _match(self, folder: str, players: tuple[str, str]) -> ColourSplit:
        """A match in a directory of its own."""
        options = MatchOptions(
            games=self.options.games,
            openings=self.options.openings,
            seed=self.options.seed,
            adjudication=AdjudicateOptions(max_plies=self.options.max_plies),
            concurrency=self.options.concurrency,
            out=self.directory / _file_name(folder),
        )
        specs = with_budget(players, self.options.simulations)
        return play_match(specs, self.game, options).split

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


def _file_name(text: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in text)
