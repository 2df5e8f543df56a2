"""What a game is: three attributes and six methods over immutable states.

Everything else is optional and has a protocol of its own. This file knows no particular game.
Players are 0 (first) and 1 (second); actions are numbers below `num_actions`; an observation is
always from the side of the player to move.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

from zermelo import _core
from zermelo._core import Outcome

State: TypeAlias = Any  # whatever the game chose; nobody else looks inside it

ATTRIBUTES = ("name", "num_actions", "observation_shape")
METHODS = ("initial", "legal_actions", "play", "player", "outcome", "observe")

__all__ = [
    "ATTRIBUTES",
    "METHODS",
    "Game",
    "HasCells",
    "HasHash",
    "HasNotation",
    "HasRepetition",
    "HasSymmetries",
    "Outcome",
    "State",
    "missing_members",
    "state_hash",
    "value_for",
]


@runtime_checkable
class Game(Protocol):
    """A game of two players with perfect information, without chance."""

    @property
    def name(self) -> str:
        """A native game's name is its full specification: `hex?size=7`."""

    @property
    def num_actions(self) -> int:
        """Size of the action space, the length of a network's policy."""

    @property
    def observation_shape(self) -> tuple[int, int, int]:
        """(planes, rows, columns)."""

    def initial(self) -> State:
        """The position in which every game begins."""

    def legal_actions(self, state: State) -> Sequence[int]:
        """In a fixed order; not asked for when the game is over."""

    def play(self, state: State, action: int) -> State:
        """A new state; the old one stays as it is. ValueError if the action is not legal."""

    def player(self, state: State) -> int:
        """Who moves: 0 or 1. The same player may move twice."""

    def outcome(self, state: State) -> Outcome | None:
        """None while the game goes on."""

    def observe(self, state: State) -> npt.ArrayLike:
        """What a network sees: numbers of the shape `observation_shape`, from the mover's side."""


@runtime_checkable
class HasHash(Protocol):
    """Positions can be told apart by 64 bits."""

    def hash(self, state: State) -> int:
        """0 <= hash < 2**64; covers all that the observation shows and the rules ask for."""


@runtime_checkable
class HasSymmetries(Protocol):
    """Exact symmetries: the value is unchanged and the policy moves with the actions."""

    def num_symmetries(self, state: State) -> int:
        """How many this position has; number 0 is the identity."""

    def transform(self, state: State, symmetry: int) -> State:
        """The image of a position."""

    def transform_action(self, action: int, symmetry: int) -> int:
        """Where an action goes."""

    def transform_cell(self, cell: int, symmetry: int) -> int:
        """Where a cell (row * columns + column) of the observation goes."""


@runtime_checkable
class HasNotation(Protocol):
    """Actions and positions can be written and read."""

    def action_text(self, state: State, action: int) -> str:
        """The name of a legal action."""

    def parse_action(self, state: State, text: str) -> int:
        """The legal action of that name; ValueError if there is none."""

    def position_text(self, state: State) -> str:
        """The position on one line."""

    def parse_position(self, text: str) -> State:
        """The position that the text describes; ValueError with the reason if none."""


@runtime_checkable
class HasCells(Protocol):
    """Positions look like a board."""

    def cells(self, state: State) -> str:
        """As rows * columns letters from the top row down; '.' is an empty cell."""


@runtime_checkable
class HasRepetition(Protocol):
    """Positions can come back."""

    def repeated_within(self, state: State, plies: int) -> bool:
        """Whether this position already stood on the board during the last `plies` plies."""


def missing_members(candidate: object) -> list[str]:
    """The attributes and methods that keep an object from being a game."""
    missing = [name for name in ATTRIBUTES if not hasattr(candidate, name)]
    return missing + [name for name in METHODS if not callable(getattr(candidate, name, None))]


def value_for(outcome: Outcome, player: int) -> int:
    """1 if that player has won, -1 if the other one has, 0 for a draw."""
    if outcome == Outcome.DRAW:
        return 0
    return 1 if (outcome == Outcome.FIRST_WINS) == (player == 0) else -1


def state_hash(game: Game, state: State) -> int:
    """64 bits for a position, as the core has them.

    The game's own hash, else one of the state's value if it is plain, else of what a network sees.
    """
    own_hash = getattr(game, "hash", None)
    if own_hash is not None:
        return int(own_hash(state))
    of_value = _core.value_hash(state)
    if of_value is not None:
        return of_value
    planes = np.ascontiguousarray(game.observe(state), dtype=np.float32)
    return _core.bytes_hash(planes.tobytes() + bytes([game.player(state)]))
