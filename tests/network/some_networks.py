"""Networks for any game, a game written in Python, and backends that may not be installed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import zermelo
from zermelo.network import (
    NetworkOptions,
    Weights,
    architecture_for,
    random_weights,
)
from zermelo.network.runtimes import installed_backends

SMALL = NetworkOptions(blocks=2, filters=8, value_hidden=16, moves_left=True)


class Nim:
    """Take one or two of seven; a game written in Python with an odd shape."""

    name = "nim"
    num_actions = 2
    observation_shape = (2, 1, 7)

    def initial(self) -> tuple[int, int]:
        return (7, 0)

    def legal_actions(self, state: tuple[int, int]) -> list[int]:
        return [take for take in (0, 1) if take < state[0]]

    def play(self, state: tuple[int, int], action: int) -> tuple[int, int]:
        return (state[0] - action - 1, 1 - state[1])

    def player(self, state: tuple[int, int]) -> int:
        return state[1]

    def outcome(self, state: tuple[int, int]) -> Any:
        winners = (zermelo.Outcome.SECOND_WINS, zermelo.Outcome.FIRST_WINS)
        return None if state[0] else winners[state[1]]

    def observe(self, state: tuple[int, int]) -> Any:
        planes = np.zeros(self.observation_shape, np.float32)
        planes[0, 0, : state[0]] = 1
        planes[1] = state[1]
        return planes


def need(backend: str) -> str:
    if backend not in (*installed_backends(), "numpy"):
        pytest.skip(f"{backend} is not installed")
    return backend


def network(game: Any, seed: int = 0, options: NetworkOptions = SMALL) -> Weights:
    """Random, but with outputs large enough to show a mistake."""
    weights = random_weights(architecture_for(game, options), seed).check()
    arrays = dict(weights.arrays)
    for name, values in weights.arrays.items():
        if name.endswith("_out.weight"):
            arrays[name] = values * 20
    return Weights(weights.architecture, arrays)
