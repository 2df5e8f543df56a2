"""Parts of the protocol's messages: games, boards, candidates, seats. Values only.

`messages.py` says what values mean and which messages there are.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

MOST_MOVES = 1000  # of one game
Action = Annotated[str, Field(min_length=1, max_length=24)]
Moves = Annotated[list[Action], Field(max_length=MOST_MOVES)]
Id = Annotated[str, Field(min_length=1, max_length=120)]


class Model(BaseModel):
    """Strict: what is not declared is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Line(Model):
    """A game so far: where it began, and what was played. What it means is checked when used."""

    game: Id
    start: Annotated[str, Field(max_length=400)] | None = None  # None: where the game begins
    moves: Moves = []


class Legal(Model):
    """A legal action: the cells it goes through, () for one without a place, such as a pass."""

    text: str
    cells: list[int]


class Board(Model):
    """What is drawn. Cells are numbered from the top left, row by row, unflipped."""

    cells: str  # a letter each, "." is empty; "" if the game has no cells
    owners: str  # for each cell 0, 1 or "." for nobody
    text: str  # the position on one line
    turn: int  # who moves, 0 or 1
    move: str | None = None  # that led here
    label: str | None = None  # the same as people write it
    last: list[int] = []  # the cells of that move


class Shape(Model):
    """How a game's board looks, whatever stands on it."""

    kind: str  # a native game's name, "" for a game in Python
    rows: int
    columns: int
    left: list[str]
    right: list[str]
    names: list[str]  # of the columns
    drops: bool  # an action is a column into which a stone falls


class Position(Model):
    """A board with what can be done there."""

    board: Board
    legal: list[Legal]
    outcome: Literal["first", "second", "draw"] | None
    check: list[int] = []  # cells to warn of: a king in check


class GameOffer(Model):
    """A game that can be played here."""

    id: Id
    title: str
    summary: str
    kind: str
    players: list[str]  # how people call the two sides
    shape: Shape
    board: Board  # where it begins
    opponents: list[str]  # ids of OpponentOffer
    networks: list[str]  # ids of those that can be analysed with
    exact: bool  # there is a perfect answer
    reads_positions: bool  # a position can be typed
    reads_pgn: bool


class OpponentOffer(Model):
    """Somebody who plays, or a network to analyse with."""

    id: Id
    title: str
    detail: str
    levels: bool  # strength can be chosen


class Limits(Model):
    """What the server allows, for the page to say so before it is refused."""

    simulations: int
    seconds: float
    analyses: int
    analysis_seconds: float
    inaccuracy: float  # expected score lost, 0 to 1
    mistake: float
    blunder: float


class LevelOffer(Model):
    """One step of the slider."""

    number: int
    title: str
    detail: str


class Seat(Model):
    """Who plays one side. Of level, simulations and seconds at most one is given."""

    opponent: Id | None = None  # None is a person
    level: Annotated[int, Field(ge=1, le=10)] | None = None
    simulations: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    seconds: Annotated[float, Field(gt=0, le=600)] | None = None


class Row(Model):
    """A candidate. Values are for the player to move at the root."""

    move: str
    visits: int
    q: float
    prior: float
    wdl: tuple[float, float, float]
    proven: int | None  # 1, 0, -1
    distance: int | None  # plies to the proven end
    line: list[str]  # expected, this action first; [] far down the list


class Child(Model):
    """An action below a node of the tree. Values are for the player who chooses it."""

    move: str
    visits: int
    prior: float
    q: float | None  # None: never visited
    u: float  # what curiosity adds in selection; q + u decides
    proven: int | None
    distance: int | None
    chosen: bool  # where the next simulation would go
