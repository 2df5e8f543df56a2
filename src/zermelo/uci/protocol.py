"""Reads what a program sends. Never refuses a line as a whole: what cannot be read is named."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from zermelo._core import Chess
from zermelo.errors import REFUSALS, UserError

NUMBERS = ("wtime", "btime", "winc", "binc", "movestogo", "depth", "nodes", "mate", "movetime")
LIMITS = ("wtime", "btime", "depth", "nodes", "mate", "movetime")
COUNTS = frozenset((*NUMBERS, "perft"))
WORDS = COUNTS | {"searchmoves", "ponder", "infinite"}
MOST_PROBLEMS = 3  # named in one answer
LARGEST = 2**53  # numbers beyond it mean "no end"
WITHOUT_LIMIT_MS = 1000  # for a `go` whose every limit is unreadable
_UNPRINTABLE = re.compile(r"[^\x20-\x7e]+")


@dataclass(frozen=True)
class Go:
    """What a `go` asks for. None: not given. Times are in milliseconds."""

    wtime: int | None = None
    btime: int | None = None
    winc: int | None = None
    binc: int | None = None
    movestogo: int | None = None
    depth: int | None = None
    nodes: int | None = None
    mate: int | None = None
    movetime: int | None = None
    perft: int | None = None
    bench: bool = False  # every position of the bench with so many nodes
    searchmoves: tuple[str, ...] = ()
    ponder: bool = False
    infinite: bool = False

    @property
    def counted(self) -> bool:
        """Whether nodes alone end it, so that it is known beforehand how many there will be."""
        others = (name for name in LIMITS if name != "nodes" and getattr(self, name) is not None)
        return self.nodes is not None and not (self.infinite or self.ponder or any(others))

    @property
    def endless(self) -> bool:
        """Whether only `stop` ends it."""
        return self.infinite or all(getattr(self, name) is None for name in LIMITS)


def parse_go(words: list[str]) -> tuple[Go, list[str]]:
    """The request and what could not be read in it."""
    given: dict[str, Any] = {}  # numbers
    searchmoves: list[str] = []
    problems: list[str] = []
    ponder = infinite = limited = False
    at = 0
    while at < len(words):
        word, at = words[at].lower(), at + 1
        if word == "ponder":
            ponder = True
        elif word == "infinite":
            infinite = True
        elif word == "searchmoves":
            while at < len(words) and words[at].lower() not in WORDS:
                searchmoves.append(words[at])
                at += 1
        elif word in COUNTS:
            limited |= word in LIMITS
            number = read_number(words[at]) if at < len(words) else None
            if number is None or (word == "mate" and number < 1):  # no search ends at mate in -4
                above = " above 0" if word == "mate" else ""
                problems.append(f"go {word} needs a number{above}")
                at += at < len(words) and words[at].lower() not in WORDS
            else:
                given[word] = number
                at += 1
        elif len(problems) < MOST_PROBLEMS:
            problems.append(f"go does not know '{word}'")
    go = Go(**given, searchmoves=tuple(searchmoves), ponder=ponder, infinite=infinite)
    if limited and go.endless and not infinite:
        go = replace(go, movetime=WITHOUT_LIMIT_MS)
    return go, problems[:MOST_PROBLEMS]


def read_number(text: str) -> int | None:
    """A whole number, kept within +-2**53; None if it is none."""
    digits = text[1:] if text[:1] in "+-" else text
    if not (digits.isascii() and digits.isdigit()):
        return None
    size = LARGEST if len(digits) > 15 else int(digits)
    return -size if text[0] == "-" else size


@dataclass(frozen=True)
class Position:
    """A position as it was sent: a start and the moves from there."""

    start: str = "startpos"  # or a FEN
    moves: tuple[str, ...] = ()
    chess960: bool = False

    @property
    def text(self) -> str:
        """As the game reads it."""
        return f"{self.start} moves {' '.join(self.moves)}" if self.moves else self.start


def parse_position(words: list[str], chess960: bool) -> Position:
    """The position of the words after `position`; UserError with what is wrong."""
    kind, *rest = words or [""]
    cut = rest.index("moves") if "moves" in rest else len(rest)
    if kind == "startpos" and cut == 0:
        position = Position("startpos", tuple(rest[1:]), chess960)
    elif kind == "fen" and cut > 0:
        position = Position(" ".join(rest[:cut]), tuple(rest[cut + 1 :]), chess960)
    else:
        raise UserError("position needs startpos or fen and a FEN, and perhaps moves")
    try:
        Chess(chess960=chess960).parse_position(position.text)
    except REFUSALS as error:
        raise UserError(str(error)) from None
    return position


def parse_setoption(line: str) -> tuple[str, str]:
    """Name and value of `setoption name N value V`; both may contain blanks."""
    found = re.match(r"\s*\S+\s+name\b(.*)", line, re.DOTALL)
    name, *value = re.split(r"(?:^|\s)value(?:\s|$)", found[1] if found else "", maxsplit=1)
    if not name.strip():
        raise UserError("setoption needs name and a name, and perhaps value and a value")
    return name.strip(), value[0].strip() if value else ""


def printable(text: str, longest: int = 300) -> str:
    """One line of visible ASCII, cut where it is too long."""
    line = " ".join(_UNPRINTABLE.sub("?", text).split())
    return line if len(line) <= longest else line[: longest - 3] + "..."
