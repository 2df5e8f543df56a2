"""Players that choose for many positions at once, so that a network is asked in large batches.

Yardsticks play and judge with them. Every choice is made in a fresh tree: a chooser is a function
of the position, whatever came before.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from zermelo.evaluator import Evaluator
from zermelo.games.protocol import Game, State
from zermelo.network.own_search import EXACT_CACHE
from zermelo.search import Search, SearchOptions

CACHE_MIB = 32  # of a yardstick's search, if its options ask for more

Poll = Callable[[], None]  # called often; may raise to end the work


@dataclass(frozen=True)
class Choice:
    """An action, and what the position is worth to the player to move, from -1 to 1."""

    action: int
    value: float = 0.0


class Chooser(Protocol):
    """Chooses actions in positions of one game."""

    def choose(self, states: Sequence[State]) -> list[Choice]:
        """One choice for each position; none of the games may be over."""


class SearchChooser:
    """The search with an evaluator and so many simulations for each choice."""

    def __init__(
        self,
        game: Game,
        evaluator: Evaluator,
        simulations: int,
        options: SearchOptions | None = None,
    ) -> None:
        options = options or SearchOptions()
        size = min(int(options.cache_mib), CACHE_MIB)
        options = options.replace(cache_mib=size, **EXACT_CACHE)  # all positions share the cache
        self.simulations = simulations
        self._search = Search(game, evaluator, options)

    def choose(self, states: Sequence[State]) -> list[Choice]:
        """The most visited actions, or proven ones; all positions share batches."""
        results = self._search.run_many(states, self.simulations)
        return [
            Choice(r.best_action, float(r.proven.result) if r.proven else r.value) for r in results
        ]


class PolicyChooser:
    """The evaluator's own first choice and value: a search of no simulations."""

    def __init__(
        self, game: Game, evaluator: Evaluator, options: SearchOptions | None = None
    ) -> None:
        options = (options or SearchOptions()).replace(gumbel=False, cache_mib=0)
        self._search = Search(game, evaluator, options)

    def choose(self, states: Sequence[State]) -> list[Choice]:
        """The actions with the largest prior."""
        results = self._search.run_many(states, 0)
        return [Choice(int(result.actions[0]), result.value) for result in results]


class RandomChooser:
    """Every legal action is as likely as any other."""

    def __init__(self, game: Game, seed: int) -> None:
        self._game = game
        self._random = random.Random(seed)

    def choose(self, states: Sequence[State]) -> list[Choice]:
        """Depends on the seed and on all calls before."""
        return [Choice(self._random.choice(list(self._game.legal_actions(s)))) for s in states]


class ChooserPlayer:
    """A chooser as a player of a match; `poll` is called before each of its choices."""

    def __init__(self, chooser: Chooser, name: str = "network", poll: Poll | None = None) -> None:
        self.name = name
        self._chooser = chooser
        self._poll = poll

    def choose(self, game: Game, state: State) -> int:  # noqa: ARG002
        """The chooser's action."""
        if self._poll is not None:
            self._poll()
        return self._chooser.choose([state])[0].action


class Budget:
    """The seconds that a yardstick may take; 0 is any number of them."""

    def __init__(self, seconds: float = 0.0, poll: Poll | None = None) -> None:
        self._started = time.monotonic()
        self._seconds = seconds
        self.poll = poll

    @property
    def spent(self) -> float:
        """Seconds since the beginning."""
        return time.monotonic() - self._started

    def enough_for(self, seconds: float) -> bool:
        """Whether so many seconds are left; also the moment to hear that all should end."""
        if self.poll is not None:
            self.poll()
        return self._seconds <= 0 or self.spent + seconds <= self._seconds
