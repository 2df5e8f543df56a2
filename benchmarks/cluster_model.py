"""How many workers feed one driver: a discrete-event model with constants measured here.

    python benchmarks/cluster_model.py --measure > constants.json    # a minute
    python benchmarks/cluster_model.py constants.json                # a table to 1,000 workers
    python benchmarks/cluster_model.py constants.json --against cluster.json    # and real workers

Each worker plays calls of at least `call_seconds`, two of them ahead; the driver hears one call
after the other, unpacks it and writes its shards. The network between them carries parcels at
`--gbit`. `cluster.json` is what `benchmarks/cluster.py` printed on the same machine. How many
workers feed the trainer follows from its speed on this machine's cores and from `train.reuse`.
"""

from __future__ import annotations

import argparse
import heapq
import json
import pickle
import random
import statistics
import tempfile
import time
from collections import deque
from pathlib import Path
from typing import Any

AHEAD = 2  # calls that a worker has, as in zermelo.cluster.seat
SHARDS = 6  # that a worker is timed for
WORKERS = (1, 2, 4, 8, 16, 32, 64, 125, 250, 500, 1000)


def simulate(
    constants: dict[str, float], workers: int, seconds: float, gbit: float
) -> dict[str, float]:
    """Samples per second, and how busy the driver is."""
    rate, shard = constants["samples_per_second"], constants["shard_samples"]
    call = max(constants["call_seconds"], shard / rate)
    shards = max(1, round(call * rate / shard))
    flight = shards * constants["parcel_bytes"] * 8 / (gbit * 1e9)
    service = constants["ray_call_seconds"] + shards * constants["write_seconds"] + flight
    chance = random.Random(workers)
    # (time, worker) when a worker ends a call; one with AHEAD unheard calls stands still.
    ends = [(chance.uniform(0, call), worker) for worker in range(workers)]
    heapq.heapify(ends)
    unheard = [0] * workers
    still = [False] * workers
    line: deque[int] = deque()
    free, busy, heard = 0.0, 0.0, 0

    def lasts() -> float:
        return call * chance.uniform(0.8, 1.2)

    while ends or line:
        # The driver serves whoever came before the next end of a call.
        while line and (not ends or free <= ends[0][0]):
            worker = line.popleft()
            free += service
            busy += service
            heard += 1
            unheard[worker] -= 1
            if still[worker]:
                still[worker] = False
                heapq.heappush(ends, (free + lasts(), worker))
            if free > seconds:
                break
        if free > seconds or not ends:
            break
        now, worker = heapq.heappop(ends)
        if now > seconds:
            break
        if not line:
            free = max(free, now)
        line.append(worker)
        unheard[worker] += 1
        if unheard[worker] < AHEAD:
            heapq.heappush(ends, (now + lasts(), worker))
        else:
            still[worker] = True
    spent = max(seconds, free)
    samples = heard * shards * shard
    bits = heard * shards * constants["parcel_bytes"] * 8
    return {
        "workers": workers,
        "samples_per_second": samples / spent,
        "of_ideal": samples / spent / (workers * rate),
        "driver_busy": busy / spent,
        "mbit_per_second": bits / spent / 1e6,
    }


