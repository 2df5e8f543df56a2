"""Patterns of cells by name: `line4` is every line of four cells, `2x3` every such rectangle."""

from __future__ import annotations

import re

from zermelo.errors import UserError

DIRECTIONS = ((0, 1), (1, 0), (1, 1), (1, -1))
MAX_CELLS = 12
MAX_PLACES = 1 << 16  # where windows are looked for, all names together
WINDOW_PLANES = 2  # whose pieces tell contents apart: the first planes of the observation
_NAME = re.compile(r"line([0-9]{1,2})|([0-9]{1,2})x([0-9]{1,2})")


def windows_of(rows: int, columns: int, names: str) -> list[list[int]]:
    """The cells of each window of a board, for names with blanks between them."""
    found: list[list[int]] = []
    if rows * columns * len(DIRECTIONS) * len(names.split()) > MAX_PLACES:
        raise UserError(f"the windows '{names}' are too many for a board of {rows} x {columns}")
    for name in names.split():
        if not (match := _NAME.fullmatch(name)):
            raise UserError(f"'{name}' is no window; windows are such as line4 and 2x3")
        line, height, width = (int(part or 0) for part in match.groups())
        if not 1 <= (line or height * width) <= MAX_CELLS:
            raise UserError(f"the window '{name}' has not 1 to {MAX_CELLS} cells")
        steps = (
            [[(i * down, i * right) for i in range(line)] for down, right in DIRECTIONS]
            if line
            else [[(y, x) for y in range(height) for x in range(width)]]
        )
        for shape in steps:
            for row in range(rows):
                for column in range(columns):
                    cells = [(row + y, column + x) for y, x in shape]
                    if all(0 <= y < rows and 0 <= x < columns for y, x in cells):
                        found.append([y * columns + x for y, x in cells])
    return found
