"""The protocol: every message between page and server, as a typed model.

One JSON object per message, told apart by `type`. What the page sends is a request with a number of
its own (`id`); what the server sends is a reply (`reply` repeats that number) or an event. Requests
may also be sent one at a time by HTTP, as POST /api/message. Knows nothing of what is done with
them. Actions and positions are texts in the game's notation. A value is from -1 to 1, for the
player to move unless it says otherwise. `version` changes when an old page would misread something.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter

from zermelo.web.parts import (
    MOST_MOVES,
    Action,
    Board,
    Child,
    GameOffer,
    Id,
    Legal,
    LevelOffer,
    Limits,
    Line,
    Model,
    Moves,
    OpponentOffer,
    Position,
    Row,
    Seat,
    Shape,
)

__all__ = [
    "MOST_MOVES",
    "Action",
    "Board",
    "Child",
    "GameOffer",
    "Id",
    "Legal",
    "LevelOffer",
    "Limits",
    "Line",
    "Model",
    "Moves",
    "OpponentOffer",
    "Position",
    "Row",
    "Seat",
    "Shape",
]  # also the parts, so that who speaks the protocol imports this alone

PROTOCOL = 1


# --- requests -------------------------------------------------------------------------------------


class _Request(Model):
    id: Annotated[int, Field(ge=0, le=2**53)] = 0  # repeated in the reply


class Hello(_Request):
    """The first message: which protocol the page speaks."""

    type: Literal["hello"]
    version: int


class ShowLine(_Request):
    """Every board of a game, and what can be done at its end."""

    type: Literal["line"]
    line: Line


class ReadGame(_Request):
    """A game as people paste it: moves, a position, or a PGN."""

    type: Literal["read"]
    game: Id
    text: Annotated[str, Field(max_length=60_000)]


class WriteGame(_Request):
    """A game as text to share."""

    type: Literal["write"]
    line: Line


class PlayNew(_Request):
    """Sits down at a board; a game that is brought along goes on where it stands."""

    type: Literal["play.new"]
    line: Line
    seats: Annotated[list[Seat], Field(min_length=2, max_length=2)]


class PlayOpen(_Request):
    """Back to a game after the connection was lost."""

    type: Literal["play.open"]
    session: Id


class PlayMove(_Request):
    """A person's move; `number` is that of the board it was chosen on."""

    type: Literal["play.move"]
    session: Id
    number: int
    move: Action


class PlayUndo(_Request):
    """Takes back to a person's last decision."""

    type: Literal["play.undo"]
    session: Id


class PlayClose(_Request):
    """Leaves the board."""

    type: Literal["play.close"]
    session: Id


class Judge(_Request):
    """One short search of a position: a hint, a value for the bar, a step of a game's review."""

    type: Literal["judge"]
    line: Line
    network: Id
    simulations: Annotated[int, Field(ge=1, le=1_000_000)] = 200


class Exact(_Request):
    """The perfect answer, where there is one."""

    type: Literal["exact"]
    line: Line


class AnalyseStart(_Request):
    """Searches a position until it is stopped; replaces what `slot` searched before."""

    type: Literal["analyse.start"]
    slot: Literal["a", "b"] = "a"
    line: Line
    network: Id
    allowed: list[Action] = Field([], max_length=300)  # root actions; all if empty


class AnalyseStop(_Request):
    """Ends the search; its tree can still be looked into."""

    type: Literal["analyse.stop"]
    search: Id


class AnalyseWatch(_Request):
    """Follows somebody else's search."""

    type: Literal["analyse.watch"]
    search: Id


class AnalyseTree(_Request):
    """The children of one node, by the actions that lead there."""

    type: Literal["analyse.tree"]
    search: Id
    path: Annotated[list[Action], Field(max_length=200)]


class TrainingWatch(_Request):
    """Tells when a run changes, from now on; one run at a time, None ends it."""

    type: Literal["training.watch"]
    run: Id | None


