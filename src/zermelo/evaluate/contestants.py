"""Makes texts into the players of a match: which game it is, what exactly plays, and its name."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from zermelo.errors import UserError
from zermelo.evaluate.play_game import Contestants
from zermelo.games import game as find_game
from zermelo.games.parameters import split_spec
from zermelo.games.protocol import Game
from zermelo.network import load_network
from zermelo.network.files import CHECKPOINT_FILE
from zermelo.network.runtimes import installed_backends
from zermelo.players import Player, player_names
from zermelo.players import player as find_player
from zermelo.players.human import HumanPlayer
from zermelo.players.network_path import looks_like_network, network_path
from zermelo.players.registry import ENGINE, settings_known, with_settings


def network_of(spec: str | Player) -> str | None:
    """The network that a player needs, as it lies now; None if none."""
    if not isinstance(spec, str):
        return None
    name, given = split_spec(spec)
    if "weights" in given:
        return network_path(given["weights"])
    if name in player_names() or name.startswith(ENGINE) or not looks_like_network(name):
        return None
    return network_path(name)


def game_of(specs: Sequence[str | Player], asked: str | Game | None) -> Game:
    """The game that was asked for, or that the players' networks were made for."""
    networks = [path for spec in specs if (path := network_of(spec)) is not None]
    games = {load_network(path).architecture.game: path for path in networks}
    if len(games) > 1:
        listing = " and ".join(f"'{path}' plays {name}" for name, path in games.items())
        raise UserError(f"the networks play different games: {listing}")
    if asked is None:
        if not games:
            raise UserError("which game? No player is a network, so name one: --game connect4")
        asked = next(iter(games))
    elif isinstance(asked, str) and "?" not in asked:
        # `--game chess` also means the form of chess that a network was made for.
        asked = next((name for name in games if split_spec(name)[0] == asked), asked)
    return find_game(asked)


def make_contestants(specs: Sequence[str | Player], game: Game) -> Contestants:
    """Players that are there, of networks that fit the game; different players, different names.

    A run becomes its newest checkpoint, and `backend=auto` one backend for the whole match, since
    both could change while it is played.
    """
    exact: list[str | Player] = []
    names: list[str] = []
    for spec in specs:
        exact.append(_pinned(spec, game))
        made = find_player(_named(spec), game)
        if isinstance(made, HumanPlayer):
            raise UserError("a match is played without people: 'human' cannot take part")
        names.append(made.name)
    for i, name in enumerate(names):
        if name in names[:i]:
            names[i] = f"{name} #{names[:i].count(name) + 1}"
    return Contestants(tuple(exact), tuple(names))


def network_digests(specs: Sequence[str | Player]) -> dict[str, str]:
    """A hash of each network, so that a match goes on with the same ones only."""
    found = {}
    for spec in specs:
        path = network_of(spec)
        if path is not None:
            place = Path(path)
            file = place / CHECKPOINT_FILE if place.is_dir() else place
            found[path] = hashlib.sha256(file.read_bytes()).hexdigest()
    return found


def add_settings(spec: str, settings: Mapping[str, Any], only_known: bool = False) -> str:
    """The text with settings added; with `only_known`, those that the player does not have fall."""
    known = settings_known(spec)
    if only_known and known is not None:
        settings = {key: value for key, value in settings.items() if key in known}
    return with_settings(spec, {key: str(value) for key, value in settings.items()})


def _named(spec: str | Player) -> str | Player:
    """With a run's newest checkpoint in place of the run."""
    path = network_of(spec)
    if path is None or not isinstance(spec, str):
        return spec
    name, given = split_spec(spec)
    if "weights" in given:
        return with_settings(name, given | {"weights": path})
    return with_settings(path, given)


def _pinned(spec: str | Player, game: Game) -> str | Player:
    """Also with one backend, and without answers that depend on which mirror image came first.

    So a game's moves are its own, although the evaluations of all games are kept.
    """
    path = network_of(spec)
    named = _named(spec)
    if path is None or not isinstance(named, str):
        return named
    load_network(path, game)
    given = split_spec(named)[1]
    backends = [given["backend"]] if "backend" in given else installed_backends()
    if not backends:
        raise UserError(f"'{path}' needs openvino, onnxruntime or torch to be run")
    return add_settings(
        named, {"cache_symmetry": "off", "backend": backends[0]} | given, only_known=True
    )
