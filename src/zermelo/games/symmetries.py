"""The symmetries of a game in Python as tables: where each cell and each action goes.

`board_symmetries` makes them for boards. Positions themselves are never transformed: what a network
sees of an image is what it sees of the position, moved cell by cell. Knows no game.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from zermelo import _core
from zermelo.errors import UserError
from zermelo.games.protocol import HasSymmetries, State, state_hash

Place: TypeAlias = int | tuple[int, ...] | None  # of an action: cells of the board, or nowhere

KINDS = {
    "all": (0, 1, 2, 3, 4, 5, 6, 7),  # of a square; of another rectangle the first four
    "left-right": (0, 1),
    "top-bottom": (0, 2),
    "half-turn": (0, 3),
    "rectangle": (0, 1, 2, 3),
    "diagonal": (0, 4),
}


@dataclass(frozen=True)
class Symmetries:
    """Row k of each table says where cells and actions go under symmetry k; row 0 is as it is."""

    cells: tuple[tuple[int, ...], ...]
    actions: tuple[tuple[int, ...], ...]

    def __len__(self) -> int:
        return len(self.cells)


def board_symmetries(
    rows: int, columns: int, actions: Iterable[Place] | None = None, kind: str = "all"
) -> Symmetries:
    """The symmetries of a board for a game's attribute `symmetries`.

    `actions` has an entry for each action: the cell (row * columns + column) that it is played on,
    a tuple of cells for a move from cell to cell, or None for one that stays the same, such as a
    pass. Left out, there is an action for each cell. `kind` is one of all, left-right, top-bottom,
    half-turn, rectangle (the last three together) and diagonal.
    """
    if kind not in KINDS:
        raise UserError(f"there are no symmetries '{kind}': there are {', '.join(KINDS)}")
    numbers = [k for k in KINDS[kind] if k < 4 or rows == columns]
    if kind == "diagonal" and rows != columns:
        raise UserError(f"a board of {rows} x {columns} cells has no diagonal symmetry")
    cells = tuple(
        tuple(_moved(cell, rows, columns, k) for cell in range(rows * columns)) for k in numbers
    )
    places = list(range(rows * columns)) if actions is None else list(actions)
    return Symmetries(cells, tuple(_action_table(places, table) for table in cells))


def _moved(cell: int, rows: int, columns: int, symmetry: int) -> int:
    """Bit 0 mirrors left-right, bit 1 top-bottom, then bit 2 transposes, as native games do."""
    row, column = divmod(cell, columns)
    column = columns - 1 - column if symmetry & 1 else column
    row = rows - 1 - row if symmetry & 2 else row
    return column * rows + row if symmetry & 4 else row * columns + column


def _action_table(places: Sequence[Place], cells: tuple[int, ...]) -> tuple[int, ...]:
    found: dict[Place, int] = {}
    for action, place in enumerate(places):
        if place is not None and found.setdefault(place, action) != action:
            raise UserError(f"actions {found[place]} and {action} are both played on cell {place}")
    table = []
    for action, place in enumerate(places):
        if place is None:
            table.append(action)
            continue
        try:
            image: Place = (
                tuple(cells[each] for each in place) if isinstance(place, tuple) else cells[place]
            )
            table.append(found[image])
        except (KeyError, IndexError):
            raise UserError(
                f"action {action}, played on cell {place}, has no mirror image among the actions"
            ) from None
    return tuple(table)


# ---- any game ------------------------------------------------------------------------------------


def tables_of(game: Any) -> Symmetries | None:
    """What the game declares; None if it declares nothing or has methods instead."""
    found = getattr(game, "symmetries", None)
    return found if isinstance(found, Symmetries) else None


def has_symmetries(game: Any) -> bool:
    """Whether the game says anything about symmetries."""
    return tables_of(game) is not None or isinstance(game, HasSymmetries)


def symmetry_count(game: Any, state: State) -> int:
    """Of a position, with the identity."""
    tables = tables_of(game)
    if tables is not None:
        return len(tables)
    return int(game.num_symmetries(state)) if isinstance(game, HasSymmetries) else 1


def image_action(game: Any, action: int, symmetry: int) -> int:
    """Where an action goes."""
    tables = tables_of(game)
    if tables is not None:
        return tables.actions[symmetry][action]
    return int(game.transform_action(action, symmetry)) if symmetry else action


def image_planes(game: Any, state: State, symmetry: int) -> npt.NDArray[np.float32]:
    """What a network sees of the image."""
    tables = tables_of(game)
    if tables is None:
        image = game.transform(state, symmetry) if symmetry else state
        return np.asarray(game.observe(image), np.float32)
    planes = np.asarray(game.observe(state), np.float32)
    moved = np.empty_like(planes).reshape(planes.shape[0], -1)
    moved[:, list(tables.cells[symmetry])] = planes.reshape(planes.shape[0], -1)
    return moved.reshape(planes.shape)


def image_hash(game: Any, state: State) -> int:
    """The same for all images of a position."""
    if tables_of(game) is None:
        images = (
            game.transform(state, k) if k else state for k in range(symmetry_count(game, state))
        )
        return min(state_hash(game, image) for image in images)
    mover = bytes([game.player(state)])
    return min(
        _core.bytes_hash(image_planes(game, state, k).tobytes() + mover)
        for k in range(symmetry_count(game, state))
    )
