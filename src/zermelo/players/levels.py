"""Levels: strength from beginner to full, for a person who wants a game and not a lesson.

A level searches little, chooses by temperature among what it found, and slips now and then: it
plays something at first sight, or anything at all. Level 10 is the search at its best. Knows no
board that is drawn and no person; `level?number=3` is such a player.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from zermelo.errors import UserError
from zermelo.games.protocol import Game, State
from zermelo.players.at_hand import searcher, usable_network
from zermelo.players.protocol import MoveReport
from zermelo.search import SearchResult


@dataclass(frozen=True)
class Level:
    """How one level plays."""

    number: int  # from 1
    title: str
    simulations: int
    temperature: float  # of the choice among visits; 0 is the best
    slips: float  # share of moves that are any legal move

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


def chosen_action(result: SearchResult, how: Level, chance: random.Random) -> int:
    """What the level plays after its search. A proven win is never missed from level 5 on."""
    sees_wins = how.slips < 0.1
    if sees_wins and result.proven is not None and result.proven.result > 0:
        return result.best_action
    if chance.random() < how.slips:
        return int(chance.choice(result.actions.tolist()))
    weights = result.policy(how.temperature).tolist()
    return int(chance.choices(result.actions.tolist(), weights)[0])


class LevelPlayer:
    """A level with the network that comes with the package, or with `weights`."""

    def __init__(
        self, game: Game, number: int = 5, weights: str | None = None, seed: int | None = None
    ) -> None:
        self._level = level(number)
        self._searcher = searcher(weights or usable_network(game), self._level.simulations)
        self._seed = seed
        self._chance = random.Random(seed)
        given = {"number": number, "weights": weights, "seed": seed}
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
        self._searcher.result = search.run(self._searcher.limits)
        return chosen_action(self._searcher.result, self._level, self._chance)
