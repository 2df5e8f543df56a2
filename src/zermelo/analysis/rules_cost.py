"""What the rules of a game in Python cost a search: microseconds a call, and whose time it is.

Measures a search with a small processor network, which is what training plays with. Timing a call
takes about a microsecond itself, which is subtracted. Time is the thread's own, so that waiting for
a busy machine is no method's cost.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from zermelo import _core
from zermelo.games.protocol import Game
from zermelo.games.symmetries import tables_of
from zermelo.network import NetworkEvaluator, architecture_for
from zermelo.network.architecture import NetworkOptions
from zermelo.network.weights import random_weights
from zermelo.search import Search

NETWORK = NetworkOptions(kind="sparse", hidden=64, policy_hidden=32, value_hidden=32)
SIMULATIONS = 64  # of a search, as in self-play
MOST_POSITIONS = 40  # moves of the games that are searched, one after the other
PATIENCE = 3  # times as long a busy machine is given
CHEAP = 0.3  # share of the search below which the rules are no hindrance
TIMED = (
    "play", "legal_actions", "outcome", "player", "observe", "hash", "num_symmetries", "transform",
    "transform_action", "transform_cell", "repeated_within",
)  # fmt: skip
ADVICE = {
    "observe": "fill one NumPy array by indices that are computed once, without loops over cells",
    "legal_actions": "keep the empty cells or the bits of the board in the state and filter a "
    "table of all actions",
    "play": "use bit sets or texts for the board, and tables of neighbours and lines",
    "outcome": "let play() note the result in the state, where it knows what has changed",
    "player": "keep the mover in the state",
    "hash": "leave it out: states of plain values are hashed by the core",
    "repeated_within": "keep hashes of earlier positions in the state",
}
SYMMETRIES = "declare them as tables with board_symmetries(), which cost no call"


@dataclass(frozen=True)
class MethodCost:
    """One method of the rules in a search."""

    name: str
    calls: int
    microseconds: float  # a call
    share: float  # of the search's time

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "name": self.name,
            "calls": self.calls,
            "microseconds": round(self.microseconds, 3),
            "share": round(self.share, 4),
        }


@dataclass(frozen=True)
class RulesCost:
    """Of a whole game; methods by their share, the largest first."""

    simulations_per_second: float  # of processor time, as without timing
    methods: list[MethodCost]

    @property
    def share(self) -> float:
        """Of all methods together."""
        return sum(method.share for method in self.methods)

    @property
    def advice(self) -> str:
        """What would help most, in a sentence."""
        if not self.methods or self.share < CHEAP:
            return f"the rules take {self.share:.0%} of a search, so there is little to gain"
        worst = self.methods[0]
        what = ADVICE.get(worst.name, SYMMETRIES)
        gain = 1 / max(0.05, 1 - 0.75 * worst.share)
        return (
            f"{worst.name}() takes {worst.share:.0%} of a search: {what}; four times as quick, it "
            f"would make the search {gain:.1f} times as quick"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "simulations_per_second": round(self.simulations_per_second),
            "share": round(self.share, 4),
            "methods": [method.to_dict() for method in self.methods],
            "advice": self.advice,
        }


class _Timed:
    """A game whose methods are timed; the rest is the game's own."""

    def __init__(self, game: Any) -> None:
        self._game = game
        self.spent: dict[str, float] = {}
        self.calls: dict[str, int] = {}
        for name in TIMED:
            method = getattr(game, name, None)
            if callable(method):
                setattr(self, name, self._timed(name, method))
        if tables_of(game) is not None:
            self.symmetries = game.symmetries

    def __getattr__(self, name: str) -> Any:
        return getattr(self._game, name)

    def _timed(self, name: str, method: Any) -> Any:
        spent, calls, clock = self.spent, self.calls, time.thread_time
        spent[name], calls[name] = 0.0, 0

        def call(*arguments: Any) -> Any:
            began = clock()
            try:
                return method(*arguments)
            finally:
                spent[name] += clock() - began
                calls[name] += 1

        return call


def rules_cost(game: Game, seconds: float = 1.0) -> RulesCost:
    """Searches a game's positions for about so many seconds, half of them without timing."""
    plain, _ = _search(game, seconds / 2)
    timed: Any = _Timed(game)
    timed_rate, spent = _search(timed, seconds / 2)
    overhead = _overhead()
    done = spent * timed_rate  # simulations
    whole = done / plain  # seconds that they would take without timing
    called = {name: calls for name, calls in timed.calls.items() if calls}
    costs = {n: max(0.0, timed.spent[n] - calls * overhead) for n, calls in called.items()}
    whole = max(1e-9, whole, sum(costs.values()))  # shares are of one search
    methods = [
        MethodCost(name, calls, 1e6 * costs[name] / calls, costs[name] / whole)
        for name, calls in called.items()
    ]
    return RulesCost(plain, sorted(methods, key=lambda method: -method.share))


def _search(game: Any, seconds: float) -> tuple[float, float]:
    """Simulations per second of processor time, and the seconds of it that were searched."""
    weights = random_weights(architecture_for(game, NETWORK))
    evaluator = NetworkEvaluator(weights, game=game)
    done, moves, state = 0, 0, game.initial()
    search = Search(game, evaluator, _core.SearchOptions())
    began, latest = time.thread_time(), time.perf_counter() + PATIENCE * seconds
    while (spent := time.thread_time() - began) < seconds:
        if done and time.perf_counter() >= latest:
            break
        result = search.run(state, simulations=SIMULATIONS)
        done += SIMULATIONS
        moves += 1
        state = game.play(state, result.best.action)
        if game.outcome(state) is not None or moves % MOST_POSITIONS == 0:
            state = game.initial()
        search = Search(game, evaluator, _core.SearchOptions())
    return done / max(1e-9, spent), spent


def _overhead() -> float:
    """Seconds that timing adds to what it measures of a call."""
    timed = _Timed(_Nothing())
    for _ in range(2000):
        timed.play(None, 0)
    return timed.spent["play"] / timed.calls["play"]


class _Nothing:
    def play(self, state: Any, action: int) -> None:
        """As quick as a method can be."""
