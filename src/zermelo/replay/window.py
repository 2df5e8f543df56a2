"""T6, T7: the newest samples of the last iterations, in memory.

What is loaded stays: an update drops the oldest rows and adds those of new shards. Rows that were
handed out are never written to again. One window belongs to one thread; what `merged` gives may be
read by others.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from zermelo.games.protocol import Game
from zermelo.replay.columns import Array
from zermelo.replay.dedup import Merged, merge
from zermelo.replay.futures import HORIZONS, Futures, futures_of
from zermelo.replay.growing import GrowingColumn
from zermelo.replay.options import ReplayOptions, window_size
from zermelo.replay.samples import COLUMNS, Samples
from zermelo.replay.store import ReplayStore, StoredShard

Progress = Callable[[int, int], None]  # shards loaded, shards to load


class Window:
    """The samples that an iteration learns from; `update` moves it on."""

    def __init__(
        self, store: ReplayStore, options: ReplayOptions, follow: Game | None = None
    ) -> None:
        """Empty until `update`. With `follow`, its game, samples know their futures (T15)."""
        self.store = store
        self._follow = follow
        self.options = options
        self._clear()
        self._merged = 0  # positions that the last `merged` gave, and the samples it was given
        self._given = 0

    def __len__(self) -> int:
        """Samples in memory, those kept out of training included."""
        return len(self._held_out)

    def update(self, iteration: int, progress: Progress | None = None) -> None:
        """Makes it the window of `iteration`, of which shards written later are no part.

        What an earlier `merged` gave stays as it is, but keeps its memory while it is referred to.
        """
        while True:
            wanted = self._wanted(iteration)
            if not self._drop_all_but(wanted):
                self._clear()
            loaded = {shard.path.name for shard in self._shards}
            missing = [shard for shard in wanted if shard.path.name not in loaded]
            if self._load(missing, progress):
                break  # else one was damaged: others may take its place
        self._drop_rows(len(self) - self.options.max_samples)

    def samples(self) -> Samples:
        """All of them, oldest first, as views."""
        return Samples(**{name: column.live() for name, column in self._columns.items()})

    def merged(self) -> Merged:
        """What training sees: equal positions merged (T4), kept-out games left away."""
        rows = np.flatnonzero(~self._held_out.live()) if self.options.holdout > 0 else None
        found = self._merge(rows)
        self._merged, self._given = len(found), found.samples
        return found

    def holdout(self) -> Merged:
        """The games that training does not see, merged the same way."""
        return self._merge(np.flatnonzero(self._held_out.live()))

    def report(self) -> dict[str, Any]:
        """Figures for metrics; `merged` and `duplicates` are those of the last `merged()`."""
        iterations = [shard.header.iteration for shard in self._shards]
        columns = [*self._columns.values(), self._held_out]
        return {
            "samples": len(self),
            "shards": len(self._shards),
            "oldest_iteration": min(iterations, default=None),
            "newest_iteration": max(iterations, default=None),
            "held_out": int(self._held_out.live().sum()),
            "merged": self._merged,
            "duplicates": 1 - self._merged / self._given if self._given else 0.0,
            "bytes": sum(column.live().nbytes for column in columns),
            "damaged": len(self.store.damage),
        }

    def _merge(self, rows: Array | None) -> Merged:
        kind = self.options.dedup_weight
        futures = Futures(*(column.live() for column in self._futures)) if self._follow else None
        return merge(
            self.samples(),
            rows,
            deduplicate=self.options.deduplicate,
            weight=kind,
            futures=futures,
        )

    def _clear(self) -> None:
        words = self.store.schema.layout.words
        self._columns = {
            name: GrowingColumn(declared.dtype, words if declared.wide else None)
            for name, declared in COLUMNS.items()
        }
        self._held_out = GrowingColumn("|b1")
        later = 3 * len(HORIZONS)
        self._futures = (GrowingColumn("<i4"), GrowingColumn("|u1"), GrowingColumn("<f4", later))
        self._shards: deque[StoredShard] = deque()
        self._rows: deque[int] = deque()  # rows of each shard that are still here

    def _wanted(self, iteration: int) -> list[StoredShard]:
        """Newest last; together they may have more than max_samples by part of the first."""
        oldest = iteration - window_size(iteration, self.options) + 1
        shards = [s for s in self.store.shards() if oldest <= s.header.iteration <= iteration]
        total, kept = 0, len(shards)
        while kept and total < self.options.max_samples:
            kept -= 1
            total += shards[kept].header.samples
        return shards[kept:]

    def _drop_all_but(self, wanted: Sequence[StoredShard]) -> bool:
        """Drops shards from the old end; False if that does not do and all must be loaded anew."""
        names = {shard.path.name for shard in wanted}
        while self._shards and self._shards[0].path.name not in names:
            self._drop_rows(self._rows[0])
        if not self._shards:
            return True
        first = self._shards[0]
        if wanted[0].path.name != first.path.name:  # something older is wanted again
            return False
        trimmed = first.header.samples - self._rows[0]
        surplus = sum(shard.header.samples for shard in wanted) - self.options.max_samples
        return trimmed <= max(0, surplus) and all(s.path.name in names for s in self._shards)

    def _drop_rows(self, count: int) -> None:
        """The oldest so many."""
        while count > 0:
            rows = min(count, self._rows[0])
            counts = self._columns["policy_counts"].live()[:rows]
            entries = int(counts.sum(dtype=np.int64))
            for name, column in self._columns.items():
                column.drop(rows if COLUMNS[name].per == "samples" else entries)
            self._held_out.drop(rows)
            if self._follow:
                for future in self._futures:
                    future.drop(rows)
            count -= rows
            self._rows[0] -= rows
            if not self._rows[0]:
                self._rows.popleft()
                self._shards.popleft()

    def _load(self, missing: Sequence[StoredShard], progress: Progress | None) -> bool:
        for done, shard in enumerate(missing):
            whole = self.store.read_whole(shard)
            if whole is None:
                return False
            samples = whole.samples
            if self._follow:
                futures = futures_of(self._follow, whole)
                for future, rows in zip(self._futures, vars(futures).values(), strict=True):
                    future.append(rows)
            for name, column in samples.columns().items():
                self._columns[name].append(column)
            self._held_out.append(held_out(shard.path.name, samples.games, self.options.holdout))
            self._shards.append(shard)
            self._rows.append(len(samples))
            if progress is not None:
                progress(done + 1, len(missing))
        return True


def held_out(shard: str, games: Array, share: float) -> Array:
    """Of each sample, whether its game is kept out of training: by a hash of shard and game."""
    seed = int.from_bytes(hashlib.blake2b(shard.encode(), digest_size=8).digest(), "little")
    key = games.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) ^ np.uint64(seed)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        key = (key ^ key >> np.uint64(shift)) * np.uint64(factor)
    key ^= key >> np.uint64(31)
    return np.asarray((key >> np.uint64(11)) * 2.0**-53 < share)
