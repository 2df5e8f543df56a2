"""What samples of a game look like: the packed observation and the sizes that rows are held to.

A shard carries it in its header, so that its rows can be checked where the game is not known.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from zermelo.games.native import is_native
from zermelo.games.protocol import Game

MAX_ACTIONS = 65535
MAX_EXTENT = 1 << 20
_BYTES_OF_ONE = 0x0101010101010101


@dataclass(frozen=True)
class Layout:
    """The packed observation: binary planes as bits, scalar planes as bytes, dense as float32."""

    rows: int
    columns: int
    binary_planes: int
    scalar_scales: tuple[float, ...]  # one per scalar plane, which is byte * scale everywhere
    dense_planes: int

    @property
    def cells(self) -> int:
        """Cells of a plane."""
        return self.rows * self.columns

    @property
    def words_per_plane(self) -> int:
        """64-bit words of a binary plane."""
        return (self.cells + 63) // 64

    @property
    def binary_words(self) -> int:
        """Words of all binary planes, which come first."""
        return self.binary_planes * self.words_per_plane

    @property
    def scalar_words(self) -> int:
        """Words of all scalar planes, which come next."""
        return (len(self.scalar_scales) + 7) // 8

    @property
    def words(self) -> int:
        """Words of an observation."""
        dense = (self.dense_planes * self.cells + 1) // 2
        return self.binary_words + self.scalar_words + dense

    @property
    def shape(self) -> tuple[int, int, int]:
        """(planes, rows, columns) of an expanded observation."""
        planes = self.binary_planes + len(self.scalar_scales) + self.dense_planes
        return planes, self.rows, self.columns


@dataclass(frozen=True)
class Schema:
    """A game as its samples see it."""

    game: str
    num_actions: int
    layout: Layout

    @staticmethod
    def of(game: Game) -> Schema:
        """That of a game."""
        return Schema(game.name, int(game.num_actions), _layout_of(game))

    @property
    def max_symmetries(self) -> int:
        """More than any position has: squares have 8, games in Python say for themselves."""
        return 255 if self.layout.dense_planes else 8

    def to_dict(self) -> dict[str, Any]:
        """As a shard's header has it."""
        layout = vars(self.layout) | {"scalar_scales": list(self.layout.scalar_scales)}
        return vars(self) | {"layout": layout}

    @staticmethod
    def from_dict(found: Mapping[str, Any]) -> Schema | None:
        """None unless every field is there and in range; `found` is not trusted."""
        given = found.get("layout")
        if not isinstance(given, dict) or not isinstance(found.get("game"), str):
            return None
        scales = given.get("scalar_scales")
        if not isinstance(scales, list) or len(scales) > MAX_EXTENT:
            return None
        good = all(type(scale) in (int, float) and math.isfinite(scale) for scale in scales)
        good = good and all(_whole(given.get(name), 1, MAX_EXTENT) for name in ("rows", "columns"))
        planes = ("binary_planes", "dense_planes")
        good = good and all(_whole(given.get(name), 0, MAX_EXTENT) for name in planes)
        if not good or not _whole(found.get("num_actions"), 1, MAX_ACTIONS):
            return None
        layout = Layout(
            given["rows"],
            given["columns"],
            given["binary_planes"],
            tuple(float(scale) for scale in scales),
            given["dense_planes"],
        )
        if not layout.words:
            return None
        return Schema(found["game"], found["num_actions"], layout)


def _whole(value: Any, low: int, high: int) -> bool:
    """Whether an untrusted value is a whole number of that range."""
    return type(value) is int and low <= value <= high


def _layout_of(game: Any) -> Layout:
    if not is_native(game):
        shape = tuple(int(extent) for extent in game.observation_shape)
        if len(shape) == 1:
            shape = (*shape, 1)
        planes, rows, columns = (1,) * (3 - len(shape)) + shape
        return Layout(rows, columns, 0, (), planes)
    # With every byte 1 a scalar plane is its scale everywhere, a binary plane is 1 in every eighth
    # cell and 0 elsewhere.
    _, rows, columns = game.observation_shape
    probe = np.full((1, game.packed_words), _BYTES_OF_ONE, np.uint64)
    planes = game.expand_observations(probe)[0].reshape(-1, rows * columns)
    scalar = (planes == planes[:, :1]).all(axis=1)
    scales = tuple(float(scale) for scale in planes[scalar, 0])
    return Layout(rows, columns, int((~scalar).sum()), scales, 0)
