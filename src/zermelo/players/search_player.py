"""Plays by the native search: `FILE?simulations=800&solver=off`, `search?evaluator=uniform`.

Every option of `SearchOptions` can be set by its name. The tree is kept from move to move (S5), as
long as the positions follow each other.
"""

from __future__ import annotations

import inspect
import threading
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from zermelo import _core
from zermelo.errors import UserError
from zermelo.evaluator import Evaluator, NativeEvaluator
from zermelo.games.protocol import Game, State
from zermelo.network import NetworkEvaluator
from zermelo.network.open import open_network, own_search
from zermelo.network.own_search import searched
from zermelo.network.places import network_path, weights_file
from zermelo.players.protocol import MoveReport
from zermelo.search import (
    Limits,
    LiveSearch,
    RolloutEvaluator,
    SearchOptions,
    SearchResult,
    UniformEvaluator,
)

EVALUATORS = ("uniform", "rollout", "hash")
MOST_SIMULATIONS = 10**18  # the core counts them in 64 bits
MOST_SECONDS = 1e9  # the core counts them in nanoseconds, in 64 bits


def native_evaluator(name: str, seed: int = 0) -> NativeEvaluator:
    """What stands in for a network: `uniform`, `rollout` (random games) or `hash`."""
    if name == "uniform":
        return UniformEvaluator()
    if name == "rollout":
        return RolloutEvaluator(seed=seed)
    if name == "hash":
        return _core.HashEvaluator(seed)
    raise UserError(f"there is no evaluator '{name}'; there are {', '.join(EVALUATORS)}")


# What several players of this process use, as long as one of them lives: evaluations of networks,
# and networks whose batches they share. Guarded by _sharing.
_shared_caches: WeakValueDictionary[tuple[Any, ...], _core.EvaluationCache] = WeakValueDictionary()
_gatherers: WeakValueDictionary[tuple[Any, ...], _core.GatheringEvaluator] = WeakValueDictionary()
_sharing = threading.Lock()


