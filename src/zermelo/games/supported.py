"""What games Zermelo does not play, said in one sentence wherever one is loaded or checked."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from zermelo.errors import UserError
from zermelo.games.protocol import Outcome

KINDS = (
    "Zermelo plays games of two players in turns that end in a win, a draw or a loss, without "
    "chance and with nothing hidden"
)
PLAYERS = ("num_players", "player_count")  # attributes that tell how many there are
CHANCE = ("chance_outcomes", "is_chance_node")
HIDDEN = ("information_state", "information_set")
TOGETHER = ("apply_actions", "joint_actions", "play_joint")


def not_supported(why: str) -> str:
    """The sentence."""
    return f"not supported, because {why}: {KINDS}"


def refuse_unsupported(game: Any) -> None:
    """A UserError for a game whose members say that it is of another kind."""
    why = missing_property(game)
    if why:
        raise UserError(f"{getattr(game, 'name', type(game).__name__)} is {not_supported(why)}")


def missing_property(game: Any) -> str:
    """Why a game cannot be learned as far as its members tell, or ""."""
    for name in PLAYERS:
        count = getattr(game, name, 2)
        if isinstance(count, int | np.integer) and count != 2:
            return f"it has {count} player{'' if count == 1 else 's'} ({name})"
    for names, why in (
        (CHANCE, "it has chance"),
        (TOGETHER, "its players move at the same time"),
        (HIDDEN, "it hides information from a player"),
    ):
        found = [name for name in names if callable(getattr(game, name, None))]
        if found:
            return f"{why} ({found[0]}())"
    if needs_player(game):
        return "it hides information from a player (observe() asks for whom)"
    return ""


def needs_player(game: Any) -> bool:
    """Whether `observe` cannot be called with a state alone."""
    try:
        signature = inspect.signature(game.observe)
    except (TypeError, ValueError, AttributeError):  # native ones tell nothing
        return False
    needed = [
        each
        for each in signature.parameters.values()
        if each.default is each.empty
        and each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)
    ]
    return len(needed) == 2


def strange_player(value: Any) -> str:
    """Why `player()` returns this, if it means a kind of game that is not supported, or ""."""
    if isinstance(value, list | tuple | set | frozenset):
        return "several players move at the same time"
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        return ""
    if value > 1:
        return f"it has more than two players (player() is {value})"
    if value < 0:
        return f"chance or several players at once move (player() is {value})"
    return ""


def strange_outcome(value: Any) -> str:
    """The same for `outcome()`."""
    if isinstance(value, Outcome) or value is None or isinstance(value, str | bool):
        return ""
    number = isinstance(value, int | float | np.number)
    several = isinstance(value, list | tuple | dict | np.ndarray)
    if number or several:
        return f"it ends with scores (outcome() is {value!r}); return the Outcome of their sign"
    return ""
