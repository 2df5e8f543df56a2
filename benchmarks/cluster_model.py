"""How many workers feed one driver: a discrete-event model with constants measured here.

    python benchmarks/cluster_model.py --measure --preset chess > chess.json   # a minute each
    python benchmarks/cluster_model.py chess.json                # a table to 1,000 workers
    python benchmarks/cluster_model.py connect4.json chess.json  # a row for each preset
    python benchmarks/cluster_model.py c.json --against cluster.json    # beside real workers

Each worker plays calls of at least `call_seconds`, or of its share of an iteration if that is less,
two of them ahead; the driver hears one call after the other, unpacks it and writes its shards. The
network between them carries parcels at `--gbit`. Workers play without a rest here. How many the
trainer needs follows from its speed on this machine's cores and from `train.reuse`. `cluster.json`
is what `benchmarks/cluster.py` printed on the same machine, with the same preset and precision.
"""

from __future__ import annotations

import argparse
import heapq
import json
import math
import pickle
import random
import statistics
import tempfile
import time
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import Any

AHEAD = 2  # calls that a worker has, as in zermelo.cluster.seat
SHARDS = 6  # that a worker is timed for, at least
SECONDS = 15.0  # ... and for so long
WORKERS = (1, 2, 4, 8, 16, 32, 64, 125, 250, 500, 1000)
SMALLEST, SMALLEST_PART = 100, 16  # of a shard, as in zermelo.selfplay.producer


@dataclass(frozen=True)
class Call:
    """One answer of a worker."""

    samples: float
    bits: float
    seconds: float  # of play
    service: float  # seconds of the driver


def call_of(constants: dict[str, float], workers: int, gbit: float) -> Call:
    """In the middle of an iteration. Calls shrink as more workers share it."""
    share = constants.get("samples_per_iteration", math.inf) / workers
    enough = min(constants["call_seconds"] * constants["samples_per_second"], share)
    shard = min(constants["shard_samples"], max(SMALLEST, enough, share / SMALLEST_PART))
    shards = max(1, math.ceil(enough / shard))
    samples = shards * shard
    size = shards * constants["parcel_bytes"] + samples * constants["sample_bytes"]
    written = shards * constants["write_seconds"] + samples * constants["sample_seconds"]
    flight = size * 8 / (gbit * 1e9)
    service = constants["ray_call_seconds"] + written + flight
    return Call(samples, size * 8, samples / constants["samples_per_second"], service)


def simulate(
    constants: dict[str, float], workers: int, seconds: float, gbit: float
) -> dict[str, float]:
    """Samples per second, and how busy the driver is."""
    rate, each = constants["samples_per_second"], call_of(constants, workers, gbit)
    chance = random.Random(workers)
    # (time, worker) when a worker ends a call; one with AHEAD unheard calls stands still.
    ends = [(chance.uniform(0, each.seconds), worker) for worker in range(workers)]
    heapq.heapify(ends)
    unheard = [0] * workers
    still = [False] * workers
    line: deque[int] = deque()
    free, busy, heard = 0.0, 0.0, 0

    def lasts() -> float:
        return each.seconds * chance.uniform(0.8, 1.2)

    while ends or line:
        # The driver serves whoever came before the next end of a call.
        while line and (not ends or free <= ends[0][0]):
            worker = line.popleft()
            free += each.service
            busy += each.service
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
    samples = heard * each.samples
    return {
        "workers": workers,
        "samples_per_second": samples / spent,
        "of_ideal": samples / spent / (workers * rate),
        "driver_busy": busy / spent,
        "mbit_per_second": heard * each.bits / spent / 1e6,
    }


def feeders(constants: dict[str, Any]) -> float:
    """Workers that play as much as the trainer of this machine takes."""
    trained = float(constants["trained_per_second"] / constants["reuse"])
    return trained / float(constants["samples_per_second"])


def saturation(constants: dict[str, Any], gbit: float, most: int = 100_000) -> int:
    """Workers with which the driver does nothing but hear them."""
    low, high = 1, most
    while low < high:
        middle = (low + high + 1) // 2
        each = call_of(constants, middle, gbit)
        low, high = (middle, high) if middle * each.service <= each.seconds else (low, middle - 1)
    return low


def weights_traffic(constants: dict[str, Any]) -> float:
    """Mbit/s of networks to each machine, with as many workers as the trainer needs."""
    taken = float(constants["trained_per_second"] / constants["reuse"])
    iteration = float(constants["samples_per_iteration"]) / taken
    return float(constants["weights_bytes"]) * 8 / iteration / 1e6


