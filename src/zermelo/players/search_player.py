"""Plays by the native search: `search?simulations=800&weights=FILE&solver=off`.

Every option of `SearchOptions` can be set by its name. The tree is kept from move to move (S5), as
long as the positions follow each other.
"""

from __future__ import annotations

import inspect
from typing import Any

from zermelo import _core
from zermelo.errors import UserError
from zermelo.games.protocol import Game, State, state_hash
from zermelo.network import NetworkEvaluator, load_network
from zermelo.search import RolloutEvaluator, Search, SearchOptions, SearchResult, UniformEvaluator

EVALUATORS = ("uniform", "rollout", "hash")


def native_evaluator(name: str, seed: int = 0) -> Any:
    """What stands in for a network: `uniform`, `rollout` (random games) or `hash`."""
    if name == "uniform":
        return UniformEvaluator()
    if name == "rollout":
        return RolloutEvaluator(seed=seed)
    if name == "hash":
        return _core.HashEvaluator(seed)
    raise UserError(f"there is no evaluator '{name}'; there are {', '.join(EVALUATORS)}")


def network_evaluator(
    path: str, game: Game, backend: str = "auto", precision: str = "f32"
) -> NetworkEvaluator:
    """The network of a file, made ready for a game that it fits."""
    return NetworkEvaluator(load_network(path, game), backend, precision, game=game)


class SearchPlayer:
    """The most visited action, or a proven one, after so many simulations or seconds or both."""

    def __init__(
        self,
        simulations: int | None = None,
        seconds: float = 0.0,
        evaluator: str = "rollout",
        weights: str | None = None,
        backend: str = "auto",
        **options: Any,
    ) -> None:
        """Without any limit it is 800 simulations; `options` are those of SearchOptions.

        `weights` is a network file, used instead of `evaluator`, on the runtime `backend`.
        """
        if simulations is None and seconds <= 0:
            simulations = 800
        if simulations is not None and simulations < 1:
            raise UserError(f"search: simulations must be 1 or more, not {simulations}")
        self.options = SearchOptions(**options)
        if self.options.gumbel and simulations is None:
            raise UserError("search: gumbel shares out a number of simulations, so it needs one")
        self.simulations = simulations
        self.seconds = seconds
        self.name = spec_text(
            {
                "simulations": simulations,
                "seconds": seconds or None,
                "evaluator": None if weights else evaluator,
                "weights": weights,
            }
            | options
        )
        self.result: SearchResult | None = None  # of the last choice
        self._weights = weights
        self._backend = backend
        self._evaluator = native_evaluator(evaluator, int(self.options.seed))
        self._search: Search | None = None
        self._after: State | None = None  # where the tree stands, after our own last action

    def start_game(self) -> None:
        """Forgets the last game's tree."""
        self._after = None
        if self._search is not None:
            self._search.clear()

    def choose(self, game: Game, state: State) -> int:
        """Searches on from the tree of the last choice if `state` followed from it."""
        search = self._search_at(game, state)
        self.result = search.run(state, self.simulations, seconds=self.seconds)
        action = self.result.best_action
        search.advance(action)
        self._after = game.play(state, action)
        return action

    def _search_at(self, game: Game, state: State) -> Search:
        """The search, its tree moved on to `state` if that can be."""
        if self._search is None or self._search.game is not game:
            if self._weights:
                self._evaluator = network_evaluator(self._weights, game, self._backend)
            self._search = Search(game, self._evaluator, self.options)
            self._after = None
        if self._after is not None:
            for action in actions_between(game, self._after, state):
                self._search.advance(action)
        return self._search


def actions_between(game: Game, before: State, after: State) -> list[int]:
    """The actions of one turn that lead from one position to the other; [] if none do.

    Only a guess by hashes: the search compares positions itself before it goes on with a tree.
    """
    if game.outcome(before) is not None:
        return []
    wanted = state_hash(game, after)
    mover = game.player(before)
    ways: list[tuple[State, list[int]]] = [(before, [])]
    while ways:
        state, path = ways.pop()
        for action in game.legal_actions(state):
            reached = game.play(state, action)
            if state_hash(game, reached) == wanted:
                return [*path, action]
            if game.player(reached) == mover and game.outcome(reached) is None:
                ways.append((reached, [*path, action]))
    return []


def spec_text(settings: dict[str, Any]) -> str:
    """The player as the registry spells it."""
    spelled = {True: "on", False: "off"}
    given = [
        f"{name}={spelled[value] if isinstance(value, bool) else value}"
        for name, value in settings.items()
        if value is not None
    ]
    return "search?" + "&".join(given)


def _signature() -> inspect.Signature:
    """The constructor's keywords with each option of the search in place of `options`."""
    own = [
        parameter
        for parameter in inspect.signature(SearchPlayer).parameters.values()
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD
    ]
    options = [
        inspect.Parameter(row["name"], inspect.Parameter.KEYWORD_ONLY, default=row["default"])
        for row in SearchOptions.table()
    ]
    return inspect.Signature([*own, *options])


SearchPlayer.__signature__ = _signature()  # type: ignore[attr-defined]
