"""How fast the search is: one board, many boards, and against the readable reference.

Usage: python benchmarks/search.py [--quick] [--repeats 5] [--json]

Equal priors stand for the network and the cache is off, so the figures are of the tree work alone.
Whatever is compared is measured in turns (A, B, A, B, ...) in one process, and medians are taken,
since a shared machine has fast and slow minutes. Rates are simulations per second.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import zermelo
from zermelo import reference
from zermelo.search import Search, SearchOptions, UniformEvaluator

POSITIONS = {
    "start": "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "middlegame": "r1bq1rk1/pp2bppp/2n1pn2/2pp4/3P1B2/2PBPN2/PP1N1PPP/R2Q1RK1 w - - 0 9",
}
BATCH = 64


def rate(work: Callable[[], int]) -> float:
    """Simulations per second of one run; `work` returns how many it did."""
    started = time.perf_counter()
    simulations = work()
    return simulations / (time.perf_counter() - started)


def in_turns(works: Mapping[str, Callable[[], int]], repeats: int) -> dict[str, list[float]]:
    """The rates of each, measured round by round."""
    rates: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(repeats):
        for name, work in works.items():
            rates[name].append(rate(work))
    return rates


def median_ratio(above: list[float], below: list[float]) -> float:
    """The median of the ratios of neighbours in time."""
    return statistics.median(a / b for a, b in zip(above, below, strict=True))


MINI_BATCH = {"leaves_per_tree": 16, "batch": 16}  # of one board


def options(**values: Any) -> SearchOptions:
    """Without a cache, with room for every node."""
    return SearchOptions(cache_mib=0, **values)


def uniform(_game: Any, _state: Any, actions: Any) -> tuple[list[float], float]:
    """The reference's evaluator that knows nothing."""
    return [0.0] * len(actions), 0.0


class ZeroNetwork:
    """A Python callable that costs nothing but the call: zeros prepared beforehand."""

    def __init__(self, num_actions: int) -> None:
        self.policy = np.zeros((BATCH, num_actions), np.float32)
        self.value = np.zeros(BATCH, np.float32)

    def __call__(self, planes: Any) -> tuple[Any, Any]:
        """Views of the zeros for the batch."""
        size = len(planes)
        return self.policy[:size], self.value[:size]


def tree_growth(sizes: list[int]) -> list[dict[str, Any]]:
    """One thread on one chess board: the rate up to a tree of so many nodes, and its memory."""
    game = zermelo.game("chess")
    rows = []
    for name, fen in POSITIONS.items():
        state = game.parse_position(fen)
        for size in sizes:
            search = Search(game, UniformEvaluator(), options(**MINI_BATCH))
            rates = []
            for _ in range(3):
                search.clear()
                result = search.run(state, size)
                rates.append(result.counters["simulations"] / result.seconds)
            rows.append(
                {
                    "position": name,
                    "nodes": result.nodes,
                    "simulations_per_second": round(statistics.median(rates)),
                    "bytes_per_node": round(result.bytes / result.nodes, 1),
                }
            )
    return rows


def one_board_threads(simulations: int, repeats: int) -> list[dict[str, Any]]:
    """Two threads in one tree against one."""
    game = zermelo.game("chess")

    def work(state: Any, threads: int) -> Callable[[], int]:
        search = Search(game, UniformEvaluator(), options(threads=threads, **MINI_BATCH))

        def run() -> int:
            search.clear()
            return int(search.run(state, simulations).counters["simulations"])

        return run

    rows = []
    for name, fen in POSITIONS.items():
        state = game.parse_position(fen)
        rates = in_turns({"one": work(state, 1), "two": work(state, 2)}, repeats)
        rows.append(
            {
                "position": name,
                "simulations": simulations,
                "one_thread": round(statistics.median(rates["one"])),
                "two_threads": round(statistics.median(rates["two"])),
                "ratio": round(median_ratio(rates["two"], rates["one"]), 2),
            }
        )
    return rows


