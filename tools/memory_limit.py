"""Searches until a tree has millions of nodes, and until a limit of memory ends it.

Usage: python tools/memory_limit.py [--nodes 10000000] [--json]

One search of chess with a hash for a network grows to so many nodes; then it is forgotten and grown
again: the second must take no more memory than the first. Another may take a quarter as many
nodes: it ends by itself with a result. The exit code is 1 if memory grows by more than 5 %, if a
limit is not kept, or if a tree's books are wrong.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import Any

from resident import open_files, resident_mib

import zermelo
from zermelo.search import Search, SearchOptions
from zermelo.testing import HashEvaluator

GROWTH = 0.05
SLACK = 1.02  # of the limit: what the threads had begun
STEP = 200_000  # simulations


def grow(search: Search, state: Any, nodes: int) -> str:
    """Until the tree has so many nodes; why the search stopped before, if it did."""
    while search.nodes_in_use < nodes:
        found = search.run(state, simulations=STEP)
        if found.stop:
            return str(found.stop)
    return ""


def main() -> int:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description="Search until memory is limited.")
    parser.add_argument("--nodes", type=int, default=10_000_000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    game: Any = zermelo.game("chess")
    began = time.monotonic()
    large = SearchOptions(threads=2, cache_mib=16, solver=False, max_nodes=2 * options.nodes)
    search = Search(game, HashEvaluator(1), large)
    sizes, nodes, files = [], [], [open_files()]
    for _ in range(2):
        grow(search, game.initial(), options.nodes)
        search.check_invariants()
        sizes.append(resident_mib())
        nodes.append(search.nodes_in_use)
        search.clear()
    del search
    files.append(open_files())
    limit = options.nodes // 4
    bounded = Search(
        game,
        HashEvaluator(1),
        SearchOptions(threads=2, cache_mib=16, solver=False, max_nodes=limit),
    )
    stop = grow(bounded, game.initial(), options.nodes)
    bounded.check_invariants()
    found = {
        "tried": sum(nodes) + bounded.nodes_in_use,
        "nodes": nodes[0],
        "memory_mib": round(sizes[0], 1),
        "memory_mib_again": round(sizes[1], 1),
        "growth": round(sizes[1] / sizes[0] - 1, 4),
        "limit": limit,
        "nodes_under_limit": bounded.nodes_in_use,
        "stopped_by": stop,
        "files": files[1] - files[0],
        "seconds": round(time.monotonic() - began, 1),
    }
    print(json.dumps(found, indent=None if options.json else 2))
    kept = stop == "max_nodes" and bounded.nodes_in_use <= SLACK * limit
    return not (kept and sizes[1] <= (1 + GROWTH) * sizes[0] and files[0] == files[1])


if __name__ == "__main__":
    sys.exit(main())
