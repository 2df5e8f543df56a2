"""The analysis engine against searches one after another, in positions per second.

Usage: python benchmarks/analysis.py [--game connect4] [--weights FILE] [--positions 64]
           [--simulations 200] [--threads N] [--rounds 5] [--json]

Without weights the network has random ones (5 blocks of 64 filters). Every round does the same
positions in each way, in turn, each with an empty cache; the ratios are those of a round, and their
median is shown. `one leaf` is a search after another with one leaf at a time, `mini-batches` the
same with 8 leaves of the one tree, `together` the engine with one thread, `threads` with all.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import time
from collections.abc import Callable
from typing import Any

import zermelo
from zermelo.analysis.engine import AnalysisEngine
from zermelo.analysis.request import Analyse
from zermelo.cli.evaluators import rules_for
from zermelo.cores import available_cores
from zermelo.network import (
    NetworkEvaluator,
    NetworkOptions,
    architecture_for,
    load_network,
    random_weights,
)
from zermelo.network.own_search import LOOSE_CACHE
from zermelo.search import Search, SearchOptions


def positions(game: Any, count: int, seed: int = 1) -> list[Any]:
    """After 2 to 20 random plies."""
    rng, found = random.Random(seed), []
    while len(found) < count:
        state = game.initial()
        for _ in range(rng.randrange(2, 21)):
            if game.outcome(state) is None:
                state = game.play(state, rng.choice(list(game.legal_actions(state))))
        if game.outcome(state) is None:
            found.append(state)
    return found


def one_after_another(
    game: Any, network: Any, states: list[Any], simulations: int, leaves: int
) -> None:
    """Each in a tree of its own, with a shared cache."""
    search = Search(game, network, SearchOptions(leaves_per_tree=leaves, **LOOSE_CACHE))
    for state in states:
        search.clear()
        search.run(state, simulations)


def with_engine(game: Any, network: Any, states: list[Any], simulations: int, threads: int) -> None:
    """All as one request."""
    options = SearchOptions(**LOOSE_CACHE)
    with AnalysisEngine(game, network, options, threads=threads) as engine:
        engine.add(Analyse("all", game, tuple(enumerate(states)), simulations, max_actions=1))
        engine.finish()
        answers = list(engine.answers())
    assert len(answers) == len(states)


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    """Positions per second of each way, and the medians of the rounds' ratios."""
    game = rules_for(arguments.game, arguments.weights)
    if arguments.weights:
        weights = load_network(arguments.weights, game)
    else:
        shape = architecture_for(game, NetworkOptions(blocks=5, filters=64))
        weights = random_weights(shape, 1)
    network = NetworkEvaluator(weights, "openvino", "f32", game=game)
    network.warm_up(arguments.threads, 64)
    states = positions(game, arguments.positions)
    work = (game, network, states, arguments.simulations)
    ways: dict[str, Callable[[], None]] = {
        "one leaf": lambda: one_after_another(*work, leaves=1),
        "mini-batches": lambda: one_after_another(*work, leaves=8),
        "together": lambda: with_engine(*work, threads=1),
        "threads": lambda: with_engine(*work, threads=arguments.threads),
    }
    rates: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(arguments.rounds):
        for name, way in ways.items():
            started = time.perf_counter()
            way()
            rates[name].append(len(states) / (time.perf_counter() - started))
    ratios = {
        f"{fast} / {slow}": statistics.median(
            a / b for a, b in zip(rates[fast], rates[slow], strict=True)
        )
        for fast in ("together", "threads")
        for slow in ("one leaf", "mini-batches")
    }
    return {
        "version": zermelo.__version__,
        "game": game.name,
        "network": weights.name if arguments.weights else "random, 5x64",
        "positions": len(states),
        "simulations": arguments.simulations,
        "threads": arguments.threads,
        "rounds": arguments.rounds,
        "positions_per_second": {k: round(statistics.median(v), 2) for k, v in rates.items()},
        "ratios": {name: round(ratio, 3) for name, ratio in ratios.items()},
    }


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--game", default="connect4")
    parser.add_argument("--weights")
    parser.add_argument("--positions", type=int, default=64)
    parser.add_argument("--simulations", type=int, default=200)
    parser.add_argument("--threads", type=int, default=available_cores())
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    found = measure(arguments)
    if arguments.json:
        print(json.dumps(found, indent=2))
        return
    for name, rate in found["positions_per_second"].items():
        print(f"{name:<14}{rate:>9.2f} positions/s")
    for name, ratio in found["ratios"].items():
        print(f"{name:<26}{ratio:>7.2f}")


if __name__ == "__main__":
    main()
