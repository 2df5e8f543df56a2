"""Networks made ready, shared by all visitors: each is opened once, with one cache of evaluations.

Knows how a network is opened and which search its makers use; nothing of visitors. Threads: any may
ask; who asks for a network that is being opened waits.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass

from zermelo._core import EvaluationCache
from zermelo.games.notation import parse_position, position_text
from zermelo.games.protocol import Game, State
from zermelo.network.open import Opened, open_network
from zermelo.network.runtimes import installed_backends
from zermelo.search import LiveSearch, RolloutEvaluator, SearchOptions
from zermelo.web.catalogue import ROLLOUT, Catalogue, OfferedGame

KEPT = 8  # networks that stay open
CACHE_MIB = 32  # of each


@dataclass(frozen=True)
class Judge:
    """Something to search with."""

    opened: Opened
    cache: EvaluationCache

    @property
    def rules(self) -> Game:
        """As the network sees the game."""
        return self.opened.game

    def search(self, *, counted: bool, max_nodes: int = 0) -> LiveSearch:
        """A search of one board; `counted` says that the number of simulations is known."""
        given = {"threads": 1, "max_nodes": max_nodes} if max_nodes else {"threads": 1}
        options = self.opened.searched(given, counted=counted)
        return LiveSearch(self.rules, self.opened.evaluator, options, self.cache)

    def translated(self, game: Game, first: State, actions: tuple[int, ...]) -> State:
        """A game by some rules, as the network's own rules see it: with its whole past."""
        rules = self.rules
        if rules is game:
            state = first
        elif position_text(game, first) == position_text(rules, rules.initial()):
            state = rules.initial()
        else:
            state = parse_position(rules, position_text(game, first))
        for action in actions:
            state = rules.play(state, action)
        return state


class Judges:
    """By network."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._lock = threading.Lock()
        self._ready: OrderedDict[tuple[str, str], Judge] = OrderedDict()  # guarded

    def judge(self, offered: OfferedGame, network: str) -> Judge:
        """For a game and a network's id; a Refusal if there is no such network."""
        if network == ROLLOUT:
            key = (offered.id, ROLLOUT)
        else:
            key = (offered.id, self._catalogue.network(network, offered).reference)
        with self._lock:
            if key not in self._ready:
                self._ready[key] = _opened(offered, key[1])
                while len(self._ready) > KEPT:
                    self._ready.popitem(last=False)
            self._ready.move_to_end(key)
            return self._ready[key]


def _opened(offered: OfferedGame, reference: str) -> Judge:
    if reference == ROLLOUT:
        opened = Opened(offered.rules, RolloutEvaluator(seed=1), SearchOptions(), ROLLOUT)
    else:
        backend = (*installed_backends(), "auto")[0]  # measuring them all would take seconds
        named = offered.rules.name if offered.kind else offered.rules
        opened = open_network(reference, named, backend)
    return Judge(opened, EvaluationCache(CACHE_MIB, offered.rules.num_actions))
