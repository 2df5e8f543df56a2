"""Searches for a long time with more threads than cores and watches the memory.

Usage: python tools/soak.py [--minutes 10] [--threads 4] [--growth 0.05] [--json]

Searches of several games run, are stopped, advanced, cleared and begun anew at random; after each
the tree's books are checked. The resident memory is printed every few seconds. The first third of
the time is warm-up: the exit code is 1 when the memory later grows by more than `--growth`.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import threading
import time
from typing import Any

from resident import resident_mib

import zermelo
from zermelo.search import Search, SearchOptions
from zermelo.testing import HashEvaluator

GAMES = ("connect4", "othello", "chess", "checkers")
SIMULATIONS = 4_000  # of one run, at most


class Board:
    """One search that is kept for the whole time, and the game it follows."""

    def __init__(self, name: str, threads: int) -> None:
        self.game: Any = zermelo.game(name)
        options = SearchOptions(threads=threads, leaves_per_tree=4, cache_mib=4)
        self.search = Search(self.game, HashEvaluator(1), options)
        self.state = self.game.initial()

    def step(self, rng: random.Random) -> None:
        """One run and what may follow it."""
        stopper = threading.Timer(rng.random() * 0.02, self.search.stop)
        if rng.random() < 0.2:
            stopper.start()
        simulations = rng.randint(0, SIMULATIONS)
        result = self.search.run(self.state, simulations=simulations, full=rng.random() < 0.5)
        if result.stop == "max_nodes":
            raise RuntimeError(f"{self.game.name}: {result.nodes} nodes were not freed")
        stopper.cancel()
        if stopper.ident is not None:
            stopper.join()
        self.search.check_invariants()
        if rng.random() < 0.1:
            self.search.clear()
        elif rng.random() < 0.8:
            self.search.advance(result.best_action)
            self.state = self.game.play(self.state, result.best_action)
        if self.game.outcome(self.state) is not None or rng.random() < 0.02:
            self.state = self.game.initial()


def soak(minutes: float, threads: int, say: bool) -> list[tuple[float, float, int]]:
    """(seconds, resident MiB, runs so far), every few seconds."""
    rng = random.Random(0)
    boards = [Board(name, threads) for name in GAMES]
    rows: list[tuple[float, float, int]] = []
    start = time.monotonic()
    every = max(1.0, min(10.0, minutes * 60 / 30))
    done = 0
    while (now := time.monotonic() - start) < minutes * 60:
        rng.choice(boards).step(rng)
        done += 1
        if now >= every * (len(rows) + 1):
            rows.append((now, resident_mib(), done))
            if say:
                print(f"{now:7.0f} s  {rows[-1][1]:8.1f} MiB  {done:8,} runs", flush=True)
    return rows


def main() -> None:
    """Prints memory as it goes, or one JSON object at the end."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--growth", type=float, default=0.05, help="growth allowed after warm-up")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    rows = soak(arguments.minutes, arguments.threads, say=not arguments.json)
    warm = [mib for seconds, mib, _ in rows if seconds >= arguments.minutes * 60 / 3]
    if not warm:
        sys.exit("the time is too short to tell anything")
    growth = max(warm) / warm[0] - 1
    failed = growth > arguments.growth
    if arguments.json:
        keys = ("seconds", "resident_mib", "runs")
        report = {"growth": growth, "failed": failed}
        print(json.dumps({**report, "rows": [dict(zip(keys, r, strict=True)) for r in rows]}))
    else:
        print(f"growth after warm-up: {growth:.1%} ({'too much' if failed else 'fine'})")
    sys.exit(failed)


if __name__ == "__main__":
    main()
