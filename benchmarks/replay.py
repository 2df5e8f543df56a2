"""What samples cost: bytes on disk and in memory, and the time to merge and to decode them.

Usage: python benchmarks/replay.py [--samples 1000000] [--full] [--json]

Positions are those of random games, a few tens of thousands, and copies of them with some bits of
the observation turned, so that the copies are positions of their own; three in ten samples stay
equal to another one. `--full` also loads 4 million chess samples into one piece of memory, merges
them, and says how much memory the process has used; run it alone.
"""

from __future__ import annotations

import argparse
import json
import platform
import random
import resource
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import zermelo
from zermelo.replay import (
    FULL,
    BatchSampler,
    Merged,
    Samples,
    ShardHeader,
    merge,
    read_shard,
    shard_path,
    write_shard,
)
from zermelo.replay.growing import GrowingColumn
from zermelo.replay.samples import COLUMNS

BASE = 20_000  # samples of random games
SHARD = 2000
BATCH = 1024
DUPLICATES = 0.3
FULL_SAMPLES = 4_000_000
LIMIT = 2 << 30
MAX_PLIES = 200


def random_samples(name: str, count: int, seed: int = 1) -> Samples:
    """Positions of random games in the orientation in which they arose, with flat policies."""
    game: Any = zermelo.game(name)
    rng = random.Random(seed)
    words, counts, actions, shares, plies, games = [], [], [], [], [], []
    number = -1
    while len(words) < count:
        state, number = game.initial(), number + 1
        for ply in range(MAX_PLIES):
            if game.outcome(state) is not None:
                break
            legal = sorted(game.legal_actions(state))
            words.append(game.observe_packed(state))
            counts.append(len(legal))
            actions += legal
            share, rest = divmod(65535, len(legal))
            shares += [share + rest, *[share] * (len(legal) - 1)]
            plies.append(ply)
            games.append(number)
            state = game.play(state, rng.choice(legal))
    zeros = np.zeros(len(words), np.int64)
    return Samples.from_columns(
        {
            "observations": np.stack(words),
            "policy_counts": counts,
            "policy_actions": actions,
            "policy_shares": shares,
            "results": np.random.default_rng(seed).integers(-1, 2, len(words)),
            "values": zeros,
            "draws": zeros,
            "plies": plies,
            "plies_left": zeros,
            "iterations": zeros,
            "games": games,
            "symmetries": zeros + 1,
            "flags": zeros + FULL,
        }
    )


def copies(base: Samples, rng: np.random.Generator) -> Samples:
    """The samples as other positions, but for DUPLICATES of them."""
    changed = rng.integers(1, 1 << 32, len(base), dtype=np.uint64)
    changed[rng.random(len(base)) < DUPLICATES] = 0
    observations = base.observations.copy()
    observations[:, 0] ^= changed
    return Samples(**(base.columns() | {"observations": observations}))


def many(base: Samples, count: int) -> Samples:
    """So many samples in one piece of memory, put together as a window does it."""
    rng = np.random.default_rng(1)
    columns = {
        name: GrowingColumn(declared.dtype, base.words if declared.wide else None)
        for name, declared in COLUMNS.items()
    }
    while len(columns["results"]) < count:
        part = copies(base, rng)
        part = part.take(np.arange(min(len(part), count - len(columns["results"]))))
        for name, column in part.columns().items():
            columns[name].append(column)
    return Samples(**{name: column.live() for name, column in columns.items()})


def size_row(name: str, base: Samples) -> dict[str, Any]:
    """Bytes of a sample, in a shard of SHARD samples and in memory with what merging adds."""
    game = zermelo.game(name)
    part = base.take(np.arange(SHARD))
    with tempfile.TemporaryDirectory() as directory:
        path = shard_path(directory, 0, 0, 0)
        started = time.perf_counter()
        size = write_shard(path, part, ShardHeader.of(game, part))
        written = time.perf_counter()
        read_shard(Path(path), game)
        read = time.perf_counter()
    merged = merge(part)
    return {
        "game": name,
        "legal_actions": round(float(base.policy_counts.mean()), 1),
        "disk_bytes": round(size / SHARD, 1),
        "memory_bytes": round(part.nbytes / SHARD, 1),
        "memory_bytes_merged": round((part.nbytes + merged.nbytes) / SHARD, 1),
        "write_ms": round(1e3 * (written - started), 2),
        "read_ms": round(1e3 * (read - written), 2),
    }


