"""`SelfPlay`: the core's runner with its network. Knows neither files nor processes."""

from __future__ import annotations

from typing import Any

from zermelo import _core
from zermelo.games.native import native_game
from zermelo.games.protocol import Game
from zermelo.network import NetworkEvaluator, Weights
from zermelo.replay import GameRecords, Samples


class SelfPlay:
    """Plays many games at once with one network; one thread uses it."""

    def __init__(
        self,
        game: Game,
        weights: Weights,
        search: _core.SearchOptions,
        options: _core.SelfPlayOptions,
        *,
        backend: str = "auto",
        precision: str = "f32",
    ) -> None:
        self.game = game
        native = native_game(game)
        self.evaluator = NetworkEvaluator(weights, backend, precision, game=game)
        cache = None
        if search.cache_mib:
            cache = _core.EvaluationCache(int(search.cache_mib), int(native.num_actions))
        self.runner: Any = _core.make_selfplay(native, self.evaluator, search, options, cache)

    def play(self, samples: int, seconds: float = 0.0, poll: Any = None) -> Played:
        """Whole games with at least so many samples; fewer if `stop` or the seconds end it.

        `poll` is called about every 20 ms.
        """
        columns = self.runner.play(samples, seconds, poll)
        found, records = Samples.from_columns(columns), GameRecords.from_columns(columns)
        return Played(found, dict(columns["statistics"]), records)

    def stop(self) -> None:
        """Ends `play` soon, with the games that are finished; from any thread."""
        self.runner.stop()

    def use(self, weights: Weights) -> None:
        """Another network from the next batch on (P7); games under way go on."""
        self.evaluator.swap(weights)
        self.runner.set_evaluator(self.evaluator)

    def set(self, **changes: Any) -> None:
        """Changes options of self-play between two calls of `play`."""
        self.runner.set_options(self.runner.options.replace(**changes))

    def at_iteration(self, iteration: int) -> None:
        """Samples are marked with the iteration of the network that plays."""
        self.runner.iteration = iteration

    def save(self) -> bytes:
        """The games under way. Trees are forgotten, so that a copy of them would go on alike."""
        self.runner.drop_trees()
        return bytes(self.runner.save())

    def load(self, state: bytes) -> None:
        """Goes on with saved games; a ValueError says what is wrong with them."""
        self.runner.load(state)


class Played:
    """Samples of finished games, the core's statistics about them, and the games themselves."""

    def __init__(
        self, samples: Samples, statistics: dict[str, Any], records: GameRecords | None = None
    ) -> None:
        self.samples = samples
        self.statistics = statistics
        self.records = GameRecords.none() if records is None else records


def add_statistics(total: dict[str, Any], more: dict[str, Any]) -> None:
    """Adds numbers up in place; the list of audits is left out."""
    for name, value in more.items():
        if isinstance(value, int | float):
            total[name] = total.get(name, 0) + value
