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
class FutureBatch:
    """T15: of B rows, with up to R actions of the opponent; for the player to move now."""

    reply_actions: NDArray[np.int64]  # [B, R], 0 where padded
    reply_shares: NDArray[np.float32]  # [B, R], -1 where padded
    reply_weight: NDArray[np.float32]  # [B] 1, or 0 without a reply
    wdl: NDArray[np.float32]  # [B, horizons, 3]
    known: NDArray[np.float32]  # [B, horizons] 1, or 0


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
    futures: FutureBatch | None = None

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
        if merged.futures is not None:
            self._starts = merged.source.starts()
            most_frames = int(merged.futures.source.frame.max(initial=0)) + 1
            self._all_maps = _core.action_maps(self._native, max(count, most_frames))
            self._back = np.argsort(self._all_maps, axis=1)  # from a frame to the board as it was
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
            futures=self._futures(positions, symmetry),
        )

    def _futures(self, positions: Array, symmetry: Array) -> FutureBatch | None:
        """The reply's actions go from its own frame over the board as it was to this row's."""
        merged, source = self.merged.futures, self.merged.source
        if merged is None:
            return None
        rows = merged.rows[positions]
        answered = rows >= 0
        own = np.where(answered, rows, 0)
        replies = own + merged.source.reply[own]
        counts = np.where(answered, source.policy_counts[replies].astype(np.int64), 0)
        slots = np.arange(max(1, int(counts.max(initial=1))))
        padded = slots >= counts[:, None]
        entries = self._starts[replies][:, None] + slots
        entries[padded] = 0
        played = self._back[merged.source.frame[replies][:, None], source.policy_actions[entries]]
        actions = self._all_maps[merged.source.frame[own][:, None], played]
        actions = self._all_maps[symmetry[:, None], actions].astype(np.int64)
        actions[padded] = 0
        shares = source.policy_shares[entries] * np.float32(1 / WHOLE_SHARE)
        shares[padded] = -1
        return FutureBatch(
            actions,
            shares,
            answered.astype(np.float32),
            merged.wdl[positions],
            merged.known[positions],
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
