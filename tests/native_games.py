"""The core's own games with all they can do, for tests that need more than a `Game` must have.

Knows no rules; which class of the core answers is the registry's affair.
"""

from __future__ import annotations

from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

import zermelo
from zermelo.games.native import is_native
from zermelo.games.protocol import Game, HasCells, HasHash, HasNotation, HasSymmetries, State


class NativeGame(Game, HasHash, HasSymmetries, HasNotation, HasCells, Protocol):
    """What every game of the core has."""

    @property
    def packed_words(self) -> int: ...

    @property
    def observation_layout(self) -> tuple[int, int, int, list[float], int]: ...

    def expand_observations(self, packed: NDArray[np.uint64]) -> NDArray[np.float32]: ...

    def observe(self, state: State) -> NDArray[np.float32]: ...

    def observe_packed(self, state: State) -> NDArray[np.uint64]: ...

    def ply(self, state: State) -> int: ...

    def perft(self, state: State, depth: int) -> int: ...


def native(spec: str) -> NativeGame:
    """The game of that text, which is one of the core's."""
    game = zermelo.game(spec)
    assert is_native(game), f"{spec} is not a game of the core"
    return cast("NativeGame", game)
