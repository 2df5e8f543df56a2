"""What a player is: a name and a choice. What else it may do is a protocol of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from zermelo.games.protocol import Game, State

# How a player can fail in a game; each is an outcome of its own, and that player's loss.
FailureKind = Literal[
    "no start", "crash", "stall", "illegal move", "time loss", "flood", "bad network"
]


class Player(Protocol):
    """Chooses actions. One player may play any number of games, one after another."""

    @property
    def name(self) -> str:
        """As the registry spells it."""

    def choose(self, game: Game, state: State) -> int:
        """A legal action; the game must not be over."""


@runtime_checkable
class StartsGames(Protocol):
    """Players that remember something from move to move."""

    def start_game(self) -> None:
        """A new game begins: forget the last one."""


@runtime_checkable
class Reseeds(Protocol):
    """Players with chance in them."""

    def reseed(self, seed: int) -> None:
        """From here on, chance follows this seed (0 <= seed < 2**52) and nothing else."""


@runtime_checkable
class Prepares(Protocol):
    """Players that take a while to get ready, which should not count as thinking."""

    def prepare(self, game: Game) -> None:
        """Loads what playing this game needs."""


@runtime_checkable
class Reports(Protocol):
    """Players that can say what they thought of their last choice."""

    def report(self) -> MoveReport | None:
        """Of the last choice; None if there is nothing to say."""


@runtime_checkable
class Stops(Protocol):
    """Players that can be told not to think any longer."""

    def stop(self) -> None:
        """Ends the choice under way soon, with what it has found; from any thread."""


@runtime_checkable
class Closes(Protocol):
    """Players that hold something beyond memory, such as a process."""

    def close(self) -> None:
        """Gives it back; the player may be used again all the same."""


@dataclass(frozen=True)
class MoveReport:
    """What a player thought when it chose."""

    value: float | None = None  # -1 to 1, for the player itself
    simulations: int = 0  # or an engine's nodes
    text: str = ""  # for people: "+0.31/800"


class PlayerError(Exception):
    """A player cannot go on with this game, which it loses."""

    def __init__(self, kind: FailureKind, detail: str = "") -> None:
        super().__init__(f"{kind}: {detail}" if detail else kind)
        self.kind = kind
        self.detail = detail
