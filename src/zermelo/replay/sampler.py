"""T5, T9: batches in a seeded random order, each row in a random one of its exact symmetries.

Batches are made by whoever iterates; the core and the large NumPy steps run without the
interpreter's lock, so that a thread beside the optimiser can do it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zermelo import _core
from zermelo.games.native import native_game
from zermelo.games.protocol import Game
from zermelo.replay.columns import Array
from zermelo.replay.dedup import Merged
from zermelo.replay.samples import WHOLE_SHARE
from zermelo.replay.schema import Schema


@dataclass(frozen=True, eq=False)
class Batch:
    """B rows with up to K legal actions, from the mover's side; the receiver owns the arrays."""

    observations: NDArray[Any]  # f32 [B, planes, rows, columns], or packed: u64 [B, words]
    actions: NDArray[np.int64]  # [B, K] legal actions; 0 where padded
    shares: NDArray[np.float32]  # [B, K] policy target, all 0 if there is none; -1 where padded
    policy_weight: NDArray[np.float32]  # [B] 1, or 0 without policy target
    result_wdl: NDArray[np.float32]  # [B, 3] win, draw, loss
    root_wdl: NDArray[np.float32]  # [B, 3]
    plies_left: NDArray[np.float32]  # [B]
    weight: NDArray[np.float32]  # [B]

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.observations)

    @property
    def planes(self) -> NDArray[np.float32]:
        """The observations of a batch that is not packed."""
        assert self.observations.dtype == np.float32
        return self.observations


class BatchSampler:
    """Draws every position once an epoch; the same seed and epoch give the same batches.

    Iterating gives one epoch, and iterating again the next one. With `most`, an epoch ends after
    so many batches, a uniform part of the positions.
    """

    def __init__(
        self,
        merged: Merged,
        game: Game,
        batch: int,
        seed: int = 0,
        symmetries: bool = True,
        most: int | None = None,
        packed: bool = False,
    ) -> None:
        """`merged` may come from training games or from those that were kept out."""
        if batch < 1:
            raise ValueError(f"batch is {batch}, not at least 1")
        self.merged = merged
        self.batch = batch
        self.seed = seed
        self._packed = packed
        self._native = native_game(game)
        self._shape = Schema.of(game).layout.shape
        count = int(merged.source.symmetries.max(initial=1)) if symmetries else 1
        self._maps: Array = _core.action_maps(self._native, count)  # u16 [symmetries, actions]
        self._epoch = 0
        whole = (len(merged) + batch - 1) // batch
        self._batches = whole if most is None else min(most, whole)

    def __len__(self) -> int:
        """Batches of an epoch; the last one may be smaller."""
        return self._batches

    def __iter__(self) -> Iterator[Batch]:
        """The next epoch."""
        epoch = self._epoch
        self._epoch += 1
        return self.epoch(epoch)

    def epoch(self, number: int) -> Iterator[Batch]:
        """The positions in an order that depends on the seed and the epoch's number alone."""
        rng = np.random.default_rng((self.seed, number))
        order = rng.permutation(len(self.merged))
        for index in range(self._batches):
            yield self.take(order[index * self.batch : (index + 1) * self.batch], rng)

    def take(self, positions: Array, rng: np.random.Generator) -> Batch:
        """A batch of these positions of `merged`, with symmetries drawn from `rng`."""
        merged, source = self.merged, self.merged.source
        rows = merged.rows[positions]
        symmetry = np.zeros(len(rows), np.uint8)
        if len(self._maps) > 1:
            symmetry = rng.integers(0, source.symmetries[rows], dtype=np.uint8)
        actions, shares = self._policies(positions, rows, symmetry)
        return Batch(
            observations=self._observations(rows, symmetry),
            actions=actions,
            shares=shares,
            policy_weight=merged.has_policy[positions].astype(np.float32),
            result_wdl=merged.result_wdl[positions],
            root_wdl=merged.root_wdl[positions],
            plies_left=merged.plies_left[positions],
            weight=merged.weight[positions],
        )

    def _observations(self, rows: Array, symmetry: Array) -> NDArray[Any]:
        packed = self.merged.source.observations
        if self._packed:
            return _core.transform_samples(self._native, packed, rows, symmetry)
        planes = np.empty((len(rows), *self._shape), np.float32)
        _core.decode_samples(self._native, packed, rows, symmetry, planes)
        return planes

    def _policies(
        self, positions: Array, rows: Array, symmetry: Array
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        merged, source = self.merged, self.merged.source
        counts = source.policy_counts[rows].astype(np.int64)
        slots = np.arange(int(counts.max(initial=1)))
        padded = slots >= counts[:, None]
        entries = merged.starts[positions][:, None] + slots
        entries[padded] = 0
        actions = source.policy_actions[entries]
        if len(self._maps) > 1:
            actions = self._maps[symmetry[:, None], actions]
        wide = actions.astype(np.int64)
        wide[padded] = 0
        shares = source.policy_shares[entries] * np.float32(1 / WHOLE_SHARE)
        averaged = merged.averaged[positions]
        if len(several := np.flatnonzero(averaged >= 0)):
            entries = averaged[several][:, None] + slots
            entries[padded[several]] = 0
            shares[several] = merged.shares[entries]
        shares[padded] = -1
        return wide, shares
