"""Reads suites of problems: positions with what is known about the right answer.

The format is told by the content, not by the name. A line that cannot be read is refused by file
and line. Knows formats, no players.

| format | a line | right is |
|---|---|---|
| EPD | `FEN bm Qg6; am Qh5; id "WAC.001";` | one of `bm`, none of `am` |
| EPD mates | `FEN dm 3;` or `FEN bm #-2;` | a proof that the mover mates, or with - is mated |
| EPD with both | `FEN bm Qg6; dm 3;` | a proof, or `bm` of a player that gives none |
| puzzles | CSV with FEN, Moves and Themes, as of Lichess | every move of the solver's line |
| Connect Four | `32164625 11`: columns played, exact score | what keeps the result |
| Othello | `.obf`: board, side, exact score of every move | what keeps the result |
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from zermelo.errors import REFUSALS, UserError
from zermelo.files import refuse_special
from zermelo.games import game as find_game

CONNECT4 = re.compile(r"([1-7]+)\s+(-?\d{1,2})")
OTHELLO = re.compile(r"([-.XO*xo]{64})\s+([XO*xo])\s*;(.*)")
OTHELLO_MOVE = re.compile(r"([A-Ha-h][1-8]|[Pp][Aa]?[Ss]?[Ss]?|--)\s*:\s*([+-]?\d{1,2})")
EPD = re.compile(r"(?:[1-8pnbrqkPNBRQK]+/){7}[1-8pnbrqkPNBRQK]+\s+[wb]\s+\S+\s+\S+.*")
LONG_NUMBER = re.compile(r"\d{300}")
LONGEST_MATE = 999
MATE = re.compile(r"\bbm\s+#(-?\d+)\s*;?")
MAX_LINE = 20_000  # characters
PUZZLE_COLUMNS = ("PuzzleId", "FEN", "Moves", "Rating", "RatingDeviation", "Popularity", "NbPlays")


@dataclass(frozen=True)
class Problem:
    """A position and what is known. Actions are in the game's notation, scores the mover's."""

    name: str
    position: str
    best: tuple[str, ...] = ()
    avoid: tuple[str, ...] = ()
    mate: int | None = None  # moves to mate, negative if the mover is mated
    line: tuple[str, ...] = ()  # a puzzle: the opponent's action, the answer, and so on in turn
    score: int | None = None  # exact, of the position
    scores: Mapping[str, int] = field(default_factory=dict)  # exact, of each action
    themes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Suite:
    """Problems of one game."""

    name: str
    kind: str  # "moves", "mates", "puzzles", "connect4" or "othello"
    game: str
    problems: tuple[Problem, ...]


def read_suite(path: str | Path, limit: int | None = None) -> Suite:
    """The problems of a file, or its first `limit`."""
    path = Path(path)
    refuse_special(path)
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise UserError(f"'{path}' is not a text file") from error
    numbered = [(i, line.strip()) for i, line in enumerate(lines, 1)]
    numbered = [(i, line) for i, line in numbered if line and not line.startswith(("#", "%"))]
    if not numbered:
        raise UserError(f"'{path}' has no problems in it")
    read, game = _format(path, numbered[0][1])
    problems: list[Problem] = []
    for name, line, place in islice(_entries(read, path, numbered), limit):
        try:
            problems.append(read(line, name))
        except REFUSALS as error:
            raise UserError(f"{place}: {error}") from error
    if not problems and limit != 0:
        raise UserError(f"'{path}' has no problems in it")
    return Suite(path.name, _kind(read, problems), game, tuple(problems))


Reader = Callable[[Any, str], Problem]


def _format(path: Path, first: str) -> tuple[Reader, str]:
    """The reader of a file's lines and the game, by its first line."""
    if _columns(first) is not None:
        return read_puzzle, "chess"
    if OTHELLO.fullmatch(first):
        return read_othello, "othello"
    if CONNECT4.fullmatch(first):
        return read_connect4, "connect4"
    if EPD.fullmatch(first):
        return read_epd, "chess"
    raise UserError(
        f"'{path}' is no suite: its first line is neither EPD nor a puzzle CSV, nor a Connect Four "
        "or Othello position with its score"
    )


def _entries(
    read: Reader, path: Path, numbered: list[tuple[int, str]]
) -> Iterable[tuple[str, Any, str]]:
    """(name, what the reader takes, place) of each problem."""
    if read is not read_puzzle:
        for number, line in numbered:
            if len(line) > MAX_LINE:
                raise UserError(f"{path} line {number}: {len(line):,} characters are too many")
            yield str(number), line, f"{path} line {number}"
        return
    columns = _columns(numbered[0][1])
    assert columns is not None
    rows = numbered[1:] if "FEN" in numbered[0][1].split(",") else numbered
    for number, line in rows:
        place = f"{path} line {number}"
        try:
            row = dict(zip(columns, _cells(line), strict=False))
        except csv.Error as error:
            raise UserError(f"{place}: {error}") from error
        yield row.get("PuzzleId") or str(number), row, place


