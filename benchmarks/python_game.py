"""What a game in Python costs: search and self-play with and without symmetries, interleaved.

`python benchmarks/python_game.py GAME.py [--seconds 1] [--rounds 5]` prints simulations and samples
per second of each variant and their ratio to the game without symmetries and hash, as
medians over rounds in which the variants take turns. Seconds are the processor's: one thread works,
and what else the machine does counts less.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from typing import Any

from zermelo import _core
from zermelo.games import game as find_game
from zermelo.games.protocol import ATTRIBUTES, METHODS
from zermelo.games.symmetries import Symmetries
from zermelo.network import architecture_for
from zermelo.network.architecture import NetworkOptions
from zermelo.network.weights import random_weights
from zermelo.search import Search, SearchOptions, UniformEvaluator
from zermelo.selfplay.self_play import SelfPlay

SEARCHED = 3000  # simulations of one search with the uniform evaluator
SAMPLES = 200  # of one stretch of self-play, at least


class Variant:
    """A game with the required members of another, and some more."""

    def __init__(self, game: Any, **more: Any) -> None:
        for name in (*ATTRIBUTES, *METHODS):
            setattr(self, name, getattr(game, name))
        for name, member in more.items():
            setattr(self, name, member)


class Methods:
    """Symmetries as the four methods, for games that keep no states of their own to transform."""

    def __init__(self, tables: Symmetries) -> None:
        self.tables = tables

    def members(self) -> dict[str, Callable[..., Any]]:
        """For `Variant`."""
        tables = self.tables
        return {
            "num_symmetries": lambda _: len(tables),
            "transform": lambda state, _: state,
            "transform_action": lambda action, symmetry: tables.actions[symmetry][action],
            "transform_cell": lambda cell, symmetry: tables.cells[symmetry][cell],
        }


def variants(game: Any) -> dict[str, Any]:
    """Plain first, then with what the game has."""
    found = {"plain": Variant(game)}
    if hasattr(game, "symmetries"):
        found["symmetries"] = Variant(game, symmetries=game.symmetries)
        found["by methods"] = Variant(game, **Methods(game.symmetries).members())
    if hasattr(game, "hash"):
        found["hash"] = Variant(game, hash=game.hash)
    return found


def search_speed(game: Any, seconds: float) -> float:
    """Simulations per second of searches with the uniform evaluator."""
    done, started = 0, time.process_time()
    while time.process_time() - started < seconds:
        Search(game, UniformEvaluator(), SearchOptions()).run(game.initial(), simulations=SEARCHED)
        done += SEARCHED
    return done / (time.process_time() - started)


def selfplay(game: Any, kind: str) -> SelfPlay:
    """Self-play with a network that knows nothing."""
    network = random_weights(
        architecture_for(game, NetworkOptions(kind=kind, blocks=2, filters=32))
    )
    options = _core.SelfPlayOptions(simulations=64, games=16)
    return SelfPlay(game, network, SearchOptions(), options)


def selfplay_speed(player: SelfPlay, seconds: float) -> float:
    """Samples per second."""
    done, started = 0, time.process_time()
    while time.process_time() - started < seconds:
        done += len(player.play(SAMPLES).samples)
    return done / (time.process_time() - started)


def measured(game: Any, seconds: float, rounds: int, kinds: list[str]) -> dict[str, Any]:
    """Medians of what is measured, and of the ratios within a round."""
    games = variants(game)
    asks: dict[str, dict[str, Callable[[], float]]] = {
        "search, uniform (simulations/s)": {
            name: lambda g=g: search_speed(g, seconds)
            for name, g in games.items()  # type: ignore[misc]
        }
    }
    for kind in kinds:
        players = {name: selfplay(g, kind) for name, g in games.items()}
        asks[f"self-play, {kind} (samples/s)"] = {
            name: lambda p=p: selfplay_speed(p, seconds)
            for name, p in players.items()  # type: ignore[misc]
        }
    found: dict[str, Any] = {}
    for what, sides in asks.items():
        speeds: dict[str, list[float]] = {name: [] for name in sides}
        for _ in range(rounds):
            for name, ask in sides.items():
                speeds[name].append(ask())
        found[what] = {
            name: {
                "median": statistics.median(each),
                "ratio": statistics.median(
                    a / b for a, b in zip(each, speeds["plain"], strict=True)
                ),
            }
            for name, each in speeds.items()
        }
    return found


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("game", nargs="?", default="examples/dots_and_boxes.py")
    parser.add_argument("--seconds", type=float, default=1.0, help="of one measurement")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--kind", action="append", help="of network: sparse or residual")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    kinds = given.kind or ["sparse"]
    found = measured(find_game(given.game), given.seconds, given.rounds, kinds)
    if given.json:
        print(json.dumps(found, indent=2))
        return
    for what, sides in found.items():
        print(what)
        for name, figures in sides.items():
            print(f"  {name:<12} {figures['median']:>12,.0f}  {figures['ratio']:.2f} of plain")


if __name__ == "__main__":
    main()
