"""Games as the core takes them: its own, or one in Python behind an adaptor."""

from __future__ import annotations

from typing import Any

from zermelo import _core
from zermelo.games.protocol import Game


def native_game(game: Game) -> Any:
    """The game as the core takes it."""
    return game if is_native(game) else _core.PyGame(game)


def is_native(game: Game) -> bool:
    """Whether the core knows the game's rules."""
    return type(game).__module__ == _core.__name__
