"""Samples as columns: what self-play hands over, a shard holds and a window is made of.

All numbers are from the side of the player to move. Observations stand in the canonical one of the
position's symmetries, so that equal positions have equal words. Knows no files.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zermelo.replay.columns import (
    Array,
    ShardError,
    a_count_of_symmetries,
    between,
    check_shapes,
    column,
    columns_of,
    made_of,
    of_the_header,
    typed,
)

FULL = 1  # from a full search: its policy is a target
RESIGNED = 2  # the game ended by resignation
ADJUDICATED = 4  # the game was cut off and judged
AUDIT = 8  # in this game resignation was only noted
PROVEN = 16  # the search had proved the position's result
FLAGS = FULL | RESIGNED | ADJUDICATED | AUDIT | PROVEN

WHOLE_SHARE = 65535  # shares of a row sum to it
VALUE_SCALE = 32767
DRAW_SCALE = 65535

NO_ACTION = 65535  # what was played is not known, or nothing was: the game ended


@dataclass(frozen=True, eq=False)
class Samples:
    """N samples with E policy entries; the columns are not to be written to."""

    observations: NDArray[np.uint64] = column(
        "<u8",
        "what the network sees, packed, in the position's canonical symmetry",
        "dense planes are finite, unused bits are 0",
        wide=True,
    )
    policy_counts: NDArray[np.uint16] = column(
        "<u2", "number of legal actions of the row", "at least 1; they add up to E"
    )
    policy_actions: NDArray[np.uint16] = column(
        "<u2",
        "all legal actions, row after row",
        "below `num_actions`, ascending within a row",
        per="entries",
    )
    policy_shares: NDArray[np.uint16] = column(
        "<u2",
        "share of each action in the search's target; 65535 is 1",
        "a row adds up to 65535, or to 0 if it is not FULL",
        per="entries",
    )
    results: NDArray[np.int8] = column(
        "|i1",
        "how the game ended for the mover",
        "-1 lost, 0 drawn, 1 won",
        rule=between(-1, 1, "-1, 0 or 1"),
    )
    values: NDArray[np.int16] = column(
        "<i2",
        "the search's value of the position; 32767 is 1",
        "-32767 to 32767",
        rule=between(-VALUE_SCALE, VALUE_SCALE, f"from -{VALUE_SCALE} up"),
    )
    draws: NDArray[np.uint16] = column(
        "<u2",
        "the search's draw probability; 65535 is 1",
        "abs(value) + draw is at most 1, up to rounding",
    )
    plies: NDArray[np.uint16] = column("<u2", "plies played before")
    plies_left: NDArray[np.uint16] = column(
        "<u2",
        "plies until the game ended; 0 means unknown: the moves-left head learns nothing from the "
        "row",
    )
    iterations: NDArray[np.uint32] = column(
        "<u4",
        "iteration of the network that searched",
        "within the header's `iterations`",
        rule=of_the_header,
    )
    games: NDArray[np.uint32] = column(
        "<u4",
        "number of the game within the shard",
        "that of a record, if there are records",
    )
    symmetries: NDArray[np.uint8] = column(
        "|u1",
        "number of exact symmetries of the position, with the identity",
        "1 to 8; in games written in Python up to 255",
        rule=a_count_of_symmetries,
    )
    flags: NDArray[np.uint8] = column(
        "|u1", "sum of the flags below", "below 32", rule=made_of(FLAGS)
    )
    played: NDArray[np.uint16] = column(
        "<u2",
        "the action that was played, in the symmetry of `policy_actions`",
        "a legal action of the row, or 65535: unknown, or the game ended here",
        since=2,
        older=NO_ACTION,
    )

    def __post_init__(self) -> None:
        """Columns have their types and fit together."""
        check_shapes(self, self.lengths)
        entries = int(self.policy_counts.sum(dtype=np.int64))
        if entries != len(self.policy_actions):
            raise ShardError(
                f"policy_counts sum to {entries}, but there are {len(self.policy_actions)} entries"
            )

    @property
    def lengths(self) -> dict[str, int]:
        """How many there are of what columns are for."""
        return {"samples": len(self.observations), "entries": len(self.policy_actions)}

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
        return sum(values.nbytes for values in self.columns().values())

    def columns(self) -> dict[str, Array]:
        """The columns by name, in the order of the file."""
        return {name: getattr(self, name) for name in COLUMNS}

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
                name: values[rows if COLUMNS[name].per == "samples" else entries]
                for name, values in self.columns().items()
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
        """From arrays by name; other keys are left alone. Actions of each row are put in order.

        Columns that older files do not have may be missing.
        """
        lengths = {"samples": len(columns.get("observations", ()))}
        made = typed(Samples, columns, lengths)
        samples = Samples(**made)
        order = _ascending(samples)
        if order is not None:
            for name in ("policy_actions", "policy_shares"):
                made[name] = made[name][order]
        return Samples(**made)


COLUMNS = columns_of(Samples)


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
