"""A position as a board that can be drawn: letters, coordinates, and where an action lies on it.

Knows how games are written, nothing of how a board is drawn. Cells are numbered from the top left,
row by row, as a person sees them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from zermelo.games.notation import action_text
from zermelo.games.protocol import Game, HasCells, State
from zermelo.games.registry import kind_of

_CELL = re.compile(r"([a-z])(\d{1,2})")
_CELLS = re.compile(r"(?:[a-z]\d{1,2}[-x]?)+[a-z]?")  # a1, b2b4, b2xd4, e7e8q
_SQUARES = re.compile(r"(\d+)[-x](\d+)")  # 11-15, 22x15


@dataclass(frozen=True)
class Board:
    """Letters with their coordinates."""

    kind: str  # a native game's name without settings, "" for others
    rows: int
    columns: int
    cells: str  # rows * columns letters from the top row down; '.' is empty
    left: tuple[str, ...]  # a label for each row
    right: tuple[str, ...]
    names: tuple[str, ...]  # a label for each column

    def owner(self, cell: int) -> int | None:
        """0 or 1, whose piece stands there; None if empty or unknown."""
        letter = self.cells[cell]
        if letter == ".":
            return None
        if self.kind == "checkers":
            return "bw".index(letter.lower())
        if letter in "XO":
            return "XO".index(letter)
        return int(letter.islower()) if letter.isalpha() else None


def board_of(game: Game, state: State) -> Board | None:
    """The board, or None if the game does not look like one."""
    if not isinstance(game, HasCells):
        return None
    kind = kind_of(game)
    cells = game.cells(state)
    _, rows, columns = game.observation_shape
    if len(cells) != rows * columns:
        return None
    numbers = tuple(str(row + 1) for row in range(rows))
    left = numbers if _counts_down(game) else numbers[::-1]
    right = ("",) * rows
    names = tuple(chr(ord("a") + column % 26) for column in range(columns))
    if kind == "checkers":  # rows by their first and last square, as moves are written
        left = tuple(str(4 * row + 1) for row in range(rows))
        right = tuple(str(4 * row + 4) for row in range(rows))
        names = ()
    elif drops(game):
        start = game.initial()
        names = tuple(action_text(game, start, action) for action in game.legal_actions(start))
        left = ("",) * rows
    return Board(kind, rows, columns, cells, left, right, names)


def drops(game: Game) -> bool:
    """Whether an action is a column into which a stone falls."""
    _, rows, columns = game.observation_shape
    return rows > 1 and game.num_actions == columns


def places(game: Game) -> bool:
    """Whether an action is a cell; one more action may be a pass."""
    _, rows, columns = game.observation_shape
    return game.num_actions in (rows * columns, rows * columns + 1)


def action_cells(game: Game, state: State, action: int) -> tuple[int, ...]:
    """The cells an action touches: where a stone goes, or from where to where; () if none."""
    board = board_of(game, state)
    if board is None:
        return ()
    if drops(game):
        column = range(action, len(board.cells), board.columns)
        return tuple(cell for cell in column if board.cells[cell] == ".")[-1:]
    text = action_text(game, state, action)
    if board.kind == "checkers":
        squares = _SQUARES.fullmatch(text)
        return tuple(_square_cell(int(number)) for number in squares.groups()) if squares else ()
    if _CELLS.fullmatch(text):
        return tuple(
            board.left.index(row) * board.columns + board.names.index(column)
            for column, row in _CELL.findall(text)
            if column in board.names and row in board.left
        )
    if places(game) and not hasattr(game, "action_text") and action < len(board.cells):
        return (action,)
    return ()


def last_cells(game: Game, state: State, action: int) -> tuple[int, ...]:
    """The cell that `action` has just filled, as far as the board after it tells."""
    board = board_of(game, state)
    if board is None:
        return ()
    if drops(game):
        column = range(action, len(board.cells), board.columns)
        return tuple(cell for cell in column if board.cells[cell] != ".")[:1]
    if not places(game) or action >= len(board.cells):
        return ()
    if board.kind == "hex" and game.player(state) == 0:  # O's actions are in O's frame, transposed
        action = action % board.columns * board.columns + action // board.columns
    return (action,) if board.cells[action] != "." else ()


def _square_cell(number: int) -> int:
    """Draughts squares 1 to 32: four to a row, on columns b d f h and a c e g by turns."""
    row, index = divmod(number - 1, 4)
    return row * 8 + 2 * index + (1 if row % 2 == 0 else 0)


def _counts_down(game: Game) -> bool:
    """Whether row 1 is the top row: seen from the names of the first player's actions."""
    if not places(game):
        return False
    _, rows, columns = game.observation_shape
    start = game.initial()
    for action in game.legal_actions(start):
        name = _CELL.fullmatch(action_text(game, start, action))
        row = action // columns
        if name and 2 * row + 1 != rows:
            return int(name.group(2)) == row + 1
    return False
