"""Records of whole games: every action from the initial position on, and how the game ended.

Samples are the positions that are learnt from, so they leave plies out; a record leaves out none.
Knows no files and no rules of a game.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zermelo.replay.columns import (
    Array,
    Bounds,
    ShardError,
    between,
    check_shapes,
    column,
    columns_of,
    made_of,
    typed,
)
from zermelo.replay.samples import ADJUDICATED, AUDIT, PROVEN, RESIGNED

DRAWN = 2  # among game_outcomes, as Outcome has it
GAME_FLAGS = RESIGNED | ADJUDICATED | AUDIT | PROVEN


def _an_action(found: Array, bounds: Bounds) -> tuple[Array, str]:
    return found >= bounds.schema.num_actions, f"below {bounds.schema.num_actions}"


@dataclass(frozen=True, eq=False)
class GameRecords:
    """G games with A actions together; the columns are not to be written to."""

    game_lengths: NDArray[np.uint32] = column(
        "<u4", "plies that were played", "they add up to A", per="records", since=2, older=0
    )
    game_outcomes: NDArray[np.uint8] = column(
        "|u1",
        "how the game ended, or was judged",
        "1 the first player won, 2 drawn, 3 the second player won",
        per="records",
        rule=between(1, 3, "1, 2 or 3"),
        since=2,
        older=0,
    )
    game_flags: NDArray[np.uint8] = column(
        "|u1",
        "why the game ended early: RESIGNED, ADJUDICATED or PROVEN; and AUDIT",
        "sum of these flags",
        per="records",
        rule=made_of(GAME_FLAGS),
        since=2,
        older=0,
    )
    game_actions: NDArray[np.uint16] = column(
        "<u2",
        "all actions as they were played, game after game",
        "below `num_actions`",
        per="moves",
        rule=_an_action,
        since=2,
        older=0,
    )

    def __post_init__(self) -> None:
        """Columns have their types and fit together."""
        check_shapes(self, self.lengths)
        total = int(self.game_lengths.sum(dtype=np.int64))
        if total != len(self.game_actions):
            raise ShardError(
                f"game_lengths sum to {total}, but there are {len(self.game_actions)} moves"
            )

    @property
    def lengths(self) -> dict[str, int]:
        """How many there are of what columns are for."""
        return {"records": len(self.game_lengths), "moves": len(self.game_actions)}

    def __len__(self) -> int:
        """Number of games."""
        return len(self.game_lengths)

    def columns(self) -> dict[str, Array]:
        """The columns by name, in the order of the file."""
        return {name: getattr(self, name) for name in RECORD_COLUMNS}

    def actions(self) -> list[Array]:
        """Those of each game."""
        if not len(self):
            return []
        return np.split(self.game_actions, np.cumsum(self.game_lengths, dtype=np.int64)[:-1])

    @staticmethod
    def from_columns(columns: Mapping[str, Any]) -> GameRecords:
        """From arrays by name; other keys are left alone. None of them is no games."""
        return GameRecords(**typed(GameRecords, columns, {"records": 0, "moves": 0}))

    @staticmethod
    def none() -> GameRecords:
        """Of a shard that has no records: of version 1, or not from self-play."""
        return GameRecords.from_columns({})


RECORD_COLUMNS = columns_of(GameRecords)
