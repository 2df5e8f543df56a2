"""What every kind of network has: a game, the shape of its positions and its number of actions.

Read from files of strangers, so everything in it is checked. Knows no layers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, Self, TypeVar

from numpy.typing import NDArray

from zermelo.errors import UserError
from zermelo.games.protocol import Game
from zermelo.games.python_file import looks_like_file

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Sizes = TypeVar("Sizes", bound="DataclassInstance")

# Bounds on what a file may ask for, far above any network of use.
LIMITS = {"blocks": 100, "filters": 2048, "planes": 4096, "num_actions": 100_000}
LIMITS |= {"count": 100, "heads": 256, "width": 4096, "keys": 8192, "hidden": 1 << 15}
MAX_NAME = 200  # characters of the game's name


def check_sizes(sizes: DataclassInstance) -> None:
    """Refuses whole numbers out of range and what is not of its type."""
    for field in fields(sizes):
        value: Any = getattr(sizes, field.name)
        if str(field.type) in ("int", "str") and type(value).__name__ != field.type:
            raise UserError(f"the network's {field.name} is {repr(value)[:MAX_NAME]}")
        if field.type == "int" and not 0 <= value <= LIMITS.get(field.name, 1 << 20):
            shown = str(value)[:MAX_NAME]
            raise UserError(f"the network's {field.name} is {shown}, which is out of range")


def require_some(sizes: object, *names: str) -> None:
    """Refuses a 0."""
    for name in names:
        if getattr(sizes, name) < 1:
            raise UserError(f"the network's {name} is 0")


def require_choice(sizes: object, name: str, choices: tuple[str, ...]) -> None:
    """Refuses a word that means nothing."""
    if getattr(sizes, name) not in choices:
        raise UserError(f"the network's {name} is {getattr(sizes, name)!r}, not {choices}")


def sizes_from(kind: type[Sizes], values: object) -> Sizes:
    """What `asdict` gave; a mistake in it is a UserError."""
    if not isinstance(values, dict):
        raise UserError("the network's description is not a table of sizes")
    known = {field.name for field in fields(kind)}
    if set(values) - known:
        unknown = str(min(set(values) - known, key=str))[:MAX_NAME]
        raise UserError(f"the network has an unknown size {unknown!r}")
    try:
        return kind(**values)
    except TypeError:
        raise UserError("the network's description lacks some of its sizes") from None


@dataclass(frozen=True)
class NetworkForm:
    """The part of an architecture that a game decides."""

    game: str  # the game's full name, settings included
    planes: int
    rows: int
    columns: int
    num_actions: int

    def __post_init__(self) -> None:
        check_sizes(self)
        self._check_name()
        require_some(self, "planes", "rows", "columns", "num_actions")

    def _check_name(self) -> None:
        """It is looked up and printed, and may come from a stranger's file."""
        if not self.game.isprintable() or not 0 < len(self.game) <= MAX_NAME:
            raise UserError(f"the network's game {self.game[:MAX_NAME]!r} is no name of a game")
        if looks_like_file(self.game):
            raise UserError(f"the network's game '{self.game}' is a Python file, not a name")

    @property
    def cells(self) -> int:
        """Cells of the board."""
        return self.rows * self.columns

    @property
    def observation_shape(self) -> tuple[int, int, int]:
        """(planes, rows, columns), as the game says it."""
        return (self.planes, self.rows, self.columns)

    @property
    def form(self) -> tuple[str, tuple[int, ...], int]:
        """What networks must have in common to take each other's place: rules, planes, actions."""
        return _form(self.game, self.observation_shape, self.num_actions)

    def check_fits(self, game: Game) -> None:
        """Refuses a game whose positions or actions the network does not know."""
        shape, actions = tuple(game.observation_shape), game.num_actions
        if self.form != _form(game.name, shape, actions):
            raise UserError(
                f"the network is for {self.game} ({_shape_text(self.observation_shape)}, "
                f"{self.num_actions} actions), not for {game.name} ({_shape_text(shape)}, "
                f"{actions} actions)"
            )

    def check_arrays(self, arrays: Mapping[str, NDArray[Any]], name: str) -> None:
        """Refuses numbers that a network of this kind cannot have; shapes and types are right."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: object) -> Self:
        """Read back; a mistake in it is a UserError."""
        return sizes_from(cls, values)


def _form(game: str, shape: tuple[int, ...], actions: int) -> tuple[str, tuple[int, ...], int]:
    name, _, settings = game.partition("?")
    encoder = [part for part in settings.split("&") if part.startswith("encoder=")]
    return ("&".join([name, *encoder]), shape, actions)


def _shape_text(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape))
