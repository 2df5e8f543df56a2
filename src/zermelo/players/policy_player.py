"""A network's policy without any search: what the network thinks at first sight."""

from __future__ import annotations

import math
import random

import numpy as np

from zermelo.errors import UserError
from zermelo.games.protocol import Game, State
from zermelo.network import NetworkEvaluator
from zermelo.network.open import open_network
from zermelo.network.places import network_path
from zermelo.players.protocol import MoveReport


class PolicyPlayer:
    """The action with the largest logit, or one drawn from softmax(logits / temperature).

    >>> PolicyPlayer(weights="")
    Traceback (most recent call last):
    zermelo.errors.UserError: policy: it needs a network: policy?weights=FILE
    """

    def __init__(
        self,
        weights: str = "",
        temperature: float = 0.0,
        backend: str = "auto",
        seed: int | None = None,
    ) -> None:
        if not weights:
            raise UserError("policy: it needs a network: policy?weights=FILE")
        if not 0 <= temperature < math.inf:
            raise UserError(f"policy: temperature must be 0 or more, not {temperature:g}")
        given = {"temperature": temperature or None, "seed": seed}
        extra = [f"&{key}={value}" for key, value in given.items() if value is not None]
        self.name = f"policy?weights={weights}" + "".join(extra)
        self.temperature = temperature
        self._weights = network_path(weights)
        self._backend = backend
        self._seed = seed or 0
        self._random = random.Random(seed)
        self._evaluator: NetworkEvaluator | None = None
        self._game: Game | None = None  # for which the network was checked
        self._report: MoveReport | None = None

    def reseed(self, seed: int) -> None:
        """The draws of another seed."""
        self._random = random.Random(f"{self._seed} {seed}")

    def prepare(self, game: Game) -> None:
        """Loads the network."""
        if self._game is not game:
            self._evaluator = open_network(self._weights, game, self._backend).evaluator
            self._game = game

    def report(self) -> MoveReport | None:
        """The network's value of the position."""
        return self._report

    def choose(self, game: Game, state: State) -> int:
        """One evaluation, one choice."""
        self.prepare(game)
        assert self._evaluator is not None
        planes = np.asarray(game.observe(state), np.float32)[None]
        logits, values = self._evaluator(planes)
        numbers = np.ravel(values[0])  # one, or win, draw and loss
        value = float(numbers[0] if len(numbers) == 1 else numbers[0] - numbers[2])
        self._report = MoveReport(value, 1, f"{value:+.2f}/1")
        actions = list(game.legal_actions(state))
        scores = logits[0][actions].astype(np.float64)
        if self.temperature < 1e-3:
            return actions[int(scores.argmax())]
        weights = np.exp((scores - scores.max()) / self.temperature)
        return self._random.choices(actions, weights.tolist())[0]