def _columns(first: str) -> list[str] | None:
    """The columns of a puzzle file, with or without a line of names; None if it is none."""
    try:
        cells = _cells(first)
    except csv.Error:  # a cell is too long
        return None
    if "FEN" in cells and "Moves" in cells:
        return cells
    if len(cells) >= 3 and EPD.fullmatch(cells[1]):
        return [*PUZZLE_COLUMNS, "Themes", "GameUrl", "OpeningTags"]
    return None


def _cells(line: str) -> list[str]:
    """Of one row of a CSV; csv.Error if it is none."""
    return next(csv.reader([line]))


def _kind(read: Reader, problems: list[Problem]) -> str:
    if read is read_epd:
        return "mates" if all(problem.mate is not None for problem in problems) else "moves"
    return {read_puzzle: "puzzles", read_othello: "othello", read_connect4: "connect4"}[read]


def read_epd(line: str, name: str) -> Problem:
    """A line with `bm`, `am`, `dm` or `bm #n`."""
    import chess

    if not EPD.fullmatch(line):
        raise UserError("this is no EPD: board, side, castling and en passant are expected")
    claimed = MATE.search(line)
    if LONG_NUMBER.search(line):
        raise UserError("it has a number of hundreds of digits")
    board = chess.Board()
    try:
        operations: dict[str, Any] = dict(board.set_epd(MATE.sub("", line)))
    except ValueError as error:
        raise UserError(str(error)) from error
    mate = int(claimed[1]) if claimed else operations.get("dm")
    position = board.fen(en_passant="fen")
    _check("chess", position)
    given = [operations.get(key) or () for key in ("bm", "am")]
    if not all(isinstance(moves, tuple | list) for moves in given):  # in quotes, or a number
        raise UserError("bm and am need moves")
    best, avoid = (tuple(move.uci() for move in moves) for moves in given)
    mate = mate if isinstance(mate, int) and mate != 0 else None
    if mate is not None and (abs(mate) > LONGEST_MATE or (mate < 0 and not claimed)):
        raise UserError(f"a mate in {mate} moves is none: 1 to {LONGEST_MATE} are")
    if not best and not avoid and mate is None:
        raise UserError("it says nothing about the right answer: bm, am or dm is missing")
    themes = () if mate is None else (f"mate in {mate}" if mate > 0 else f"mated in {-mate}",)
    return Problem(str(operations.get("id", name)), position, best, avoid, mate, themes=themes)


def read_puzzle(row: Mapping[str, str], name: str) -> Problem:
    """A row with FEN, Moves (the opponent's first) and perhaps Themes."""
    line = tuple((row.get("Moves") or "").split())
    if len(line) < 2:
        raise UserError("Moves needs the opponent's move and at least one answer")
    fen = row.get("FEN")
    if not fen:  # the line ends before it
        raise UserError("FEN is missing")
    game: Any = find_game("chess")
    state = game.parse_position(fen)
    for move in line:
        state = game.play(state, game.parse_action(state, move))
    return Problem(name, fen, line=line, themes=tuple((row.get("Themes") or "").split()))


def read_connect4(line: str, name: str) -> Problem:
    """Columns from 1 to 7, then the exact score."""
    found = CONNECT4.fullmatch(line)
    if found is None:
        raise UserError("columns from 1 to 7 and the exact score are expected, as in '44455 -3'")
    _check("connect4", found[1])
    return Problem(name, found[1], score=int(found[2]), themes=(_result(int(found[2])),))


def read_othello(line: str, name: str) -> Problem:
    """Board, side to move and `MOVE:SCORE` for each move."""
    found = OTHELLO.fullmatch(line)
    if found is None:
        raise UserError("64 cells, the side to move and scored moves are expected")
    position = f"{found[1]} {found[2]}".upper().replace("*", "X")
    _check("othello", position)
    game: Any = find_game("othello")
    state = game.parse_position(position)
    scores: dict[str, int] = {}
    for part in found[3].split("%")[0].split(";"):
        if not part.strip():
            continue
        move = OTHELLO_MOVE.fullmatch(part.strip())
        if move is None:
            raise UserError(f"'{part.strip()}' is no scored move such as G8:+18")
        text = move[1].lower() if move[1][0] in "abcdefghABCDEFGH" else "pass"
        scores[game.action_text(state, game.parse_action(state, text))] = int(move[2])
    if not scores:
        raise UserError("no move has a score")
    top = max(scores.values())
    return Problem(name, position, score=top, scores=scores, themes=(_result(top),))


def _result(score: int) -> str:
    return "win" if score > 0 else "loss" if score < 0 else "draw"


def _check(game: str, position: str) -> None:
    """Refuses with the reason if the position cannot be or is over."""
    rules: Any = find_game(game)
    if rules.outcome(rules.parse_position(position)) is not None:
        raise UserError("the game is over in this position")
