"""Where each of chess's 1858 actions stands in the policy of a network.

The map of a convolutional policy is lc0's: 73 planes, each one kind of move, at the square the
piece leaves; ranks and files are from the mover's side. Queen moves in eight directions of one to
seven squares, clockwise from straight ahead; eight knight moves, clockwise; then promotions by
direction (left, ahead, right) to rook, bishop and queen. A promotion to a knight is the plain pawn
move. An attention policy has a logit for every pair of squares.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np
from numpy.typing import NDArray

CHESS_ACTIONS = 1858
CHESS_PLANES = 73

# (files to the right, ranks ahead)
_DIRECTIONS = ((0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1))
_KNIGHT = ((1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2))
_PROMOTED_PLANE = {"r": 0, "b": 1, "q": 2}


def _plain_plane(files: int, ranks: int) -> int | None:
    """The plane of a queen or knight move by so much; None if neither moves so."""
    if (files, ranks) in _KNIGHT:
        return 56 + _KNIGHT.index((files, ranks))
    length = max(abs(files), abs(ranks))
    if length == 0 or not {abs(files), abs(ranks)} <= {0, length}:
        return None
    return 7 * _DIRECTIONS.index((files // length, ranks // length)) + length - 1


def _promotions() -> Iterator[tuple[int, int, str]]:
    """(start, end, piece) of the last 66 actions."""
    for start in range(48, 56):
        for files in (-1, 0, 1):
            if 0 <= start % 8 + files < 8:
                yield from ((start, start + 8 + files, piece) for piece in "qrb")


def _plain_moves() -> Iterator[tuple[int, int, int]]:
    """(start, end, plane) of the actions before those."""
    for start in range(64):
        for end in range(64):
            plane = _plain_plane(end % 8 - start % 8, end // 8 - start // 8)
            if plane is not None:
                yield start, end, plane


@cache
def plane_indices() -> NDArray[np.int64]:
    """[1858]: plane * 64 + square of every action, in the order of the actions."""
    found = [plane * 64 + start for start, _, plane in _plain_moves()]
    for start, end, piece in _promotions():
        plane = 64 + 3 * (end - start - 7) + _PROMOTED_PLANE[piece]
        found.append(plane * 64 + start)
    return _fixed(found)


@cache
def cell_pairs() -> NDArray[np.int64]:
    """[1858]: start * 64 + end of every action."""
    found = [start * 64 + end for start, end, _ in _plain_moves()]
    return _fixed(found + [start * 64 + end for start, end, _ in _promotions()])


@cache
def promotion_places() -> NDArray[np.int64]:
    """[1858]: end * 4 + (0 queen, 1 rook, 2 bishop, 3 none of them) of every action."""
    found = [end * 4 + 3 for _, end, _ in _plain_moves()]
    return _fixed(found + [end * 4 + "qrb".index(piece) for _, end, piece in _promotions()])


@cache
def reachable() -> NDArray[np.float32]:
    """[64, 64]: 1 where a queen or knight goes from one cell to the other, -1 for no move."""
    table = -np.eye(64, dtype=np.float32)
    for start, end, _ in _plain_moves():
        table[start, end] = 1
    table.setflags(write=False)
    return table


@cache
def reflected_actions() -> tuple[NDArray[np.int64], ...]:
    """[1858] each: every action on a board mirrored left to right, top to bottom, and at the
    diagonal from a8 to h1. But for the first, promotions stay, as no pawn is there then.
    """
    starts, ends = np.divmod(cell_pairs(), 64)
    kinds = promotion_places() % 4
    numbers = {key: i for i, key in enumerate(zip(starts, ends, kinds, strict=True))}
    cells = np.arange(64)
    maps = (cells ^ 7, cells ^ 56, 8 * (7 - cells % 8) + 7 - cells // 8)
    return tuple(
        _fixed(
            [
                numbers.get((where[start], where[end], kind), i)
                for i, (start, end, kind) in enumerate(zip(starts, ends, kinds, strict=True))
            ]
        )
        for where in maps
    )


def _fixed(numbers: list[int]) -> NDArray[np.int64]:
    indices = np.array(numbers, np.int64)
    indices.setflags(write=False)
    return indices
