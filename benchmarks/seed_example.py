"""What auto-extension and the solver are worth on one position, with no network at all.

Usage: python benchmarks/seed_example.py [--simulations 200000] [--json]

Black to move forces mate with 1...Qc4+ (the queen must be taken, then b5xc4 is mate). The table
tells after how many simulations with the uniform evaluator that move is the best one and stays it,
and after how many it is proven; `-` means not within the budget.
"""

from __future__ import annotations

import argparse
import itertools
import json

import zermelo
from zermelo.search import Search, SearchOptions, UniformEvaluator

FEN = "5k2/6pp/p1qN4/1p1p4/3P4/2PKP2Q/PP3r2/3R4 b - - 0 1"
KEY = "c6c4"


def measure(auto_extend: bool, solver: bool, simulations: int) -> dict[str, object]:
    """One row: the tree grows one simulation at a time and is looked at after each."""
    game = zermelo.game("chess")
    state = game.parse_position(FEN)
    key = game.parse_action(state, KEY)
    options = SearchOptions(auto_extend=auto_extend, solver=solver, cache_mib=0)
    search = Search(game, UniformEvaluator(), options)
    best_since = proven = None
    first = None
    step = 1
    while (result := search.run(state, simulations=step)).root_visits <= simulations:
        # Looking after each simulation is dear; after the first thousand every hundredth will do.
        step = 1 if result.root_visits <= 1000 else 100
        done = result.root_visits - 1
        if result.best_action == key:
            first = done if first is None else first
            best_since = done if best_since is None else best_since
        else:
            best_since = None
        if result.proven is not None:
            proven = done
            break
    return {
        "auto_extend": auto_extend,
        "solver": solver,
        "first_best": first,
        "best_from": best_since,
        "proven": proven,
        "mate": result.mate,
        "simulations": result.root_visits - 1,
    }


def main() -> None:
    """Prints a table, or one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simulations", type=int, default=200_000, help="budget of each row")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    rows = [
        measure(auto_extend, solver, arguments.simulations)
        for auto_extend, solver in itertools.product((False, True), repeat=2)
    ]
    if arguments.json:
        print(json.dumps({"benchmark": "seed_example", "fen": FEN, "best": KEY, "rows": rows}))
        return
    print(f"{FEN}: {KEY}")
    print(
        f"{'auto-extension':>14} {'solver':>7} {'first best':>11} {'best from':>10} {'proven':>8}"
    )
    for row in rows:
        on = ["on" if row[name] else "off" for name in ("auto_extend", "solver")]
        cells = [
            "-" if row[name] is None else f"{row[name]:,}"
            for name in ("first_best", "best_from", "proven")
        ]
        print(f"{on[0]:>14} {on[1]:>7} {cells[0]:>11} {cells[1]:>10} {cells[2]:>8}")


if __name__ == "__main__":
    main()
