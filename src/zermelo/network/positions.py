"""Positions of random games: to measure speed and precision on, to calibrate with."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zermelo.games.protocol import Game, State


class SampledPosition(NamedTuple):
    """A position of a game that goes on."""

    state: State
    actions: list[int]  # legal


def random_positions(game: Game, seed: int = 0) -> Iterator[SampledPosition]:
    """Positions of random games one after the other, without end; the same for the same seed."""
    rng = random.Random(seed)
    while True:
        state = game.initial()
        for _ in range(400):
            if game.outcome(state) is not None:
                break
            actions = [int(action) for action in game.legal_actions(state)]
            yield SampledPosition(state, actions)
            state = game.play(state, rng.choice(actions))


def sample_positions(game: Game, count: int, seed: int = 0) -> list[SampledPosition]:
    """So many of them, thinned out so that neighbours differ by more than a move."""
    source = random_positions(game, seed)
    return [position for position, _ in zip(_thinned(source), range(count), strict=False)]


def sample_observations(game: Game, count: int, seed: int = 0) -> NDArray[np.float32]:
    """[count, planes, rows, columns]."""
    return observations_of(game, sample_positions(game, count, seed))


def observations_of(game: Game, positions: list[SampledPosition]) -> NDArray[np.float32]:
    """[positions, planes, rows, columns]."""
    planes = [np.asarray(game.observe(position.state), np.float32) for position in positions]
    return np.stack(planes)


def _thinned(source: Iterator[SampledPosition]) -> Iterator[SampledPosition]:
    for index, position in enumerate(source):
        if index % 3 == 0:
            yield position