def many_boards(boards: int, simulations: int, repeats: int) -> list[dict[str, Any]]:
    """Connect Four boards in batches of 64: evaluator in the core or in Python, 1 or 2 threads."""
    game = zermelo.game("connect4")
    states = [game.initial() for _ in range(boards)]
    for index in range(boards):  # spread over the 343 positions after three plies
        for column in (index % 7, index // 7 % 7, index // 49 % 7):
            states[index] = game.play(states[index], column)

    def work(evaluator: Any, threads: int) -> Callable[[], int]:
        search = Search(game, evaluator, options(threads=threads, batch=BATCH))

        def run() -> int:
            search.run_many(states, simulations)
            return len(states) * simulations

        return run

    rows = []
    for name, evaluator in (
        ("core", UniformEvaluator()),
        ("python", ZeroNetwork(game.num_actions)),
    ):
        rates = in_turns({"one": work(evaluator, 1), "two": work(evaluator, 2)}, repeats)
        rows.append(
            {
                "evaluator": name,
                "boards": boards,
                "simulations": simulations,
                "one_thread": round(statistics.median(rates["one"])),
                "two_threads": round(statistics.median(rates["two"])),
                "ratio": round(median_ratio(rates["two"], rates["one"]), 2),
            }
        )
    return rows


def against_reference(simulations: int, repeats: int) -> list[dict[str, Any]]:
    """The core against `reference/puct.py`: the same trees from the first position, one thread.

    The core grows the tree a hundred times over, so that both sides take about as long.
    """
    rows = []
    for name in ("chess", "connect4"):
        game = zermelo.game(name)
        search = Search(game, UniformEvaluator(), options())

        def native(game: Any = game, search: Search = search) -> int:
            done = 0
            for _ in range(100):
                search.clear()
                done += int(search.run(game.initial(), simulations).counters["simulations"])
            return done

        def plain(game: Any = game) -> int:
            return reference.search(game, game.initial(), uniform, simulations).visits - 1

        rates = in_turns({"native": native, "reference": plain}, repeats)
        rows.append(
            {
                "game": name,
                "native": round(statistics.median(rates["native"])),
                "reference": round(statistics.median(rates["reference"])),
                "ratio": round(median_ratio(rates["native"], rates["reference"]), 1),
            }
        )
    return rows


def measure(quick: bool, repeats: int) -> dict[str, list[dict[str, Any]]]:
    """All tables; says on the error stream what it is doing."""
    plan: dict[str, Callable[[], list[dict[str, Any]]]] = {
        "chess, one board, one thread": lambda: tree_growth(
            [20_000, 100_000] if quick else [200_000, 5_000_000]
        ),
        "chess, one board, two threads": lambda: one_board_threads(
            50_000 if quick else 1_000_000, repeats
        ),
        "connect4, many boards": lambda: many_boards(
            64 if quick else 256, 100 if quick else 800, repeats
        ),
        "against the reference": lambda: against_reference(200 if quick else 2_000, repeats),
    }
    tables = {}
    for name, work in plan.items():
        print(f"measuring: {name}", file=sys.stderr)
        tables[name] = work()
    return tables


def main() -> None:
    """Prints Markdown tables, or one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="seconds instead of minutes")
    parser.add_argument("--repeats", type=int, help="rounds of each comparison, 7 (quick: 3)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    repeats = arguments.repeats or (3 if arguments.quick else 7)
    tables = measure(arguments.quick, repeats)
    if arguments.json:
        machine = {"machine": platform.machine(), "cores": os.cpu_count()}
        print(json.dumps({"benchmark": "search", **machine, "tables": tables}))
        return
    for name, rows in tables.items():
        print(f"\n### {name}\n")
        print("| " + " | ".join(head.replace("_", " ") for head in rows[0]) + " |")
        print("|" + "---|" * len(rows[0]))
        for row in rows:
            cells = (f"{v:,}" if isinstance(v, int) else str(v) for v in row.values())
            print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
