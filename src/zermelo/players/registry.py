"""Finds a player by its text: `random?seed=3`, `minimax?depth=4`, `perfect`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from zermelo.errors import UserError
from zermelo.games.parameters import nearest, parse_settings, settings_of, split_spec
from zermelo.games.protocol import Game
from zermelo.players.human import HumanPlayer
from zermelo.players.minimax import MinimaxPlayer
from zermelo.players.perfect import PerfectPlayer
from zermelo.players.protocol import Player
from zermelo.players.random_player import RandomPlayer
from zermelo.players.reference_player import ReferencePlayer
from zermelo.players.search_player import SearchPlayer

_factories: dict[str, Callable[..., Player]] = {
    "human": HumanPlayer,
    "minimax": MinimaxPlayer,
    "perfect": PerfectPlayer,
    "random": RandomPlayer,
    "reference": ReferencePlayer,
    "search": SearchPlayer,
}


def player(spec: str | Player, game: Game) -> Player:
    """The player that `spec` names, for `game`; a player itself is returned as it is."""
    if not isinstance(spec, str):
        return spec
    name, given = split_spec(spec)
    factory = _factories.get(name)
    if factory is None:
        raise UserError(f"there is no player '{name}'; {nearest(name, _factories)}")
    values: dict[str, Any] = parse_settings(name, settings_of(factory, skip=("game",)), given)
    if "game" in inspect.signature(factory).parameters:
        values["game"] = game
    return factory(**values)


def player_names() -> list[str]:
    """The names that `player` knows."""
    return sorted(_factories)


def register_player(name: str, factory: Callable[..., Player]) -> None:
    """Makes `player(name, game)` call `factory`; its keyword arguments become settings.

    A factory with a parameter called `game` is given the game.
    """
    if name in _factories:
        raise UserError(f"there already is a player '{name}'")
    _factories[name] = factory
