"""A search by random games against random play: it wins, unless the rules are told wrongly."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass

from zermelo import _core
from zermelo.games.protocol import Game, value_for
from zermelo.search import RolloutEvaluator, Search

SIMULATIONS = 100
GAMES = 10
LEAST = 4  # games, to say anything
MOST_PLIES = 400
LOSES = (
    "a search by {simulations} random games a move made only {points:g} of {games} points against "
    "random play, which it should beat: does outcome() name the right winner, and player() the "
    "player to move?"
)


@dataclass(frozen=True)
class Trial:
    """Points of the search; a draw is half of one."""

    games: int
    points: float

    @property
    def warning(self) -> str:
        """A sentence if the search did not beat random play, or ""."""
        if self.games < LEAST or self.points > self.games / 2:
            return ""
        return LOSES.format(simulations=SIMULATIONS, points=self.points, games=self.games)


def rules_trial(game: Game, seconds: float = 2.0, seed: int = 0) -> Trial:
    """Some games on alternating sides, fewer where they take longer than the seconds."""
    chance = random.Random(seed)
    began, points, games = time.perf_counter(), 0.0, 0
    while games < GAMES and (games < LEAST or time.perf_counter() - began < seconds):
        points += _points(game, games % 2, chance)
        games += 1
    return Trial(games, points)


def _points(game: Game, seat: int, chance: random.Random) -> float:
    evaluator = RolloutEvaluator(seed=chance.getrandbits(32))
    state = game.initial()
    for _ in range(MOST_PLIES):
        outcome = game.outcome(state)
        if outcome is not None:
            return (1 + value_for(outcome, seat)) / 2
        if game.player(state) == seat:
            search = Search(game, evaluator, _core.SearchOptions())
            action = int(search.run(state, simulations=SIMULATIONS).best.action)
        else:
            action = int(chance.choice(list(game.legal_actions(state))))
        state = game.play(state, action)
    return 0.5