class SearchPlayer:
    """The most visited action, or a proven one, after so many simulations or seconds or both."""

    spelled = "search"

    def __init__(
        self,
        simulations: int | None = None,
        nodes: int | None = None,
        seconds: float = 0.0,
        evaluator: str = "rollout",
        weights: str | None = None,
        backend: str = "auto",
        precision: str = "f32",
        gather: int = 0,
        **options: Any,
    ) -> None:
        """Without any limit it is 800 simulations; `options` are those of SearchOptions.

        Those that are not given are the network's own. `nodes` counts the visits that a kept tree
        already has, `simulations` does not. `weights` is a network, used instead of `evaluator`, on
        the runtime `backend`. With `gather` it evaluates batches of that size, together with
        players in other threads (matches do).
        """
        if simulations is None and nodes is None and seconds <= 0:
            simulations = 800
        for name, count in (("simulations", simulations), ("nodes", nodes)):
            if count is not None and not 1 <= count <= MOST_SIMULATIONS:
                raise UserError(
                    f"search: {name} must be 1 or more, up to {MOST_SIMULATIONS}, not {count}"
                )
        if nodes is not None and simulations is not None:
            raise UserError("search: nodes cannot be given with simulations")
        if not 0.0 <= seconds <= MOST_SECONDS:  # also refuses nan
            raise UserError(f"search: seconds must be from 0 to {MOST_SECONDS:g}, not {seconds:g}")
        self.network = network_path(weights) if weights else None  # a run's newest, as it is now
        self.options = SearchOptions(**options)
        counted = simulations is not None or nodes is not None
        if self.options.gumbel and not counted:
            raise UserError("search: gumbel shares out a number of simulations, so it needs one")
        if self.network:
            own = SearchOptions(**own_search(self.network))
            self.options = searched(own, options, counted)
        self.simulations = simulations
        self.nodes = nodes
        self.seconds = seconds
        settings = {
            "simulations": simulations,
            "nodes": nodes,
            "seconds": seconds or None,
            "evaluator": None if weights or self.spelled != "search" else evaluator,
            "backend": None if backend == "auto" else backend,
            "precision": None if precision == "f32" else precision,
        }
        self.name = spec_text(settings | options, weights or self.spelled)
        self.result: SearchResult | None = None  # of the last choice
        self._runtime = (backend, precision)
        self._gather = gather
        self._stand_in = evaluator
        self._seed = int(self.options.seed)  # as it was given
        self._evaluator: Evaluator = native_evaluator(evaluator, self._seed)
        self._search: LiveSearch | None = None

    @property
    def choice(self) -> list[dict[str, Any]]:
        """What `auto` measured for the network, once the player is prepared; else nothing."""
        return self._evaluator.choice if isinstance(self._evaluator, NetworkEvaluator) else []

    @property
    def evaluator(self) -> Evaluator:
        """The network, once the player is prepared, or what stands in for one."""
        return self._evaluator

    def start_game(self) -> None:
        """Forgets the last game's tree and evaluations."""
        if self._search is not None:
            self._search.forget(evaluations=not self._shares)

    def reseed(self, seed: int) -> None:
        """Noise and random games follow another seed; what a network or a hash says stays."""
        seed = (self._seed * 0x9E3779B97F4A7C15 + seed) % 2**52
        self.options = self.options.replace(seed=seed)
        if self._stand_in == "rollout" and not self.network:
            self._evaluator = RolloutEvaluator(seed=seed)
        if self._search is not None:
            cache = self._search.cache
            self._search = LiveSearch(self._search.game, self._evaluator, self.options, cache)
            self.start_game()

    def prepare(self, game: Game) -> None:
        """Loads the network and makes the search."""
        if self._search is None or self._search.game is not game:
            if self.network:
                self._evaluator = self._network(game)
            self._search = LiveSearch(game, self._evaluator, self.options, self._cache(game))

    @property
    def _shares(self) -> bool:
        """Whether a cached evaluation is bit for bit the one that the network would give again.

        It is if every batch has one size and the key covers all that the network sees. Then players
        of the network keep their evaluations together and from game to game, which spares a good
        part of them, since two sides look at mostly the same positions, and changes no move.
        """
        o = self.options
        covered = o.cache_history and o.cache_clock and not o.cache_symmetry
        return bool(self._gather and covered)

    def _cache(self, game: Game) -> _core.EvaluationCache | None:
        """One for all players that keep the same things in it; None lets the search choose."""
        options = self.options
        if not self._shares or not options.cache_mib:
            return None
        key = (*self._network_key(game), options.cache_mib, options.policy_temperature)
        with _sharing:
            cache = _shared_caches.get(key)
            if cache is None:
                cache = _core.EvaluationCache(int(options.cache_mib), game.num_actions)
                _shared_caches[key] = cache
        return cache

    def _network(self, game: Game) -> NetworkEvaluator | _core.GatheringEvaluator:
        assert self.network is not None
        if not self._gather:
            return open_network(self.network, game, *self._runtime).evaluator
        key = self._network_key(game)
        with _sharing:
            gatherer = _gatherers.get(key)
            if gatherer is None:
                opened = open_network(self.network, game, *self._runtime, fixed_batch=self._gather)
                gatherer = _core.GatheringEvaluator(opened.evaluator, self._gather)
                _gatherers[key] = gatherer
        return gatherer

    def _network_key(self, game: Game) -> tuple[Any, ...]:
        """Tells networks apart, also those that were in the same file one after the other."""
        assert self.network is not None
        place = Path(self.network).resolve()
        stat = weights_file(place).stat()
        file = (place, stat.st_mtime_ns, stat.st_size)
        return (*file, *self._runtime, self._gather, game.name)

    def report(self) -> MoveReport | None:
        """The value that the search gave to the position, or what it proved."""
        if self.result is None:
            return None
        simulations = int(self.result.counters["simulations"])
        proven = self.result.proven
        if proven is not None:
            return MoveReport(float(proven.result), simulations, f"{proven}/{simulations}")
        value = self.result.value
        return MoveReport(value, simulations, f"{value:+.2f}/{simulations}")

    def choose(self, game: Game, state: State) -> int:
        """Searches on from the tree of the last choice if `state` followed from it."""
        search = self.search_at(game, state)
        self.result = search.run(self.limits)
        action = self.result.best_action
        search.follow(game.play(state, action), [action])
        return action

    def stop(self) -> None:
        """Ends the search of the choice under way, if it has begun; from any thread."""
        if self._search is not None:
            self._search.stop()

    @property
    def limits(self) -> Limits:
        """Of one choice."""
        return Limits(self.simulations, self.nodes, least=1, seconds=self.seconds)

    def live(self, game: Game) -> LiveSearch:
        """The search of every choice in this game: may be listened to and stopped, not steered."""
        self.prepare(game)
        assert self._search is not None
        return self._search

    def search_at(self, game: Game, state: State) -> LiveSearch:
        """The search, at `state` and with the tree of the last choice if that leads there."""
        search = self.live(game)
        search.follow(state)
        return search

    def lasting_search_at(self, game: Game, state: State) -> LiveSearch:
        """The same, but its tree lasts over many runs of `state`, whatever `tree_reuse` says."""
        search = self.search_at(game, state)
        if not self.options.tree_reuse:
            options = self.options.replace(tree_reuse=True)
            search = LiveSearch(game, self._evaluator, options, search.cache)
            search.follow(state)
        return search


class RolloutPlayer(SearchPlayer):
    """Tree search with random games in place of a network."""

    spelled = "rollout"

    def __init__(
        self,
        simulations: int | None = None,
        nodes: int | None = None,
        seconds: float = 0.0,
        **options: Any,
    ) -> None:
        """As SearchPlayer's."""
        super().__init__(simulations, nodes, seconds, "rollout", **options)


def setting_text(value: bool | int | float | str) -> str:
    """A setting's value as the registry reads it, every digit of it."""
    return ("off", "on")[value] if isinstance(value, bool) else str(value)


def spec_text(settings: dict[str, Any], name: str = "search") -> str:
    """The player as the registry spells it."""
    given = [f"{key}={setting_text(v)}" for key, v in settings.items() if v is not None]
    return name + ("?" + "&".join(given) if given else "")


def _signature(kind: type[SearchPlayer]) -> inspect.Signature:
    """The constructor's keywords with each option of the search in place of `options`."""
    own = [
        parameter
        for parameter in inspect.signature(kind.__init__).parameters.values()
        if parameter.name != "self" and parameter.kind is not inspect.Parameter.VAR_KEYWORD
    ]
    options = [
        inspect.Parameter(row["name"], inspect.Parameter.KEYWORD_ONLY, default=row["default"])
        for row in SearchOptions.table()
    ]
    return inspect.Signature([*own, *options])


for _kind in (SearchPlayer, RolloutPlayer):
    setattr(_kind, "__signature__", _signature(_kind))  # noqa: B010
