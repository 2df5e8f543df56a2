"""Samples as columns: what self-play hands over, a shard holds and a window is made of.

All numbers are from the side of the player to move. Observations stand in the canonical one of the
position's symmetries, so that equal positions have equal words. Knows no files.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zermelo.errors import UserError

Array = NDArray[Any]

FULL = 1  # from a full search: its policy is a target
RESIGNED = 2  # the game ended by resignation
ADJUDICATED = 4  # the game was cut off and judged
AUDIT = 8  # in this game resignation was only noted
PROVEN = 16  # the search had proved the position's result
FLAGS = FULL | RESIGNED | ADJUDICATED | AUDIT | PROVEN

WHOLE_SHARE = 65535  # shares of a row sum to it
VALUE_SCALE = 32767
DRAW_SCALE = 65535

# Name, type, and what its length is, in the order of the file. Observations have two axes.
COLUMNS = {
    "observations": ("<u8", "samples"),
    "policy_counts": ("<u2", "samples"),
    "policy_actions": ("<u2", "entries"),
    "policy_shares": ("<u2", "entries"),
    "results": ("|i1", "samples"),
    "values": ("<i2", "samples"),
    "draws": ("<u2", "samples"),
    "plies": ("<u2", "samples"),
    "plies_left": ("<u2", "samples"),
    "iterations": ("<u4", "samples"),
    "games": ("<u4", "samples"),
    "symmetries": ("|u1", "samples"),
    "flags": ("|u1", "samples"),
}


class ShardError(UserError):
    """Samples or a shard that cannot be what they should be; the message is one sentence."""


@dataclass(frozen=True, eq=False)
class Samples:
    """N samples with E policy entries; the columns are not to be written to."""

    observations: NDArray[np.uint64]  # [N, words], packed as cpp/games/observation.hpp says
    policy_counts: NDArray[np.uint16]  # [N] legal actions, all of which are listed
    policy_actions: NDArray[np.uint16]  # [E] ascending within a row
    policy_shares: NDArray[np.uint16]  # [E] 65535 is 1; all 0 in rows that are not FULL
    results: NDArray[np.int8]  # [N] -1, 0, 1: how the game ended for the mover
    values: NDArray[np.int16]  # [N] the root's value; 32767 is 1
    draws: NDArray[np.uint16]  # [N] the root's draw probability; 65535 is 1
    plies: NDArray[np.uint16]  # [N] played before
    plies_left: NDArray[np.uint16]  # [N] until the game ended; 0: not known
    iterations: NDArray[np.uint32]  # [N] of the network that played
    games: NDArray[np.uint32]  # [N] number of the game within its shard
    symmetries: NDArray[np.uint8]  # [N] exact symmetries of the position, at least 1
    flags: NDArray[np.uint8]  # [N]

    def __post_init__(self) -> None:
        """Columns have their types and fit together."""
        for name, (dtype, length) in COLUMNS.items():
            column = getattr(self, name)
            axes = 2 if name == "observations" else 1
            if column.dtype != np.dtype(dtype) or column.ndim != axes:
                raise ShardError(f"column {name} is {column.dtype} {column.shape}, not {dtype}")
            rows = len(self.observations) if length == "samples" else len(self.policy_actions)
            if len(column) != rows:
                raise ShardError(f"column {name} has {len(column)} {length}, not {rows}")
        entries = int(self.policy_counts.sum(dtype=np.int64))
        if entries != len(self.policy_actions):
            raise ShardError(
                f"policy_counts sum to {entries}, but there are {len(self.policy_actions)} entries"
            )

    def __len__(self) -> int:
        """Number of samples."""
        return len(self.observations)

    @property
    def words(self) -> int:
        """Words of an observation."""
        return int(self.observations.shape[1])

    @property
    def nbytes(self) -> int:
        """Memory of all columns."""
        return sum(column.nbytes for column in self.columns().values())

    def columns(self) -> dict[str, Array]:
        """The columns by name, in the order of the file."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def starts(self) -> NDArray[np.int64]:
        """[N] where each row's policy entries begin."""
        ends = np.cumsum(self.policy_counts, dtype=np.int64)
        return ends - self.policy_counts

    def take(self, rows: Array) -> Samples:
        """Some rows, by index or mask, in the order given."""
        rows = np.flatnonzero(rows) if rows.dtype == np.bool_ else rows
        entries = entry_index(self.starts()[rows], self.policy_counts[rows])
        return Samples(
            **{
                name: column[rows if COLUMNS[name][1] == "samples" else entries]
                for name, column in self.columns().items()
            }
        )

    @staticmethod
    def concat(parts: Iterable[Samples]) -> Samples:
        """All rows of all parts."""
        parts = list(parts)
        if not parts:
            raise ShardError("there are no samples to put together")
        if len({part.words for part in parts}) > 1:
            raise ShardError("samples of different games cannot be put together")
        return Samples(
            **{name: np.concatenate([getattr(part, name) for part in parts]) for name in COLUMNS}
        )

    @staticmethod
    def from_columns(columns: Mapping[str, Any]) -> Samples:
        """From arrays by name; other keys are left alone. Actions of each row are put in order."""
        made: dict[str, Array] = {}
        for name, (dtype, _) in COLUMNS.items():
            if name not in columns:
                raise ShardError(f"column {name} is missing")
            given = np.asarray(columns[name])
            made[name] = np.ascontiguousarray(given, dtype)
            if given.dtype != made[name].dtype and not np.array_equal(made[name], given):
                raise ShardError(f"column {name} has numbers that do not fit {dtype}")
        samples = Samples(**made)
        order = _ascending(samples)
        if order is not None:
            for name in ("policy_actions", "policy_shares"):
                made[name] = made[name][order]
        return Samples(**made)


def entry_index(starts: Array, counts: Array) -> NDArray[np.int64]:
    """The numbers of all entries of rows that begin at `starts`, row after row."""
    counts = counts.astype(np.int64)
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    return np.asarray(np.arange(total) + np.repeat(starts - ends + counts, counts), np.int64)


def root_wdl(value: Array, draw: Array) -> NDArray[np.float32]:
    """f32 [N, 3]: win, draw and loss of the mover, from value and draw probability as fractions."""
    wdl = np.empty((len(value), 3), np.float32)
    wdl[:, 0] = 0.5 * (1 - draw + value)
    wdl[:, 1] = draw
    wdl[:, 2] = 0.5 * (1 - draw - value)
    np.maximum(wdl, 0, out=wdl)  # value and draw were rounded apart
    wdl /= wdl.sum(axis=1, keepdims=True)
    return wdl


def _ascending(samples: Samples) -> NDArray[np.int64] | None:
    """The order of entries in which actions ascend within rows; None if they do already."""
    counts = samples.policy_counts
    row = np.repeat(np.arange(len(samples), dtype=np.uint64), counts)
    key = row << np.uint64(16) | samples.policy_actions
    return None if (key[1:] >= key[:-1]).all() else np.argsort(key, kind="stable")
