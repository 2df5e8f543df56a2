"""Measures what a chess program feels: punctuality, latency, exactness and speed over UCI.

Usage: python tools/uci_timing.py [--weights FILE] [--set NAME=VALUE]... [--movetimes 30]
                                  [--stops 30] [--nodes 3000] [--json]

Reports how late `go movetime 1000` answers, how long `stop` takes to its `bestmove`, by how many
`go nodes N` misses N, how long start, `isready` and the first `info` take, and nodes and
evaluations per second beside those of `zermelo bench chess`. The exit code is 1 if movetime is
more than 20 ms and a batch late, `stop` takes more than 50 ms, each in 99 of 100 cases, or `go
nodes` misses by more than a batch.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import statistics
import sys
import time
from typing import Any

from uci_client import Client

POSITIONS = (
    "startpos",
    "startpos moves e2e4 c7c5 g1f3 d7d6 d2d4 c5d4 f3d4 g8f6 b1c3 a7a6",
    "startpos moves d2d4 g8f6 c2c4 e7e6 b1c3 f8b4 e2e3 e8g8 f1d3 d7d5",
    "fen r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "fen 8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "fen r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10",
)
NODES = (1, 2, 10, 100, 777, 2000)
MOST_LATE, MOST_STOP = 20.0, 50.0  # milliseconds; a batch of the shipped network takes no time
BATCH = 32  # leaves at most
NONE = {"p99": 0.0}
MOVETIME = 1000


def spread(values: list[float]) -> dict[str, float]:
    """Milliseconds: median, 99th percentile (the largest of fewer than a hundred), largest."""
    ordered = sorted(values)
    at = min(len(ordered) - 1, round(0.99 * len(ordered)))
    return {
        "count": len(ordered),
        "p50": round(statistics.median(ordered), 2),
        "p99": round(ordered[at], 2),
        "max": round(ordered[-1], 2),
    }


def field(line: str, name: str) -> int:
    """The number behind a word of an `info` line; 0 if it is not there."""
    found = re.search(rf"\b{name} (-?\d+)", line)
    return int(found[1]) if found else 0


class Measurement:
    """One engine, measured in several ways."""

    def __init__(self, arguments: list[str]) -> None:
        self.client = Client(arguments)
        self.random = random.Random(1)
        self.client.send("uci")
        answered, _ = self.client.until("uciok")
        self.client.send("isready")
        ready, _ = self.client.until("readyok")
        self.start_ms = {
            "uciok": round((answered - self.client.started) * 1000, 1),
            "readyok": round((ready - self.client.started) * 1000, 1),
        }
        self.client.send("setoption name UCI_ShowEPS value true")
        time.sleep(3)  # the engine goes on to prepare itself

    def begin(self, number: int) -> None:
        """A new game at one of the positions."""
        self.client.send("ucinewgame")
        self.client.send("position " + POSITIONS[number % len(POSITIONS)])
        self.client.send("isready")
        self.client.until("readyok")

    def movetimes(self, count: int) -> list[float]:
        """Milliseconds by which each answer came after its time."""
        late = []
        for number in range(count):
            self.begin(number)
            sent = self.client.send(f"go movetime {MOVETIME}")
            came, _ = self.client.until("bestmove")
            late.append((came - sent) * 1000 - MOVETIME)
        return late

    def stops(self, count: int) -> list[float]:
        """Milliseconds from `stop` to `bestmove`."""
        taken = []
        for number in range(count):
            self.begin(number)
            self.client.send("go infinite")
            time.sleep(self.random.uniform(0.02, 0.4))
            sent = self.client.send("stop")
            came, _ = self.client.until("bestmove")
            taken.append((came - sent) * 1000)
        return taken

    def nodes(self) -> dict[str, int]:
        """By how many nodes `go nodes N` misses N, in positions without a quick mate."""
        missed = {}
        for wanted in NODES:
            self.begin(0)
            self.client.send(f"go nodes {wanted}")
            _, lines = self.client.until("bestmove")
            last = next(line for line in reversed(lines) if " nodes " in line)
            missed[str(wanted)] = field(last, "nodes") - wanted
        return missed

    def search(self, fen: str, nodes: int) -> dict[str, float]:
        """One position of the bench: nodes, evaluations, seconds, and the first `info`."""
        self.client.send("ucinewgame")
        self.client.send(f"position fen {fen}")
        self.client.send("isready")
        self.client.until("readyok")
        sent = self.client.send(f"go nodes {nodes}")
        first, _ = self.client.until("info depth")
        came, lines = self.client.until("bestmove")
        last = next(line for line in reversed(lines) if " nps " in line)
        return {
            "nodes": field(last, "nodes"),
            "evaluations": field(last, "eps") * field(last, "time") / 1000,
            "seconds": came - sent,
            "first_info_ms": (first - sent) * 1000,
        }


def speeds(measurement: Measurement, arguments: list[str], nodes: int) -> dict[str, Any]:
    """Over UCI and as `zermelo bench chess` does it, position by position in turn."""
    from zermelo.cli.bench_chess import chess_speeds
    from zermelo.network import NetworkEvaluator
    from zermelo.uci.bench import CHESS_POSITIONS
    from zermelo.uci.start import read_arguments
    from zermelo.uci.workshop import Workshop

    settings = read_arguments(arguments)
    assert settings is not None
    workshop = Workshop(lambda _text: None)
    workshop.ready(settings)
    options = workshop.search_options(settings, counted=True)
    threads, leaves = int(options.threads), int(options.leaves_per_tree)
    while workshop.warm_a_little():
        pass
    evaluator = workshop.network.evaluator
    assert isinstance(evaluator, NetworkEvaluator)
    over_uci, bench = [], []
    for fen in CHESS_POSITIONS:
        over_uci.append(measurement.search(fen, nodes))
        bench += chess_speeds(evaluator, (fen,), nodes, threads, leaves)
    found: dict[str, Any] = {"nodes": nodes, "threads": threads, "leaves": leaves}
    for name, key in (("nodes_per_second", "nodes"), ("evaluations_per_second", "evaluations")):
        rates = [
            sum(row[key] for row in rows) / sum(row["seconds"] for row in rows)
            for rows in (over_uci, bench)
        ]
        found[name] = {"uci": round(rates[0]), "bench": round(rates[1])}
        found[name]["ratio"] = round(rates[0] / rates[1], 3)
    found["first_info_ms"] = spread([row["first_info_ms"] for row in over_uci])
    return found


def main() -> int:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description="Measure the UCI engine.")
    parser.add_argument("--weights")
    parser.add_argument("--set", action="append", default=[], dest="given")
    parser.add_argument("--movetimes", type=int, default=30)
    parser.add_argument("--stops", type=int, default=30)
    parser.add_argument("--nodes", type=int, default=3000, help="of each position; 0: no speeds")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    arguments = ["--weights", chosen.weights] if chosen.weights else []
    for text in chosen.given:
        arguments += ["--set", text]
    measurement = Measurement(arguments)
    found: dict[str, Any] = {"start_ms": measurement.start_ms}
    if chosen.movetimes:
        found["movetime_late_ms"] = spread(measurement.movetimes(chosen.movetimes))
    if chosen.stops:
        found["stop_ms"] = spread(measurement.stops(chosen.stops))
    found["nodes_missed"] = measurement.nodes()
    if chosen.nodes > 0 and chosen.weights:
        found["speed"] = speeds(measurement, arguments, chosen.nodes)
    ended, _, _ = measurement.client.end_of_input()
    found["end_of_input_ms"] = round(ended * 1000, 1)
    found["tried"] = chosen.movetimes + chosen.stops + len(NODES)
    found["ok"] = (
        found.get("movetime_late_ms", NONE)["p99"] <= MOST_LATE
        and found.get("stop_ms", NONE)["p99"] <= MOST_STOP
        and all(abs(missed) <= BATCH for missed in found["nodes_missed"].values())
    )
    if chosen.json:
        print(json.dumps(found))
    else:
        for name, value in found.items():
            print(f"{name:<18} {value}")
    return not found["ok"]


if __name__ == "__main__":
    sys.exit(main())