def measure(preset: str, precision: str) -> dict[str, Any]:
    """Of one worker, one parcel's way home, and one call of Ray, on this machine."""
    from zermelo.cluster.connection import connect
    from zermelo.config import RunConfig, find_preset, read_run_file
    from zermelo.loop.shards import leaves_runtime_open, measured_runtime, spec_for
    from zermelo.network import architecture_for, random_weights
    from zermelo.selfplay.intake import Parcel
    from zermelo.selfplay.order import Order
    from zermelo.selfplay.producer import ShardProducer
    from zermelo.selfplay.shard_writer import ShardWriter

    place = find_preset(preset)
    assert place is not None, preset
    config = RunConfig.from_tables(read_run_file(place)[1])
    if precision:
        config = config.changed({"selfplay": {"backend": "openvino", "precision": precision}})
    game = config.game()
    weights = random_weights(architecture_for(game, config.network), 0)
    if leaves_runtime_open(config):
        config = config.changed(measured_runtime(config, weights, lambda _: None))

    class Here:
        def load(self, _: Any) -> Any:
            return weights

    order = Order(0, Here(), 0, int(config.selfplay.simulations), 1.0, 10**9)
    producer = ShardProducer(spec_for(config, 0, 1))
    producer.produce(order, lambda: False)  # warm
    count, started = 0, time.perf_counter()
    for _ in range(SHARDS):
        played = producer.produce(order, lambda: False)
        count += len(played.samples)
    seconds = time.perf_counter() - started
    parcel = Parcel.of(producer, order, played)
    trained = train_speed(config, game, weights, played.samples)
    costs = []
    with tempfile.TemporaryDirectory() as directory:
        writer = ShardWriter(Path(directory), game, 0)
        for _ in range(20):
            packed = pickle.dumps(parcel, protocol=5)
            began = time.perf_counter()
            home = pickle.loads(packed)
            writer.write(0, home.played, home.facts)
            costs.append(time.perf_counter() - began)
    with connect("local", 100):
        import ray

        class Echo:
            def say(self) -> int:
                return 1

        echo = ray.remote(Echo).remote()
        ray.get(echo.say.remote())
        began = time.perf_counter()
        for _ in range(300):
            ray.get(echo.say.remote())
        call = (time.perf_counter() - began) / 300
    return {
        "preset": preset,
        "samples_per_second": count / seconds,
        "shard_samples": len(played.samples),
        "parcel_bytes": len(packed),
        "write_seconds": statistics.median(costs),
        "ray_call_seconds": call,
        "call_seconds": config.cluster.call_seconds,
        "weights_bytes": sum(array.nbytes for array in weights.arrays.values()),
        "trained_per_second": trained,
        "reuse": config.train.reuse or config.train.passes,
    }


def train_speed(config: Any, game: Any, weights: Any, samples: Any) -> float:
    """Samples per second of the trainer alone, without the figures of batches held out."""
    from zermelo.network.trained import network_of
    from zermelo.replay import BatchSampler, merge
    from zermelo.train.trainer import Trainer

    trainer = Trainer(network_of(weights.architecture), config.train, 0)
    batches = BatchSampler(
        merge(samples), game, min(config.train.batch, len(samples)), seed=0,
        symmetries=config.replay.symmetries, packed=trainer.network.packed,
    )  # fmt: skip
    trainer.train_iteration(batches, 0, 2)  # warm
    return float(trainer.train_iteration(batches, 1, 2)["samples_per_second"])


def compare(constants: dict[str, Any], found: dict[str, Any], gbit: float) -> None:
    """The model's samples per second beside those of real workers."""
    print("| workers | model | real | model / real |\n|---|---|---|---|")
    for workers in (1, 2):
        real = found["samples_per_second"][f"cluster {workers}"]
        told = simulate(constants, workers, 600.0, gbit)["samples_per_second"]
        print(f"| {workers} | {told:,.0f} | {real:,.0f} | {told / real:.2f} |")


def main() -> None:
    """The constants, or the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("constants", nargs="?", type=Path)
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--preset", default="connect4-quick")
    parser.add_argument("--precision", default="", help="f32 as in cluster.py; else the preset's")
    parser.add_argument("--gbit", type=float, default=1.0)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--against", type=Path)
    given = parser.parse_args()
    if given.measure:
        print(json.dumps(measure(given.preset, given.precision), indent=1))
        return
    constants = json.loads(given.constants.read_text())
    if given.against:
        compare(constants, json.loads(given.against.read_text()), given.gbit)
        return
    feeders = constants["trained_per_second"] / constants["reuse"] / constants["samples_per_second"]
    print(f"{feeders:.1f} workers play as much as the trainer takes on this machine's cores.\n")
    print("| workers | samples/s | of ideal | driver busy | Mbit/s |\n|---|---|---|---|---|")
    for workers in WORKERS:
        found = simulate(constants, workers, given.seconds, given.gbit)
        print(
            f"| {workers:,} | {found['samples_per_second']:,.0f} | {found['of_ideal']:.1%} "
            f"| {found['driver_busy']:.1%} | {found['mbit_per_second']:.1f} |"
        )


if __name__ == "__main__":
    main()
