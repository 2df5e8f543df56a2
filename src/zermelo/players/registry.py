"""Finds a player by its text: `random?seed=3`, `connect4.onnx?simulations=200`, `uci:stockfish`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from zermelo.errors import UserError, nearest
from zermelo.games.parameters import parse_settings, settings_of, split_spec
from zermelo.games.protocol import Game
from zermelo.network.places import looks_like_network
from zermelo.players.human import HumanPlayer
from zermelo.players.levels import LevelPlayer
from zermelo.players.minimax import MinimaxPlayer
from zermelo.players.perfect import PerfectPlayer
from zermelo.players.policy_player import PolicyPlayer
from zermelo.players.protocol import Player
from zermelo.players.random_player import RandomPlayer
from zermelo.players.reference_player import ReferencePlayer
from zermelo.players.search_player import RolloutPlayer, SearchPlayer
from zermelo.players.uci_player import UciPlayer, engine_command

ENGINE = "uci:"
_NOT_TYPED = ("game", "command", "options", "text")  # of UciPlayer: they follow from the rest
_factories: dict[str, Callable[..., Player]] = {
    "human": HumanPlayer,
    "level": LevelPlayer,
    "minimax": MinimaxPlayer,
    "perfect": PerfectPlayer,
    "policy": PolicyPlayer,
    "random": RandomPlayer,
    "reference": ReferencePlayer,
    "rollout": RolloutPlayer,
    "search": SearchPlayer,
}


def player(spec: str | Player, game: Game) -> Player:
    """The player that `spec` names, for `game`; a player itself is returned as it is."""
    if not isinstance(spec, str):
        return spec
    name, given = split_spec(spec)
    if name.startswith(ENGINE):
        return _engine(name, given, game)
    factory = _factories.get(name)
    if factory is not None:
        return _made(name, factory, given, game)
    if looks_like_network(name):
        skip = ("evaluator", "weights")
        return _made(name, SearchPlayer, given, game, skip, {"weights": name})
    raise UserError(f"there is no player '{name}'; {nearest(name, _factories)}")


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


def settings_known(spec: str) -> set[str] | None:
    """The settings that the player named by `spec` has; None if an engine's, which has any."""
    name, _ = split_spec(spec)
    if name.startswith(ENGINE):
        return None
    factory = _factories.get(name, SearchPlayer)
    return {setting.name for setting in settings_of(factory, skip=("game",))}


def with_settings(spec: str, settings: Mapping[str, str]) -> str:
    """The text of the same player with some settings changed or added."""
    name, given = split_spec(spec)
    merged = given | dict(settings)
    listing = "&".join(f"{key}={value}" for key, value in merged.items())
    return f"{name}?{listing}" if listing else name


def _made(
    name: str,
    factory: Callable[..., Player],
    given: Mapping[str, str],
    game: Game,
    skip: tuple[str, ...] = (),
    fixed: Mapping[str, Any] | None = None,
) -> Player:
    settings = settings_of(factory, skip=("game", *skip))
    known = [setting.name for setting in settings]
    for key in given:
        if known and key not in known:
            raise UserError(f"{name} has no parameter '{key}'; {nearest(key, known)}")
    values: dict[str, Any] = parse_settings(name, settings, given) | dict(fixed or {})
    if "game" in inspect.signature(factory).parameters:
        values["game"] = game
    return factory(**values)


def _engine(name: str, given: Mapping[str, str], game: Game) -> UciPlayer:
    """Settings of the player itself are known by name; all others are the engine's options."""
    own = {setting.name: setting for setting in settings_of(UciPlayer, skip=_NOT_TYPED)}
    values: dict[str, Any] = {
        key: own[key].parse(text, name) for key, text in given.items() if key in own
    }
    options = {key: text for key, text in given.items() if key not in own}
    command = engine_command(name.removeprefix(ENGINE))
    return UciPlayer(game=game, command=command, options=options, text=name, **values)