def measure(preset: str, precision: str) -> dict[str, Any]:
    """Of one worker, one parcel's way home, and one call of Ray, on this machine."""
    from zermelo.cluster.connection import connect
    from zermelo.config import RunConfig, find_preset, read_run_file
    from zermelo.loop.shards import leaves_runtime_open, measured_runtime, spec_for
    from zermelo.network import architecture_for, random_weights
    from zermelo.selfplay.order import Order
    from zermelo.selfplay.producer import ShardProducer

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

    simulations = int(config.selfplay.simulations)
    order = Order(0, Here(), 0, simulations, 1.0, 10**9)
    small = Order(1, Here(), 0, simulations, 1.0, SMALLEST)
    producer = ShardProducer(spec_for(config, 0, 1))
    producer.produce(order, lambda: False)  # warm
    count, shards, started = 0, 0, time.perf_counter()
    while shards < SHARDS or time.perf_counter() - started < SECONDS:
        played = producer.produce(order, lambda: False)
        count, shards = count + len(played.samples), shards + 1
    seconds = time.perf_counter() - started
    large = way_home(producer, order, played)
    trained = train_speed(config, game, weights, played.samples)
    little = way_home(producer, small, producer.produce(small, lambda: False))
    per = [(b - a) / (large[0] - little[0]) for a, b in zip(little[1:], large[1:], strict=True)]
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
        "precision": config.pool.precision if config.network.kind != "sparse" else "integers",
        "samples_per_second": count / seconds,
        "shard_samples": count / shards,
        "sample_bytes": per[0],
        "parcel_bytes": max(0.0, little[1] - per[0] * little[0]),
        "sample_seconds": per[1],
        "write_seconds": max(0.0, little[2] - per[1] * little[0]),
        "ray_call_seconds": call,
        "call_seconds": config.cluster.call_seconds,
        "samples_per_iteration": config.loop.samples_per_iteration,
        "weights_bytes": sum(array.nbytes for array in weights.arrays.values()),
        "trained_per_second": trained,
        "reuse": config.train.reuse or config.train.passes,
    }


def way_home(producer: Any, order: Any, played: Any) -> tuple[int, int, float]:
    """Samples of a parcel, its bytes, and the seconds that the driver spends on it."""
    from zermelo.selfplay.intake import Parcel
    from zermelo.selfplay.shard_writer import ShardWriter

    parcel, costs = Parcel.of(producer, order, played), []
    with tempfile.TemporaryDirectory() as directory:
        writer = ShardWriter(Path(directory), producer.game, 0)
        for _ in range(20):
            packed = pickle.dumps(parcel, protocol=5)
            began = time.perf_counter()
            home = pickle.loads(packed)
            writer.write(0, home.played, home.facts)
            costs.append(time.perf_counter() - began)
    return len(played.samples), len(packed), statistics.median(costs)


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
    """The model's samples per second beside those of real workers, which had shards of a size."""
    rate = found["samples_per_second"]["local 1"]  # of one process in these games
    alone = constants | {
        "samples_per_second": rate, "shard_samples": found["shard"], "samples_per_iteration": 10**9
    }  # fmt: skip
    print("| workers | model | real | model / real |\n|---|---|---|---|")
    for workers in (1, 2):
        real = found["samples_per_second"][f"cluster {workers}"]
        told = simulate(alone, workers, 600.0, gbit)["samples_per_second"]
        print(f"| {workers} | {told:,.0f} | {real:,.0f} | {told / real:.2f} |")


def overview(presets: list[dict[str, Any]], gbit: float) -> None:
    """A row for each."""
    print(
        "| preset | samples/s of a worker | kbit/s of a worker | the trainer takes, samples/s "
        "| workers that feed it | network, MB | Mbit/s of networks to each machine "
        "| driver is full with |\n|---|---|---|---|---|---|---|---|"
    )
    for one in presets:
        rate, taken = one["samples_per_second"], one["trained_per_second"] / one["reuse"]
        each = call_of(one, max(1, round(feeders(one))), gbit)
        print(
            f"| {one['preset']} | {rate:,.0f} | {each.bits / each.seconds / 1e3:,.0f} "
            f"| {taken:,.0f} | {feeders(one):.1f} | {one['weights_bytes'] / 1e6:.2f} "
            f"| {weights_traffic(one):.2f} | {saturation(one, gbit):,} workers |"
        )


def table(constants: dict[str, Any], seconds: float, gbit: float) -> None:
    """To 1,000 workers."""
    print(f"{feeders(constants):.1f} workers play as much as the trainer takes here.\n")
    print("| workers | samples/s | of ideal | driver busy | Mbit/s |\n|---|---|---|---|---|")
    for workers in WORKERS:
        found = simulate(constants, workers, seconds, gbit)
        print(
            f"| {workers:,} | {found['samples_per_second']:,.0f} | {found['of_ideal']:.1%} "
            f"| {found['driver_busy']:.1%} | {found['mbit_per_second']:.1f} |"
        )


def main() -> None:
    """The constants, or what follows from them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("constants", nargs="*", type=Path)
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
    presets = [json.loads(place.read_text()) for place in given.constants]
    if given.against:
        compare(presets[0], json.loads(given.against.read_text()), given.gbit)
    elif len(presets) > 1:
        overview(presets, given.gbit)
    else:
        table(presets[0], given.seconds, given.gbit)


if __name__ == "__main__":
    main()
