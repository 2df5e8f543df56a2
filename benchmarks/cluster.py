"""Self-play on a local cluster against processes of this machine, at equal work and interleaved.

    python benchmarks/cluster.py [--rounds 3] [--samples 20000] [--preset connect4-quick]

Also one actor against two. Starting Ray is not counted; starting processes and actors is.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from zermelo.cluster.connection import connect
from zermelo.cluster.pool import pool_on
from zermelo.config import RunConfig, find_preset, read_run_file
from zermelo.loop import Stop
from zermelo.loop.shards import ShardMaker
from zermelo.selfplay.local_pool import LocalPool


def print_nothing(_: str) -> None:
    """Of what the pools say."""


def main() -> None:
    """Medians of samples per second, and their ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--samples", type=int, default=20_000)
    parser.add_argument("--preset", default="connect4-quick")
    given = parser.parse_args()
    place = find_preset(given.preset)
    assert place is not None, given.preset
    config = RunConfig.from_tables(read_run_file(place)[1]).changed(
        {"selfplay": {"backend": "openvino", "precision": "f32"}}
    )
    rates: dict[str, list[float]] = {"local 2": [], "cluster 2": [], "cluster 1": []}
    with connect("local") as cluster:
        pools: dict[str, Any] = {"local": LocalPool, "cluster": pool_on(cluster, config.cluster)}
        for _ in range(given.rounds):
            for side, found in rates.items():
                kind, workers = side.split()
                settings = config.changed({"selfplay": {"workers": int(workers)}})
                with tempfile.TemporaryDirectory() as out:
                    maker = ShardMaker(settings, Path(out), print_nothing, pools[kind])
                    made = maker.make(given.samples * int(workers) // 2, None, Stop())
                found.append(made["samples"] / made["wall_seconds"])
                print(f"{side} workers: {found[-1]:,.0f} samples/s", file=sys.stderr, flush=True)
    middle = {side: statistics.median(found) for side, found in rates.items()}
    pairs = zip(rates["cluster 2"], rates["local 2"], strict=True)
    two = zip(rates["cluster 2"], rates["cluster 1"], strict=True)
    print(
        json.dumps(
            {
                "samples_per_second": middle,
                "cluster_by_local": statistics.median(a / b for a, b in pairs),
                "two_by_one": statistics.median(a / b for a, b in two),
                "rounds": rates,
            },
            indent=1,
        )
    )


if __name__ == "__main__":
    main()
