"""Self-play on a local cluster against processes of this machine, at equal work and interleaved.

    python benchmarks/cluster.py [--rounds 5] [--samples 20000] [--preset connect4-quick]

One and two of each. Starting Ray is not counted. "whole" counts starting processes and actors too;
"steady" is the sum of each worker's samples after its first shard by the time between its first and
its last. "processor" is samples by processor seconds of all our processes, Ray's own among them,
which other work on the machine hardly changes. What two processes do by what one does is the bound
for two actors.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from contextlib import suppress
from pathlib import Path
from typing import Any

from zermelo.cluster.connection import connect
from zermelo.cluster.pool import pool_on
from zermelo.config import RunConfig, find_preset, read_run_file
from zermelo.loop import Stop
from zermelo.loop.shards import ShardMaker
from zermelo.loop.tally import SelfPlayTally
from zermelo.replay.shard import parse_name
from zermelo.selfplay.local_pool import LocalPool

SIDES = ("local 2", "cluster 2", "local 1", "cluster 1")
TOGETHER = 0.2  # seconds between shards of one delivery


def print_nothing(_: str) -> None:
    """Of what the pools say."""


TICKS = os.sysconf("SC_CLK_TCK")


def processor_seconds() -> float:
    """Of this process and all below it, those that have ended and were buried too."""
    found, ticks = [os.getpid()], 0
    for parent in found:
        for task in Path(f"/proc/{parent}/task").glob("*/children"):
            with suppress(OSError):
                found += map(int, task.read_text().split())
        with suppress(OSError):
            words = Path(f"/proc/{parent}/stat").read_text().rpartition(")")[2].split()
            ticks += sum(map(int, words[11:15]))
    return ticks / TICKS


class Arrivals(SelfPlayTally):
    """Also notes when each worker's shards came, and at what cost of all."""

    def __init__(self) -> None:
        super().__init__()
        self.came: dict[int, list[tuple[float, int]]] = defaultdict(list)
        self.costs: list[tuple[int, float]] = []  # samples, processor seconds; since all play

    def add(self, message: dict[str, Any]) -> None:
        """A shard."""
        super().add(message)
        name = parse_name(str(message["shard"]))
        assert name is not None
        self.came[name[1]].append((time.monotonic(), int(message["samples"])))
        if len(self.came) == self.workers:
            self.costs.append((self.count(0), processor_seconds()))

    def steady(self) -> float:
        """Samples per second of all workers, without their start."""
        return sum(map(_rate, self.came.values()))

    def thrifty(self) -> float:
        """Samples per processor second since all have played a shard."""
        (samples, spent), (more, last) = self.costs[0], self.costs[-1]
        return (more - samples) / (last - spent)


def _rate(came: list[tuple[float, int]]) -> float:
    """Of one worker; what came with its first shard was played before."""
    first, last = came[0][0], came[-1][0]
    samples = sum(count for when, count in came if when > first + TOGETHER)
    return samples / (last - first) if samples else 0.0


def settings_of(preset: str, backend: str, precision: str, shard: int) -> RunConfig:
    """The preset's, with one runtime for all and shards that come often enough to see the speed."""
    place = find_preset(preset)
    assert place is not None, preset
    config = RunConfig.from_tables(read_run_file(place)[1])
    changes: dict[str, dict[str, Any]] = {"replay": {"shard_samples": shard}}
    if config.network.kind != "sparse":
        changes["selfplay"] = {"backend": backend, "precision": precision}
    return config.changed(changes)


def main() -> None:
    """Medians of samples per second, and of the ratios of each round."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--samples", type=int, default=20_000, help="for two workers")
    parser.add_argument("--preset", default="connect4-quick")
    parser.add_argument("--backend", default="openvino")
    parser.add_argument("--precision", default="f32")
    parser.add_argument("--shard", type=int, default=500, help="samples of a shard")
    given = parser.parse_args()
    config = settings_of(given.preset, given.backend, given.precision, given.shard)
    whole: dict[str, list[float]] = {side: [] for side in SIDES}
    steady: dict[str, list[float]] = {side: [] for side in SIDES}
    processor: dict[str, list[float]] = {side: [] for side in SIDES}
    with connect("local") as cluster:
        pools: dict[str, Any] = {"local": LocalPool, "cluster": pool_on(cluster, config.cluster)}
        for _ in range(given.rounds):
            for side in SIDES:
                kind, workers = side.split()
                settings = config.changed({"selfplay": {"workers": int(workers)}})
                with tempfile.TemporaryDirectory() as out:
                    maker = ShardMaker(settings, Path(out), print_nothing, pools[kind])
                    maker.tally = arrivals = Arrivals()
                    made = maker.make(given.samples * int(workers) // 2, None, Stop())
                whole[side].append(made["samples"] / made["wall_seconds"])
                steady[side].append(arrivals.steady())
                processor[side].append(arrivals.thrifty())
                print(
                    f"{side} workers: {whole[side][-1]:,.0f} samples/s, "
                    f"{steady[side][-1]:,.0f} without the start, "
                    f"{processor[side][-1]:,.0f} per processor second",
                    file=sys.stderr, flush=True,
                )  # fmt: skip
    told: dict[str, Any] = {"preset": given.preset, "shard": given.shard}
    told["samples_per_second"] = medians(steady)
    for name, rates in (("whole", whole), ("steady", steady), ("processor", processor)):
        told[name] = {
            "medians": medians(rates),
            "cluster_by_local": ratio(rates, "cluster 2", "local 2"),
            "two_actors_by_one": ratio(rates, "cluster 2", "cluster 1"),
            "two_processes_by_one": ratio(rates, "local 2", "local 1"),
            "rounds": rates,
        }
    print(json.dumps(told, indent=1))


def medians(rates: dict[str, list[float]]) -> dict[str, float]:
    """Of each side."""
    return {side: statistics.median(found) for side, found in rates.items()}


def ratio(rates: dict[str, list[float]], one: str, other: str) -> float:
    """The median of the rounds' own."""
    pairs = zip(rates[one], rates[other], strict=True)
    return statistics.median(a / b for a, b in pairs)


if __name__ == "__main__":
    main()
