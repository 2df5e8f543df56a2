"""Where each of chess's 1858 actions stands on the planes of a convolutional policy.

The map is lc0's: 73 planes, each one kind of move, at the square the piece leaves; ranks and files
are from the mover's side. Queen moves in eight directions of one to seven squares, clockwise from
straight ahead; eight knight moves, clockwise; then promotions by direction (left, ahead, right) to
rook, bishop and queen. A promotion to a knight is the plain pawn move.
"""

from __future__ import annotations

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


@cache
def plane_indices() -> NDArray[np.int64]:
    """[1858]: plane * 64 + square of every action, in the order of the actions."""
    found = []
    for start in range(64):
        for end in range(64):
            plane = _plain_plane(end % 8 - start % 8, end // 8 - start // 8)
            if plane is not None:
                found.append(plane * 64 + start)
    for start in range(48, 56):
        for files in (-1, 0, 1):
            if 0 <= start % 8 + files < 8:
                found += [
                    (64 + 3 * (files + 1) + _PROMOTED_PLANE[piece]) * 64 + start for piece in "qrb"
                ]
    indices = np.array(found, np.int64)
    indices.setflags(write=False)
    return indices
