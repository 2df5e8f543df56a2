"""Games of PGN, one after another, however damaged; python-chess reads them.

What is wrong in a game stands in its `errors`, and nothing is logged. Knows no files.
"""

from __future__ import annotations

from typing import Any, TextIO

import chess.pgn

from zermelo.errors import UserError

MAX_LINE = 1_000_000  # characters; a game without line breaks has some thousands


class _Builder(chess.pgn.GameBuilder[chess.pgn.Game]):
    """Keeps errors, and does not fall out of the main line when a bracket closes nothing."""

    def handle_error(self, error: Exception) -> None:
        self.game.errors.append(error)

    def end_variation(self) -> None:
        if len(self.variation_stack) > 1:
            super().end_variation()
        else:
            self.handle_error(ValueError("a variation ends that did not begin"))


class _Lines:
    """Of a stream; one that no game fills ends the reading."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def readline(self) -> str:
        line: str = self._stream.readline()
        if len(line) > MAX_LINE:
            raise UserError(f"a line of it has more than {MAX_LINE:,} characters")
        return line


def read_pgn_game(stream: TextIO | Any) -> chess.pgn.Game | None:
    """The next game of something with `readline`; None at the end, UserError if it is no PGN."""
    lines: Any = _Lines(stream)
    try:
        return chess.pgn.read_game(lines, Visitor=_Builder)
    except UserError:
        raise
    except (IndexError, KeyError, ValueError, AssertionError, RecursionError) as error:
        raise UserError(f"a game is damaged beyond reading ({type(error).__name__})") from None


def check_variant(headers: chess.pgn.Headers, what: str) -> None:
    """Refuses games that are no chess."""
    name = headers.get("Variant", "Standard")
    try:
        standard = headers.variant() is chess.Board
    except ValueError:
        standard = False
    if not standard:
        raise UserError(f"{what} is a game of {name}: only standard chess and Chess960 are known")
