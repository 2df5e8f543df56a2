"""Begins thousands of games over UCI and watches memory and open files of the engine.

Usage: python tools/uci_soak.py [--games 10000] [--weights FILE] [--json]

The exit code is 1 if memory grew by more than 5 % after the first tenth, or open files at all.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import Any

from resident import open_files, resident_mib
from uci_client import Client

GROWTH = 0.05
MOVES = ["e2e4", "e7e5", "g1f3", "b8c6", "f1b5", "a7a6", "b5a4", "g8f6"]


def soak(client: Client, games: int) -> dict[str, Any]:
    """What the process held after a tenth of the games, and at the end."""
    began = time.monotonic()
    first = (0.0, 0)
    for number in range(games):
        moves = " ".join(MOVES[: number % (len(MOVES) + 1)])
        client.send("ucinewgame")
        client.send(f"position startpos moves {moves}" if moves else "position startpos")
        client.send(f"go nodes {1 + number % 60}")
        client.until("bestmove")
        if number == games // 10:
            first = resident_mib(client.pid), open_files(client.pid)
    last = resident_mib(client.pid), open_files(client.pid)
    return {
        "tried": games,
        "memory_mib_before": round(first[0], 1),
        "memory_mib_after": round(last[0], 1),
        "growth": round(last[0] / max(1, first[0]) - 1.0, 4),
        "files_before": first[1],
        "files_after": last[1],
        "seconds": round(time.monotonic() - began, 1),
    }


def main() -> int:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description="Begin thousands of games over UCI.")
    parser.add_argument("--games", type=int, default=10_000)
    parser.add_argument("--weights")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    client = Client(["--weights", options.weights] if options.weights else [])
    client.send("uci")
    client.until("uciok")
    found = soak(client, options.games)
    client.end_of_input()
    print(
        json.dumps(found) if options.json else "\n".join(f"{k:<18} {v}" for k, v in found.items())
    )
    return int(found["growth"] > GROWTH or found["files_after"] > found["files_before"])


if __name__ == "__main__":
    sys.exit(main())