def merge_row(name: str, samples: Samples) -> tuple[dict[str, Any], Merged]:
    """Seconds to merge; the middle of three."""
    spent, used = [], []
    for _ in range(3):
        started, before = time.perf_counter(), time.process_time()
        merged = merge(samples)
        used.append(time.process_time() - before)
        spent.append(time.perf_counter() - started)
    row = {
        "game": name,
        "samples": len(samples),
        "positions": len(merged),
        "seconds": round(statistics.median(spent), 3),
        "cpu_seconds": round(statistics.median(used), 3),
    }
    return row, merged


def decode_row(name: str, merged: Merged, batches: int = 100) -> dict[str, Any]:
    """Milliseconds for a shuffled batch, ready for the trainer; the middle of many."""
    sampler = BatchSampler(merged, zermelo.game(name), BATCH, seed=1)
    epoch, spent, used = sampler.epoch(0), [], []
    for _ in range(min(batches, len(merged) // BATCH)):
        started, before = time.perf_counter(), time.process_time()
        next(epoch)
        used.append(1e3 * (time.process_time() - before))
        spent.append(1e3 * (time.perf_counter() - started))
    return {
        "game": name,
        "batch": BATCH,
        "milliseconds": round(statistics.median(spent), 2),
        "cpu_milliseconds": round(statistics.median(used), 2),
        "slowest_tenth": round(sorted(spent)[len(spent) * 9 // 10], 2),
    }


def full_row(base: Samples) -> dict[str, Any]:
    """4 million chess samples, really there, and the most memory that the process had."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    samples = many(base, FULL_SAMPLES)
    started = time.perf_counter()
    merged = merge(samples)
    spent = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    return {
        "samples": len(samples),
        "bytes": samples.nbytes + merged.nbytes,
        "merge_seconds": round(spent, 2),
        "resident_peak_bytes": peak,
        "resident_before_bytes": before,
    }


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    """All figures."""
    found: dict[str, Any] = {"benchmark": "replay", "machine": platform.processor()}
    sizes, merging, decoding = [], [], []
    bases = {name: random_samples(name, BASE) for name in ("chess", "connect4")}
    if arguments.full:  # first, while the process is small
        found["full"] = full_row(bases["chess"])
    for name, base in bases.items():
        sizes.append(size_row(name, base))
        row, merged = merge_row(name, many(base, arguments.samples))
        merging.append(row)
        decoding.append(decode_row(name, merged))
    bytes_ = sizes[0]["memory_bytes_merged"] * FULL_SAMPLES
    found |= {"sizes": sizes, "merging": merging, "decoding": decoding}
    found["four_million_chess_samples_bytes"] = round(bytes_)
    found["two_gib"] = LIMIT
    return found


def show(found: dict[str, Any]) -> None:
    """As tables."""
    for row in found["sizes"]:
        print(
            f"{row['game']:<9} {row['legal_actions']:>5} legal actions  {row['disk_bytes']:>6} B "
            f"on disk  {row['memory_bytes']:>6} B in memory, {row['memory_bytes_merged']} B "
            f"merged  (a shard is written in {row['write_ms']} ms, read in {row['read_ms']} ms)"
        )
    for row in found["merging"]:
        print(
            f"{row['game']:<9} {row['samples']:,} samples merge to {row['positions']:,} positions "
            f"in {row['seconds']} s ({row['cpu_seconds']} s of processor time)"
        )
    for row in found["decoding"]:
        print(
            f"{row['game']:<9} a shuffled batch of {row['batch']} takes {row['milliseconds']} ms "
            f"({row['cpu_milliseconds']} ms of processor time; one in ten takes more than "
            f"{row['slowest_tenth']} ms)"
        )
    total = found["four_million_chess_samples_bytes"]
    print(f"4 million chess samples: {total / 2**30:.2f} GiB by these bytes, 2 GiB allowed")
    if "full" in found:
        row = found["full"]
        print(
            f"4 million chess samples: {row['bytes'] / 2**30:.2f} GiB held, merged in "
            f"{row['merge_seconds']} s, {row['resident_peak_bytes'] / 2**30:.2f} GiB resident at "
            f"most ({row['resident_before_bytes'] / 2**30:.2f} GiB before)"
        )


def main() -> None:
    """Prints a table, or one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=1_000_000, help="to merge")
    parser.add_argument("--full", action="store_true", help="load 4 million chess samples")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    found = measure(arguments)
    if arguments.json:
        print(json.dumps(found))
    else:
        show(found)


if __name__ == "__main__":
    main()
