"""Positions for people: plain text, coloured text, SVG. Any game can be shown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from zermelo.games.board import Board, action_cells, board_of, last_cells
from zermelo.games.protocol import Game, State
from zermelo.games.svg import svg_board

if TYPE_CHECKING:
    from rich.text import Text

__all__ = ["ascii_board", "rich_board", "svg_board"]

_COLOURS = ("bold bright_cyan", "bold bright_yellow")  # by player


def ascii_board(
    game: Game, state: State, last_action: int | None = None, before: State | None = None
) -> str:
    """The board with its coordinates; `last_action`, which led here, stands in brackets.

    Games whose actions are not just cells need the state `before` it to know where it was.
    """
    board = board_of(game, state)
    if board is None:
        return str(state)
    marks = _marks(game, state, last_action, before)
    return "\n".join(left + body + right for left, body, right, _ in _lines(board, marks))


def rich_board(
    game: Game,
    state: State,
    last_action: int | None = None,
    before: State | None = None,
    *,
    legal: Sequence[int] = (),
) -> Text:
    """The same with each player's pieces in a colour of their own.

    Empty cells that actions of `legal` are played on have a `+`.
    """
    from rich.text import Text

    board = board_of(game, state)
    if board is None:
        return Text(str(state))
    open_cells = {cell for action in legal for cell in action_cells(game, state, action)}
    letters = [
        "+" if cell in open_cells and letter == "." else letter
        for cell, letter in enumerate(board.cells)
    ]
    board = replace(board, cells="".join(letters))
    text = Text(no_wrap=True)
    for left, body, right, row in _lines(board, _marks(game, state, last_action, before)):
        text.append(left, "dim")
        for index, letter in enumerate(body):
            owner = None
            if row is not None and index % 2 == 1 and index // 2 < board.columns:
                owner = board.owner(row * board.columns + index // 2)
            text.append(letter, "dim" if owner is None else _COLOURS[owner])
        text.append(right + "\n", "dim")
    text.rstrip()
    return text


def _marks(
    game: Game, state: State, last_action: int | None, before: State | None
) -> tuple[int, ...]:
    if last_action is None:
        return ()
    if before is not None:
        return action_cells(game, before, last_action)
    return last_cells(game, state, last_action)


def _lines(board: Board, marks: tuple[int, ...]) -> Iterator[tuple[str, str, str, int | None]]:
    """Label, body, label and row of each line; cell i of a row is letter 2 i + 1 of its body."""
    width = max(len(label) for label in board.left)
    margin = " " * (width + 1)
    slanted = board.kind == "hex"
    names = "".join(f"{name:>2}" for name in board.names)
    if slanted:
        yield margin, names, "", None
    for row in range(board.rows):
        letters = board.cells[row * board.columns : (row + 1) * board.columns]
        body = list(" " + " ".join(letters) + " ")
        for cell in marks:
            if cell // board.columns == row:
                column = cell % board.columns
                body[2 * column], body[2 * column + 2] = "[", "]"
        slant = " " * row if slanted else ""
        right = f" {board.right[row]}" if board.right[row] else ""
        text = "".join(body) if right else "".join(body).rstrip()
        yield f"{slant}{board.left[row]:>{width}} ", text, right, row
    if names and not slanted:
        yield margin, names, "", None
