"""The weakest yardstick: any legal action, all equally likely."""

from __future__ import annotations

import random

from zermelo.games.protocol import Game, State


class RandomPlayer:
    """With a seed, the same choices in the same order."""

    def __init__(self, seed: int | None = None) -> None:
        self.name = "random" if seed is None else f"random?seed={seed}"
        self._seed = seed or 0
        self._random = random.Random(seed)

    def reseed(self, seed: int) -> None:
        """The choices of another seed; players of other seeds still choose otherwise."""
        self._random = random.Random(f"{self._seed} {seed}")

    def choose(self, game: Game, state: State) -> int:
        """One of the legal actions."""
        return self._random.choice(list(game.legal_actions(state)))
