"""Opening books in Polyglot's format, through python-chess."""

from __future__ import annotations

import random
from pathlib import Path

import chess
from chess import polyglot

from zermelo.errors import UserError
from zermelo.files import refuse_special


class Book:
    """A book file, kept open."""

    def __init__(self, path: str, seed: int = 0) -> None:
        """`seed` makes the choices repeatable."""
        refuse_special(Path(path))
        try:
            self._reader = polyglot.open_reader(path)
        except (OSError, ValueError) as error:
            raise UserError(f"BookFile: '{path}' cannot be read: {error}") from None
        self._random = random.Random(seed)

    def choose(self, board: chess.Board) -> chess.Move | None:
        """A legal move of the book, by its weights; None outside the book."""
        entries = [
            e for e in self._reader.find_all(board) if e.weight and e.move in board.legal_moves
        ]
        if not entries:
            return None
        weights = [entry.weight for entry in entries]
        return self._random.choices([entry.move for entry in entries], weights)[0]

    def close(self) -> None:
        """Lets the file go."""
        self._reader.close()
