"""Example positions: to measure speed and precision on, to calibrate with."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zermelo.games.protocol import Game, State

# Policy logits and values of a batch of observations, as the search asks for them.
Evaluate = Callable[[NDArray[Any]], tuple[NDArray[Any], NDArray[Any]]]
MAX_PLIES = 400
EVERY = 3  # neighbours of a game are much alike, so only every third position is taken


class SampledPosition(NamedTuple):
    """A position of a game that goes on."""

    state: State
    actions: list[int]  # legal


def sample_positions(
    game: Game, count: int, seed: int = 0, evaluator: Evaluate | None = None
) -> list[SampledPosition]:
    """Positions of random games, or of games in which actions are drawn from a network's policy."""
    return list(islice(_positions(game, random.Random(seed), evaluator), 0, EVERY * count, EVERY))


def sample_observations(
    game: Game, count: int, seed: int = 0, evaluator: Evaluate | None = None
) -> NDArray[np.float32]:
    """[count, planes, rows, columns] of such positions."""
    return observations_of(game, sample_positions(game, count, seed, evaluator))


def observations_of(game: Game, positions: list[SampledPosition]) -> NDArray[np.float32]:
    """[positions, planes, rows, columns]."""
    planes = [np.asarray(game.observe(position.state), np.float32) for position in positions]
    return np.stack(planes)


def _positions(
    game: Game, rng: random.Random, evaluator: Evaluate | None
) -> Iterator[SampledPosition]:
    """Game after game, without end."""
    while True:
        state = game.initial()
        for _ in range(MAX_PLIES):
            if game.outcome(state) is not None:
                break
            position = SampledPosition(state, [int(a) for a in game.legal_actions(state)])
            yield position
            weights = None
            if evaluator is not None:
                logits = evaluator(observations_of(game, [position]))[0][0][position.actions]
                weights = np.exp(logits - logits.max()).tolist()
            state = game.play(state, rng.choices(position.actions, weights)[0])
