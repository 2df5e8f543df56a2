"""T4: equal positions are merged into one row, their targets averaged.

Rows are brought together by a 64-bit hash of their words and then compared word by word and action
by action, so that a collision merges nothing. Observations and actions are not copied: a merged row
points to one of its samples, and only averaged policies are new. Everything is a few passes of
NumPy over blocks that fit the cache; most of them run without the interpreter's lock.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zermelo.replay.columns import Array
from zermelo.replay.futures import Futures, MergedFutures
from zermelo.replay.samples import (
    DRAW_SCALE,
    FULL,
    VALUE_SCALE,
    WHOLE_SHARE,
    Samples,
    root_wdl,
)

BLOCK_BYTES = 1 << 20  # of words or shares handled at once
_WORD_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_KEY_FACTOR = np.uint64(0xD6E8FEB86659FD93)
_SHIFT = np.uint64(32)


@dataclass(frozen=True, eq=False)
class Merged:
    """M positions to learn from; `source` is what they were made of and must not change."""

    source: Samples
    rows: NDArray[np.int64]  # [M] a sample of the position
    counts: NDArray[np.int32]  # [M] how many samples it had
    starts: NDArray[np.int64]  # [M] where its entries begin in source.policy_*
    averaged: NDArray[np.int64]  # [M] where they begin in `shares`; -1: the sample's own are right
    shares: NDArray[np.float32]  # [A] averaged policies, each as long as its row's policy_counts
    has_policy: NDArray[np.bool_]  # [M] whether any of its samples had a policy target
    result_wdl: NDArray[np.float32]  # [M, 3] win, draw, loss of the mover
    root_wdl: NDArray[np.float32]  # [M, 3]
    plies_left: NDArray[np.float32]  # [M] mean of those that are known; 0: none is
    weight: NDArray[np.float32]  # [M]
    futures: MergedFutures | None = None  # T15

    def __len__(self) -> int:
        """Number of positions."""
        return len(self.rows)

    @property
    def samples(self) -> int:
        """How many samples were merged."""
        return int(self.counts.sum(dtype=np.int64))

    @property
    def nbytes(self) -> int:
        """Memory beyond that of `source`."""
        return sum(value.nbytes for value in vars(self).values() if isinstance(value, np.ndarray))


def merge(
    samples: Samples,
    rows: Array | None = None,
    *,
    deduplicate: bool = True,
    weight: str = "log",
    futures: Futures | None = None,
) -> Merged:
    """Merges the samples, or some `rows` of them; `weight` is `ReplayOptions.dedup_weight`.

    Without `deduplicate` every sample stays on its own, with weight 1. `futures` are the samples'.
    """
    chosen = np.arange(len(samples)) if rows is None else np.asarray(rows, np.int64)
    starts = samples.starts()
    if deduplicate and len(chosen):
        order, first = group(samples, chosen, starts)
    else:
        order, first = chosen, np.arange(len(chosen))
    counts = np.diff(first, append=len(order)).astype(np.int32)
    full = (samples.flags[order] & FULL) != 0
    full_counts = _sums(full, first, np.int32)
    # The row that stands for a group: its first with a policy target, if there is one.
    stands = first.copy()
    several = np.flatnonzero(counts > 1)
    stands[several] = _first_true(full, first[several], counts[several])
    averaged, shares = _average_policies(samples, starts, order, first, counts, full, full_counts)
    values = _means(samples.values, order, first, counts) / VALUE_SCALE
    draws = _means(samples.draws, order, first, counts) / DRAW_SCALE
    representative = order[stands]
    return Merged(
        source=samples,
        rows=representative,
        counts=counts,
        starts=starts[representative],
        averaged=averaged,
        shares=shares,
        has_policy=full_counts > 0,
        result_wdl=_result_wdl(samples.results, order, first, counts),
        root_wdl=root_wdl(values, draws),
        plies_left=_plies_left(samples.plies_left, order, first),
        weight=dedup_weight(counts, weight if deduplicate else "constant"),
        futures=None if futures is None else futures.merged(order, first),
    )


def dedup_weight(counts: Array, kind: str) -> NDArray[np.float32]:
    """Of positions that were seen so often: log2(1 + n), 1 or n."""
    counts = counts.astype(np.float32)
    if kind == "log":
        return np.asarray(np.log2(1 + counts), np.float32)
    return counts if kind == "linear" else np.ones_like(counts)


# --- which rows are equal -------------------------------------------------------------------------


def hash_words(words: Array) -> NDArray[np.uint64]:
    """[N] from u64 [N, W]: multiply, shift, multiply, word after word."""
    keys = np.empty(len(words), np.uint64)
    for block in _blocks(len(words), words.shape[1] * 8):
        columns = np.array(words[block].T, order="C")  # a copy
        columns *= _WORD_FACTOR
        columns ^= columns >> _SHIFT  # brings the highest bits to where the next product spreads
        key = np.full(columns.shape[1], 0x243F6A8885A308D3, np.uint64)
        for column in columns:
            key ^= column
            key *= _KEY_FACTOR
        keys[block] = key
    return keys


def group(samples: Samples, rows: Array, starts: Array) -> tuple[Array, Array]:
    """The rows so that equal ones stand together, and where each group begins.

    Within a group rows keep their order.
    """
    words = samples.observations
    everything = len(rows) == len(words)
    keys = hash_words(words if everything else words[rows])
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    order = rows[order]
    follows = np.empty(len(order), np.bool_)  # whether a row has the hash of the one before
    follows[0] = False
    np.equal(keys[1:], keys[:-1], out=follows[1:])
    pairs = np.flatnonzero(follows)
    differ = pairs[~_equal_rows(samples, starts, order[pairs], order[pairs - 1])]
    if len(differ):
        order, follows = _split_collisions(samples, starts, order, follows, differ)
    return order, np.flatnonzero(~follows)


def _equal_rows(samples: Samples, starts: Array, one: Array, other: Array) -> Array:
    """Whether pairs of rows have the same words, symmetries and actions."""
    equal = samples.policy_counts[one] == samples.policy_counts[other]
    equal &= samples.symmetries[one] == samples.symmetries[other]
    words = samples.observations
    for block in _blocks(len(one), words.shape[1] * 8):
        equal[block] &= (words[one[block]] == words[other[block]]).all(axis=1)
    candidates = np.flatnonzero(equal)
    counts = samples.policy_counts[one[candidates]]
    for size, members in _by_size(counts):
        for block in _blocks(len(members), size * 8):
            pair = candidates[members[block]]
            entries = np.arange(size)
            left = samples.policy_actions[starts[one[pair]][:, None] + entries]
            right = samples.policy_actions[starts[other[pair]][:, None] + entries]
            equal[pair] = (left == right).all(axis=1)
    return np.asarray(equal)


def _split_collisions(
    samples: Samples, starts: Array, order: Array, follows: Array, differ: Array
) -> tuple[Array, Array]:
    """Orders the runs of equal hash that hold different rows by what the rows are."""
    order, follows = order.copy(), follows.copy()
    begins = np.flatnonzero(~follows)
    ends = np.append(begins[1:], len(order))
    for run in np.unique(np.searchsorted(begins, differ, "right") - 1):
        found: dict[bytes, list[int]] = {}
        for row in order[begins[run] : ends[run]].tolist():
            entries = slice(starts[row], starts[row] + samples.policy_counts[row])
            key = samples.observations[row].tobytes() + bytes([samples.symmetries[row]])
            key += samples.policy_actions[entries].tobytes()
            found.setdefault(key, []).append(row)
        place = begins[run]
        for rows in found.values():
            order[place : place + len(rows)] = rows
            follows[place] = False
            follows[place + 1 : place + len(rows)] = True
            place += len(rows)
    return order, follows


# --- averages -------------------------------------------------------------------------------------


def _average_policies(
    samples: Samples,
    starts: Array,
    order: Array,
    first: Array,
    counts: Array,
    full: Array,
    full_counts: Array,
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """`averaged` and `shares` of Merged: for groups with two or more policy targets."""
    averaged = np.full(len(first), -1, np.int64)
    groups = np.flatnonzero(full_counts > 1)
    sizes = samples.policy_counts[order[first[groups]]].astype(np.int64)
    ends = np.cumsum(sizes)
    averaged[groups] = ends - sizes
    shares = np.empty(int(ends[-1]) if len(ends) else 0, np.float32)
    for size, members in _by_size(sizes):
        slots = np.arange(size)
        for block in _blocks_of_groups(counts[groups[members]], size * 8):
            part = groups[members[block]]
            places = _places(first[part], counts[part])
            places = places[full[places]]  # only policy targets are averaged
            targets = full_counts[part]
            found = samples.policy_shares[starts[order[places]][:, None] + slots]
            begins = np.cumsum(targets, dtype=np.int64) - targets
            sums = np.add.reduceat(found, begins, axis=0, dtype=np.int64)
            means = sums / (targets * float(WHOLE_SHARE))[:, None]
            shares[averaged[part][:, None] + slots] = means
    return averaged, shares


def _places(first: Array, counts: Array) -> NDArray[np.int64]:
    """Every place of the groups that begin at `first`."""
    ends = np.cumsum(counts, dtype=np.int64)
    return np.arange(int(ends[-1])) + np.repeat(first - ends + counts, counts)


def _first_true(marks: Array, first: Array, counts: Array) -> Array:
    """For each group, the place of its first mark; its first place if it has none."""
    if not len(first):
        return first
    places = _places(first, counts)
    begins = np.cumsum(counts, dtype=np.int64) - counts
    found = np.where(marks[places], places, len(marks))
    lowest = np.minimum.reduceat(found, begins)
    return np.where(lowest < len(marks), lowest, first)


def _result_wdl(results: Array, order: Array, first: Array, counts: Array) -> NDArray[np.float32]:
    sorted_results = results[order]
    wdl = np.empty((len(first), 3), np.float32)
    wdl[:, 0] = _sums(sorted_results == 1, first, np.int32)
    wdl[:, 2] = _sums(sorted_results == -1, first, np.int32)
    wdl[:, 1] = counts - wdl[:, 0] - wdl[:, 2]
    wdl /= counts[:, None]
    return wdl


def _means(column: Array, order: Array, first: Array, counts: Array) -> NDArray[np.float32]:
    return np.asarray(_sums(column[order], first, np.int64) / counts, np.float32)


def _plies_left(column: Array, order: Array, first: Array) -> NDArray[np.float32]:
    ordered = column[order]
    known = np.maximum(1, _sums(ordered > 0, first, np.int32))
    return np.asarray(_sums(ordered, first, np.int64) / known, np.float32)


def _sums(column: Array, first: Array, dtype: type) -> Array:
    """Of each group of a column in group order."""
    if not len(first):
        return np.zeros(0, dtype)
    return np.add.reduceat(column, first, dtype=dtype)


def _by_size(sizes: Array) -> Iterator[tuple[int, Array]]:
    """Every size with the places that have it: rows of one size make a matrix."""
    if not len(sizes):
        return
    order = np.argsort(sizes, kind="stable")
    values, begins = np.unique(sizes[order], return_index=True)
    yield from zip(values.tolist(), np.split(order, begins[1:]), strict=True)


def _blocks(length: int, row_bytes: int) -> Iterator[slice]:
    """Slices of a length, each of about BLOCK_BYTES."""
    step = max(1, BLOCK_BYTES // max(1, row_bytes))
    return (slice(start, start + step) for start in range(0, length, step))


def _blocks_of_groups(counts: Array, row_bytes: int) -> Iterator[slice]:
    """Slices of groups with so many rows each, every slice of about BLOCK_BYTES or one group."""
    step = max(1, BLOCK_BYTES // max(1, row_bytes))
    filled = (np.cumsum(counts, dtype=np.int64) - counts) // step
    begins = np.flatnonzero(np.diff(filled, prepend=-1))
    ends = np.append(begins[1:], len(counts))
    return (slice(start, end) for start, end in zip(begins, ends, strict=True))