Request = Annotated[
    Hello | ShowLine | ReadGame | WriteGame | PlayNew | PlayOpen | PlayMove | PlayUndo | PlayClose
    | Judge | Exact | AnalyseStart | AnalyseStop | AnalyseWatch | AnalyseTree | TrainingWatch,
    Field(discriminator="type"),
]  # fmt: skip
REQUEST: TypeAdapter[Any] = TypeAdapter(Request)


# --- replies and events ---------------------------------------------------------------------------


class _Answer(Model):
    reply: int | None = None  # the request's id; None: an event


class Refused(_Answer):
    """Why a request was not done."""

    type: Literal["refused"] = "refused"
    code: int  # as in HTTP
    reason: str  # one sentence
    retry_after: float | None = None  # seconds
    place: int | None = None  # in the queue


class Welcome(_Answer):
    """What there is."""

    type: Literal["welcome"] = "welcome"
    version: int
    program: str
    server: str  # another one after a restart
    games: list[GameOffer]
    opponents: list[OpponentOffer]
    levels: list[LevelOffer]
    limits: Limits
    runs: int
    allow_train: bool


class LineShown(_Answer):
    """The boards from the first position to the last."""

    type: Literal["line"] = "line"
    line: Line
    boards: list[Board]
    position: Position  # the last


class GameRead(_Answer):
    """What a pasted text means."""

    type: Literal["read"] = "read"
    line: Line
    title: str  # such as the players of a PGN; text, never markup


class GameWritten(_Answer):
    """Texts to copy."""

    type: Literal["write"] = "write"
    moves: str
    position: str
    pgn: str  # "" if the game has none


class PlayBoard(_Answer):
    """A game as it stands; also an event after every change."""

    type: Literal["play.board"] = "play.board"
    session: str
    number: int
    line: Line
    seats: list[Seat]
    boards: list[Board]
    position: Position
    thinking: bool  # a player is about to move
    failure: str = ""  # why a player cannot go on


class Judged(_Answer):
    """What a short search found."""

    type: Literal["judged"] = "judged"
    turn: int
    value: float
    wdl: tuple[float, float, float]
    visits: int
    proven: int | None
    distance: int | None
    rows: list[Row]  # [] when the game is over


class ExactAnswer(_Answer):
    """For each action: 1, 0 or -1 for the player to move, and the plies to the end."""

    type: Literal["exact"] = "exact"
    moves: dict[str, tuple[int, int | None]]


class SearchStarted(_Answer):
    """A search has begun, or is watched from now on."""

    type: Literal["analyse.started"] = "analyse.started"
    search: str
    run: int  # another one after every start
    slot: str
    line: Line
    network: str


class Frame(_Answer):
    """A live search as it is now; an event, several times a second. The last one is `final`."""

    type: Literal["analyse.frame"] = "analyse.frame"
    search: str
    run: int  # that of analyse.started
    turn: int
    visits: int
    nodes: int
    bytes: int
    seconds: float
    per_second: float
    depth: float  # of simulations, on average; 0 while unknown
    value: float
    wdl: tuple[float, float, float]
    proven: int | None
    distance: int | None
    rows: list[Row]
    path: list[str]  # that the next simulation takes from the root
    final: bool
    stop: str  # why it ended
    watchers: int


class TreeNode(_Answer):
    """A node with its children, most visited first."""

    type: Literal["analyse.tree"] = "analyse.tree"
    search: str
    path: list[str]
    visits: int
    board: Board
    children: list[Child]


class TrainingNews(_Answer):
    """A run has changed: what it does, or its figures; an event, once a second at most."""

    type: Literal["training.news"] = "training.news"
    run: str
    lines: int  # of metrics that were read
    doing: str | None  # what is done or waited for; None: no process works on it


class Done(_Answer):
    """Nothing more to say."""

    type: Literal["done"] = "done"


Answer = (
    Refused | Welcome | LineShown | GameRead | GameWritten | PlayBoard | Judged | ExactAnswer
    | SearchStarted | Frame | TreeNode | TrainingNews | Done
)  # fmt: skip
