"""What the search makes of a network's speed, with work shaped like self-play.

Usage: python benchmarks/network.py [--seconds 10] [--threads 1,2] [--precision f32] [--json]

64 Connect Four boards are searched together, 100 simulations each, with a new 5x64 network. The
bare runtime (one prebound request per thread, nothing else) is measured in turns with it, at the
batch size that the search used on average. `zermelo bench network connect4` has the table by
backend and batch.
"""

from __future__ import annotations

import argparse
import json
import platform
import threading
import time
from typing import Any

import zermelo
from zermelo.network import NetworkEvaluator, NetworkOptions, architecture_for, random_weights
from zermelo.network.measure import bare_openvino_rate, peak_gflops
from zermelo.network.positions import sample_positions
from zermelo.search import Search, SearchOptions

BOARDS = 64
SIMULATIONS = 100


class Timed:
    """An evaluator that adds up the time spent inside it, over all threads."""

    def __init__(self, evaluator: NetworkEvaluator) -> None:
        self.evaluator = evaluator
        self.seconds = 0.0
        self._lock = threading.Lock()

    def __call__(self, observations: Any) -> Any:
        started = time.perf_counter()
        answer = self.evaluator(observations)
        spent = time.perf_counter() - started
        with self._lock:
            self.seconds += spent
        return answer


def measure(arguments: argparse.Namespace, threads: int) -> dict[str, Any]:
    """Search and bare runtime in turns, so that both see the same machine."""
    game = zermelo.game("connect4")
    options = NetworkOptions(blocks=arguments.blocks, filters=arguments.filters)
    weights = random_weights(architecture_for(game, options))
    evaluator = Timed(NetworkEvaluator(weights, arguments.backend, arguments.precision, game=game))
    batch = BOARDS // threads
    evaluator.evaluator.warm_up(threads, batch)
    states = [position.state for position in sample_positions(game, BOARDS)]
    search = Search(
        game,
        evaluator,
        SearchOptions(threads=threads, batch=batch, cache_mib=0 if arguments.no_cache else 256),
    )
    search.run_many(states, 5)
    evaluator.seconds = 0.0
    evaluations = batches = simulations = 0
    searched, bare = 0.0, []
    while searched < arguments.seconds:
        if search.cache is not None:
            search.cache.clear()
        started = time.perf_counter()
        results = search.run_many(states, SIMULATIONS, full=True)
        searched += time.perf_counter() - started
        # A thread's counters stand in the first of its results.
        counters = [result.counters for result in results]
        simulations += sum(counter["simulations"] for counter in counters)
        evaluations += sum(counter["evaluations"] for counter in counters)
        batches += sum(counter["batches"] for counter in counters)
        size = max(1, round(evaluations / batches))
        bare.append(
            bare_openvino_rate(
                weights, evaluator.evaluator.precision, batch=size, threads=threads, seconds=0.5
            )
        )
    rate, bare_rate = evaluations / searched, sum(bare) / len(bare)
    kind = evaluator.evaluator.precision
    peak = kind if kind in ("f32", "bf16") else "f32"  # OpenVINO multiplies no int8 when told to
    return {
        "threads": threads,
        "backend": evaluator.evaluator.backend,
        "precision": evaluator.evaluator.precision,
        "mean_batch": round(evaluations / batches, 1),
        "simulations_per_second": round(simulations / searched),
        "evaluations_per_second": round(rate),
        "bare_evaluations_per_second": round(bare_rate),
        "of_bare": round(rate / bare_rate, 3),
        "search_share": round(1 - evaluator.seconds / (threads * searched), 3),
        "gflops": round(2e-9 * rate * weights.architecture.multiply_adds(), 1),
        "peak_gflops": round(peak_gflops(threads, 0.5, peak), 1),
        "peak_precision": peak,
    }


def main() -> None:
    """Prints a table, or one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=10.0, help="of searching, for each row")
    parser.add_argument("--threads", default="1,2", help="numbers of threads")
    parser.add_argument("--blocks", type=int, default=5)
    parser.add_argument("--filters", type=int, default=64)
    parser.add_argument("--backend", default="openvino")
    parser.add_argument("--precision", default="f32")
    parser.add_argument("--no-cache", action="store_true", help="evaluate every leaf")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    rows = [measure(arguments, int(threads)) for threads in arguments.threads.split(",")]
    if arguments.json:
        print(json.dumps({"benchmark": "network", "machine": platform.processor(), "rows": rows}))
        return
    for row in rows:
        print(
            f"{row['threads']} threads: {row['evaluations_per_second']:,} evaluations/s of "
            f"{row['bare_evaluations_per_second']:,} bare ({row['of_bare']:.0%}) at batch "
            f"{row['mean_batch']}, {row['simulations_per_second']:,} simulations/s; the search "
            f"itself takes {row['search_share']:.1%} of the time; {row['gflops']} of "
            f"{row['peak_gflops']} GFLOP/s ({row['peak_precision']} matrix product); "
            f"{row['backend']} {row['precision']}"
        )


if __name__ == "__main__":
    main()
