"""`load`: finds what is meant by a text, rules and network, and makes a player of it."""

from __future__ import annotations

import os
from typing import Any

from zermelo.front.player import LoadedPlayer
from zermelo.games import game as find_game
from zermelo.games.protocol import Game
from zermelo.games.python_file import looks_like_file
from zermelo.games.registry import game_names, names_game
from zermelo.network.open import game_for, open_weights
from zermelo.network.places import network_path, run_file, shipped_network
from zermelo.players.search_player import SearchPlayer
from zermelo.runs.directory import Run
from zermelo.runs.trust import refuse_strange_game

SIMULATIONS = 800  # of a move, where nothing else is said


def load(
    what: str | os.PathLike[str] | Game,
    game: Game | str | None = None,
    *,
    simulations: int | None = None,
    seconds: float = 0.0,
    backend: str = "auto",
    **options: Any,
) -> LoadedPlayer:
    """A player: of a run, a checkpoint, a network file, or a game.

    `load("connect4")` plays with the network that comes with the package. A game without one is
    searched by random games, and so is a game's file or object. `game` is needed only where a
    network's own rules cannot be found by its name. It thinks for `simulations` (800 unless told)
    or `seconds` or both; `options` are those of `SearchOptions`, over the network's own.
    """
    if simulations is None and seconds <= 0:
        simulations = SIMULATIONS
    network, rules = _meant(what, game)
    searcher = SearchPlayer(
        simulations, seconds=seconds, weights=network, backend=backend, **options
    )
    return LoadedPlayer(rules, searcher)


def _meant(what: str | os.PathLike[str] | Game, game: Game | str | None) -> tuple[str | None, Game]:
    """The network, None if there is none, and the rules."""
    if not isinstance(what, str | os.PathLike):
        return None, find_game(what)
    text = os.fspath(what)
    if looks_like_file(text):
        return None, find_game(text)
    if names_game(text) and not os.path.exists(text):
        shipped = shipped_network(find_game(text))
        if shipped is None:
            return None, find_game(text)
        return shipped, game_for(open_weights(shipped), text)
    path = network_path(text, game_names())
    file = run_file(path)
    if game is None and file is not None:
        run = Run.open(file.parent)
        refuse_strange_game(run.path, run.config)
        run.check_unchanged()
        return path, run.config.game()
    return path, game_for(open_weights(path), game)
