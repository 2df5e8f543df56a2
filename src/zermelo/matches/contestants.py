"""Makes texts into the players of a match: which game it is, what exactly plays, and its name."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from zermelo.errors import UserError
from zermelo.games import game as find_game
from zermelo.games.parameters import split_spec
from zermelo.games.protocol import Game
from zermelo.games.registry import named_game
from zermelo.matches.play_game import Contestants
from zermelo.network.open import open_weights, own_search
from zermelo.network.own_search import EXACT_CACHE, changed_options
from zermelo.network.places import looks_like_network, network_path, weights_file
from zermelo.network.runtimes import installed_backends
from zermelo.players import Player, player_names
from zermelo.players import player as find_player
from zermelo.players.human import HumanPlayer
from zermelo.players.registry import ENGINE, settings_known, with_settings
from zermelo.players.search_player import SearchPlayer, setting_text
from zermelo.search import SearchOptions

GATHER = 8  # positions in a batch that games side by side share: more is hardly faster on a core
BOARDS = 2 * GATHER  # while one batch is evaluated, the next one is searched for
QUICK = ("random", "rollout", "search")  # players without a network that may sit among them


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
    games = {open_weights(path).architecture.game: path for path in networks}
    if len(games) > 1:
        listing = " and ".join(f"'{path}' plays {name}" for name, path in games.items())
        raise UserError(f"the networks play different games: {listing}")
    if asked is None:
        if not games:
            raise UserError("which game? No player is a network, so name one: --game connect4")
        return named_game(next(iter(games)))
    if isinstance(asked, str) and asked in {split_spec(name)[0] for name in games}:
        # `--game chess` also means the form of chess that a network was made for.
        return named_game(next(iter(games)))
    return find_game(asked)


def make_contestants(specs: Sequence[str | Player], game: Game, own: bool = True) -> Contestants:
    """Players that are there, of networks that fit the game; different players, different names.

    A run becomes its newest checkpoint, `backend=auto` one backend for the whole match, and a
    network's own search options are spelled out, since all could change while it is played. Without
    `own` they are not used: so it was before networks had any.
    """
    exact: list[str | Player] = []
    names: list[str] = []
    boards = BOARDS if can_gather(specs, own) else 1
    for spec in specs:
        exact.append(_pinned(spec, game, GATHER if boards > 1 else 0, own))
        made = find_player(_named(spec), game)
        if isinstance(made, HumanPlayer):
            raise UserError("a match is played without people: 'human' cannot take part")
        names.append(made.name)
    return Contestants(tuple(exact), tuple(_told_apart(names)), boards)


def searches_of(contestants: Contestants, game: Game) -> list[dict[str, Any] | None]:
    """The options of each player's search, those that differ from the defaults; None: no search."""
    players = (find_player(spec, game) for spec in contestants.specs)
    return [
        changed_options(player.options) if isinstance(player, SearchPlayer) else None
        for player in players
    ]


def _told_apart(names: Sequence[str]) -> list[str]:
    """Equal names with their number behind, from the second on."""
    earlier = [names[:i].count(name) for i, name in enumerate(names)]
    return [
        f"{name} #{count + 1}" if count else name
        for name, count in zip(names, earlier, strict=True)
    ]


def can_gather(specs: Sequence[str | Player], own: bool = True) -> bool:
    """Whether many games may be played side by side in a process and share the network's batches.

    Not with a clock, with players that want a processor to themselves, or with searches whose own
    batches would make a position's evaluation depend on its neighbours.
    """
    if not any(network_of(spec) for spec in specs):
        return False
    for spec in specs:
        if not isinstance(spec, str):
            return False
        name, given = split_spec(spec)
        network = network_of(spec)
        if network is None and name not in QUICK:
            return False
        if network is not None and own:
            given = {key: str(value) for key, value in own_search(network).items()} | given
        alone = all(given.get(key, "1") == "1" for key in ("threads", "leaves_per_tree"))
        if "seconds" in given or not alone or name == "policy":
            return False
    return True


def network_digests(specs: Sequence[str | Player]) -> dict[str, str]:
    """A hash of each network, so that a match goes on with the same ones only."""
    found = {}
    for spec in specs:
        path = network_of(spec)
        if path is not None:
            found[path] = hashlib.sha256(weights_file(path).read_bytes()).hexdigest()
    return found


def add_settings(spec: str, settings: Mapping[str, Any], only_known: bool = False) -> str:
    """The text with settings added; with `only_known`, those that the player does not have fall."""
    known = settings_known(spec)
    if only_known and known is not None:
        settings = {key: value for key, value in settings.items() if key in known}
    return with_settings(spec, {key: str(value) for key, value in settings.items()})


def with_budget(specs: Sequence[str], simulations: int | None) -> list[str]:
    """Simulations for the players that search and have no budget of their own in their text."""
    return [spec if simulations is None else _budgeted(spec, simulations) for spec in specs]


def _budgeted(spec: str, simulations: int) -> str:
    known = settings_known(spec) or set()
    own = {"simulations", "nodes", "seconds"} & set(split_spec(spec)[1])
    if own or "simulations" not in known:
        return spec
    return add_settings(spec, {"simulations": simulations})


def _named(spec: str | Player) -> str | Player:
    """With a run's newest checkpoint in place of the run."""
    path = network_of(spec)
    if path is None or not isinstance(spec, str):
        return spec
    name, given = split_spec(spec)
    if "weights" in given:
        return with_settings(name, given | {"weights": path})
    return with_settings(path, given)


def _pinned(spec: str | Player, game: Game, gather: int, own: bool) -> str | Player:
    """Also with one backend and the network's own search; side by side, with what keeps moves so.

    That is batches of one size, and no answers that depend on which mirror image or which past of a
    position came first.
    """
    path = network_of(spec)
    named = _named(spec)
    if not isinstance(named, str):
        return named
    given = split_spec(named)[1]
    if path is None:  # its cache is its own, and there is one such player on each board
        small = {"cache_mib": "16"} | given
        return add_settings(named, small, only_known=True) if gather else named
    open_weights(path, game)
    backends = [given["backend"]] if "backend" in given else installed_backends()
    settings = {"backend": backends[0], **_own_settings(named, path, game, own)}
    if gather:
        exact = {key: setting_text(value) for key, value in EXACT_CACHE.items()}
        settings |= {"gather": str(gather), **exact}
    return add_settings(named, settings | given, only_known=True)


def _own_settings(spec: str, path: str, game: Game, own: bool) -> dict[str, str]:
    """What the network's own options are in this player's search, as settings."""
    made = find_player(spec, game)
    if not isinstance(made, SearchPlayer):
        return {}
    options = made.options if own else SearchOptions()
    keys = {*own_search(path), *EXACT_CACHE}
    return {key: setting_text(getattr(options, key)) for key in sorted(keys)}
