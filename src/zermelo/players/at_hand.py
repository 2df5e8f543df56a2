"""Who plays and who gives hints when nobody was named: the best that is at hand for a game.

Knows the networks that come with the package; nothing of how a person is talked to.
"""

from __future__ import annotations

from zermelo.games.protocol import Game
from zermelo.network.open import own_search
from zermelo.network.own_search import EXACT_CACHE
from zermelo.network.places import shipped_network
from zermelo.players.search_player import SearchPlayer

OPPONENT_SIMULATIONS = 400
HINT_SIMULATIONS = 800
BLIND_HINT_SIMULATIONS = 2000  # without a network, by random games


def default_opponent(game: Game, simulations: int = OPPONENT_SIMULATIONS) -> SearchPlayer:
    """Plays with the package's network, else by random games."""
    return searcher(usable_network(game), simulations)


def adviser(game: Game) -> SearchPlayer:
    """Gives hints."""
    network = usable_network(game)
    return searcher(network, BLIND_HINT_SIMULATIONS if network is None else HINT_SIMULATIONS)


def searcher(network: str | None, simulations: int) -> SearchPlayer:
    """Searches as the network was trained, and says so; with random games if there is none."""
    own = own_search(network) if network else {}
    said = {key: value for key, value in own.items() if key not in EXACT_CACHE}
    return SearchPlayer(simulations, weights=network, **said)


def usable_network(game: Game) -> str | None:
    """The network that comes with the package for this game; NumPy can run each of them."""
    return shipped_network(game)
