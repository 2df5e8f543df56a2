"""Plays as ordered, a shard's worth of games at a time, wherever it is told to.

Knows no channel, no file and no process: whoever calls it loads saved games, writes shards and
says when to stop. One thread uses a producer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from zermelo import _core
from zermelo.errors import REFUSALS
from zermelo.games import game as find_game
from zermelo.network import Weights
from zermelo.selfplay.network_reference import NetworkReference
from zermelo.selfplay.order import Order, Spec
from zermelo.selfplay.self_play import Played, SelfPlay

SMALLEST_PART = 16  # a shard is at least this part of a producer's share of an iteration,
SMALLEST = 100  # and at least so many samples
# In a shard's statistics:
EXACT = "exact"  # a repeatable run can play it again
FIRST_GAME = "first_game"  # its first game's number among its producer's of the iteration


class ShardProducer:
    """Games under way go on from shard to shard and from order to order."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.game = find_game(spec.game)
        self.selfplay: SelfPlay | None = None  # made with the first order's network
        self.network: NetworkReference | None = None  # that it uses
        self.order: Order | None = None  # under way
        self.made = 0  # samples for it
        self.least = SMALLEST  # samples of a shard; more where each costs a journey
        self.games = 0  # finished in its iteration
        self.games_before = 0  # the last shard's
        self._moves = 0  # in its iteration, without those of the shard under way
        self._plays = False  # a shard is under way

    def begin(self, order: Order, games: bytes | None = None) -> str:
        """Takes an order: its network and options, and the saved games if there are any.

        Returns why the saved games are not used, so that new ones begin or those under way go on;
        empty if nothing is wrong.
        """
        if self.selfplay is None or self.network != order.network:
            weights = order.network.load(self.game)
            if self.selfplay is None:
                self.selfplay = self.new_games(weights)
            else:
                self.selfplay.use(weights)
            self.network = order.network
        fault = ""
        if games is not None:
            try:
                self.selfplay.load(games)  # a runner in the same state stays so
            except REFUSALS as error:
                fault = str(error)
        self.selfplay.set(simulations=order.simulations, resign_threshold=order.resign_threshold)
        self.selfplay.at_iteration(order.network_iteration)
        if self.order is None or self.order.iteration != order.iteration:
            self.games = self._moves = 0
        self.order, self.made = order, 0
        return fault

    def produce(self, order: Order, stop: Callable[[], bool]) -> Played:
        """The next shard of an order, which is begun if it is not under way.

        `stop` is asked about every 20 ms; after a yes the games that are finished are all.
        """
        if order != self.order:
            self.begin(order)
        assert self.selfplay is not None
        selfplay = self.selfplay

        def poll() -> None:
            if stop():
                selfplay.stop()

        self._plays = True
        try:
            played = selfplay.play(self.shard_size(order, self.made), 0.0, poll)
        finally:
            self._plays = False
        self.made += len(played.samples)
        self._moves += int(played.statistics["moves"])
        self.games_before = self.games
        self.games += int(played.statistics["games"])
        return played

    def moves(self) -> int:
        """In the order's iteration, of unfinished games too; under way for `stop` alone."""
        if not self._plays or self.selfplay is None:
            return self._moves
        return self._moves + int(self.selfplay.runner.moves)

    @property
    def done(self) -> bool:
        """Whether the order under way has a quota and that is played."""
        return self.order is not None and 0 < self.order.quota <= self.made

    def save(self) -> bytes:
        """The games under way, for `begin` of this or another producer with the same spec."""
        assert self.selfplay is not None
        return self.selfplay.save()

    def facts(self, order: Order) -> dict[str, Any]:
        """What joins the statistics of the shard that was produced last.

        A producer's seed, the iteration and a game's number in it name a game, wherever it is.
        """
        return {
            "seed": self.spec.seed,
            "budget": order.simulations,
            "resign_threshold": order.resign_threshold,
            EXACT: self.spec.exact,
            FIRST_GAME: self.games_before,
        }

    def new_games(self, weights: Weights) -> SelfPlay:
        """All boards at the start of a game."""
        spec = self.spec
        options = _core.SelfPlayOptions(**spec.selfplay | {"seed": spec.seed})
        search = _core.SearchOptions(**spec.search | {"seed": spec.seed})
        return SelfPlay(
            self.game, weights, search, options, backend=spec.backend, precision=spec.precision
        )

    def shard_size(self, order: Order, made: int) -> int:
        """Small shards first, so that progress is seen at once, and last, to finish together."""
        if 0 < order.quota <= order.share:
            return max(1, min(self.spec.shard_samples, order.quota - made))
        smallest = max(self.least, order.share // SMALLEST_PART) if made else self.least
        return min(self.spec.shard_samples, max(smallest, min(made, (order.share - made) // 2)))
