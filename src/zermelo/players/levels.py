"""Levels: strength from beginner to full, for a person who wants a game and not a lesson.

A level searches little, chooses by temperature among what it found, and slips now and then: it
plays something at first sight, or anything at all. Level 10 is the search at its best; a
`rated_level` is the same by a rating, for chess. Knows no board that is drawn and no person;
`level?number=3` and `level?elo=1200` are such players.
"""

from __future__ import annotations

import math
import random
from collections.abc import Collection
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from zermelo.errors import UserError
from zermelo.games.protocol import Game, State
from zermelo.games.registry import kind_of
from zermelo.players.at_hand import searcher, usable_network
from zermelo.players.protocol import MoveReport
from zermelo.search import Limits, SearchResult


@dataclass(frozen=True)
class Level:
    """How one level plays."""

    number: int  # from 1; 0: by a rating
    title: str
    simulations: int
    temperature: float  # of the choice among visits; 0 is the best
    slips: float  # share of moves that are not thought about
    sight: float = math.inf  # of the priors by which a slip is chosen; without end: any legal move

    @property
    def detail(self) -> str:
        """For people."""
        parts = [f"{self.simulations:,} simulations a move"]
        if self.temperature:
            parts.append("varied")
        if self.slips:
            parts.append(f"{self.slips:.0%} of its moves are slips")
        return ", ".join(parts)


LEVELS = (
    Level(1, "First steps", 4, 1.5, 0.45),
    Level(2, "Beginner", 8, 1.2, 0.30),
    Level(3, "Casual", 16, 1.0, 0.20),
    Level(4, "Keen", 32, 0.9, 0.12),
    Level(5, "Club", 64, 0.7, 0.06),
    Level(6, "Strong club", 128, 0.5, 0.03),
    Level(7, "Expert", 256, 0.35, 0.0),
    Level(8, "Master", 600, 0.2, 0.0),
    Level(9, "Champion", 1600, 0.1, 0.0),
    Level(10, "Full strength", 4000, 0.0, 0.0),
)


def level(number: int) -> Level:
    """The level of that number; UserError if there is none."""
    if not 1 <= number <= len(LEVELS):
        raise UserError(f"levels are 1 to {len(LEVELS)}, not {number}")
    return LEVELS[number - 1]


@dataclass(frozen=True)
class Rated:
    """How a rating plays; between two of these it is something between."""

    elo: int
    simulations: int
    temperature: float
    slips: float
    sight: float


# On the scale of Stockfish's UCI_Elo, with the package's network: docs/log.md has the matches.
RATED = (
    Rated(600, 6, 1.3, 0.40, 2.5),
    Rated(800, 12, 1.1, 0.30, 2.0),
    Rated(960, 24, 1.0, 0.20, 2.0),
    Rated(1140, 48, 0.9, 0.13, 1.5),
    Rated(1280, 100, 0.75, 0.08, 1.5),
    Rated(1440, 200, 0.6, 0.05, 1.0),
    Rated(1610, 400, 0.45, 0.03, 1.0),
    Rated(1690, 1000, 0.3, 0.015, 1.0),
    Rated(1790, 3500, 0.1, 0.0, 1.0),
    Rated(2000, 30000, 0.0, 0.0, 1.0),
)
LOWEST, HIGHEST = RATED[0].elo, RATED[-1].elo


def rated_level(elo: int) -> Level:
    """The level of that rating; UserError if there is none."""
    if not LOWEST <= elo <= HIGHEST:
        raise UserError(f"ratings are {LOWEST} to {HIGHEST}, not {elo}")
    low, high = next((a, b) for a, b in pairwise(RATED) if elo <= b.elo)
    share = (elo - low.elo) / (high.elo - low.elo)

    def between(a: float, b: float) -> float:
        return a + share * (b - a)

    simulations = math.exp(between(math.log(low.simulations), math.log(high.simulations)))
    return Level(
        0,
        f"Elo {elo}",
        round(simulations),
        between(low.temperature, high.temperature),
        between(low.slips, high.slips),
        between(low.sight, high.sight),
    )


def chosen_action(
    result: SearchResult, how: Level, chance: random.Random, allowed: Collection[int] = ()
) -> int:
    """What the level plays after its search. A proven win is never missed from level 5 on.

    `allowed` are the root actions to which the search was restricted; empty: all.
    """
    sees_wins = how.slips < 0.1
    if sees_wins and result.proven is not None and result.proven.result > 0:
        return result.best_action
    weights = result.policy(how.temperature)
    if chance.random() < how.slips:
        weights = (result.prior + 1e-9) ** (1.0 / how.sight)
    actions = result.actions.tolist()
    if allowed:
        weights = np.where([action in allowed for action in actions], weights, 0.0)
        if not weights.any():
            return result.best_action
    return int(chance.choices(actions, weights.tolist())[0])


class LevelPlayer:
    """A level with the network that comes with the package, or with `weights`."""

    def __init__(
        self,
        game: Game,
        number: int | None = None,
        weights: str | None = None,
        seed: int | None = None,
        elo: int | None = None,
    ) -> None:
        """`number` is 5 unless it or a rating, for chess, is given."""
        if elo is not None and (number is not None or kind_of(game) != "chess"):
            raise UserError("level: elo is for chess, and in place of a number")
        given = {"number": number, "weights": weights, "seed": seed, "elo": elo}
        if elo is None:
            given["number"] = number = 5 if number is None else number
        self._level = level(number) if number is not None else rated_level(elo or 0)
        self._searcher = searcher(weights or usable_network(game), self._level.simulations)
        self._seed = seed
        self._chance = random.Random(seed)
        self.name = "level?" + "&".join(f"{k}={v}" for k, v in given.items() if v is not None)

    def prepare(self, game: Game) -> None:
        """Loads the network."""
        self._searcher.prepare(game)

    def start_game(self) -> None:
        """Forgets the last game."""
        self._searcher.start_game()

    def reseed(self, seed: int) -> None:
        """Other slips and choices."""
        self._chance = random.Random(f"{self._seed or 0} {seed}")

    def stop(self) -> None:
        """Ends the search under way."""
        self._searcher.stop()

    def report(self) -> MoveReport | None:
        """What the search thought, whatever was played then."""
        return self._searcher.report()

    def choose(self, game: Game, state: State) -> int:
        """Searches, then chooses as the level does."""
        search = self._searcher.search_at(game, state)
        limits = self._searcher.limits
        if not self._level.number:  # a kept tree does not make a rating stronger
            limits = Limits(nodes=self._level.simulations)
        self._searcher.result = search.run(limits)
        return chosen_action(self._searcher.result, self._level, self._chance)
