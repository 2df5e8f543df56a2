"""What makes Connect Four learn faster: the preset and one change at a time, for equal time each.

Usage: python benchmarks/learning.py --sets DIR [--minutes 6] [--seed 0] [--only NAME ...] [--json]

Each way is a run of its own from nothing, one after the other: they need the machine to themselves.
A finished run is not made again, one that was broken off is. A run ends with a training, so it may
take longer than it was given: see the seconds. Its last network then answers the test sets with 100
simulations and alone. One run each: see how far two seeds differ before a small difference counts.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from connect4_sets import measured

HARD = "Test_L1_R3_first300"  # openings far from their end
SIMULATIONS = 100  # for each choice when a network is judged

# What all runs share: the preset's first part, since its searches grow over a whole hour and its
# learning rate falls in the second half of it.
COMMON = (
    "selfplay.simulations=32", "selfplay.progressive_fraction=0", "train.value_blend_ramp=0",
    "evaluate.every=0", "loop.iterations=1000",
)  # fmt: skip

WAYS: dict[str, tuple[str, ...]] = {
    "preset": (),
    "5x48": ("network.filters=48",),
    "5x96": ("network.filters=96",),
    "3x64": ("network.blocks=3",),
    "16 simulations": ("selfplay.simulations=16",),
    "64 simulations": ("selfplay.simulations=64",),
    "playout cap: a quarter with 80, others 20": (
        "selfplay.simulations=80",
        "selfplay.full_search_probability=0.25",
    ),
    "PUCT, 32 simulations": ("search.gumbel=off",),
    "PUCT, 100 simulations": ("search.gumbel=off", "selfplay.simulations=100"),
    "gumbel_scale 1": ("search.gumbel_scale=1",),
    "fpu reduced": ("search.fpu=reduced",),
    "no solver": (
        "search.solver=off",
        "selfplay.exact_targets=off",
        "selfplay.end_when_proven=off",
    ),
    "proven games played out": ("selfplay.end_when_proven=off",),
    "no resignation": ("selfplay.resign_calibrated=off",),
    "no random openings": ("selfplay.opening_share=0",),
    "openings at temperature 3": ("selfplay.opening_temperature=3",),
    "samples played for 30 plies": ("selfplay.temperature_plies=30",),
    "no cache": ("search.cache_mib=0",),
    "bf16 self-play": ("selfplay.precision=bf16",),
    "f32 self-play": ("selfplay.precision=f32",),
    "no deduplication": ("replay.deduplicate=off",),
    "no symmetries": ("replay.symmetries=off",),
    "window of 2": ("replay.window_start=2", "replay.window_growth=1000"),
    "window of 20": ("replay.window_start=20",),
    "5,000 samples an iteration": ("loop.samples_per_iteration=5000",),
    "40,000 samples an iteration": ("loop.samples_per_iteration=40000",),
    "each sample once": ("train.reuse=1",),
    "each sample 4 times": ("train.reuse=4",),
    "each sample 8 times": ("train.reuse=8",),
    "value_blend 0": ("train.value_blend=0",),
    "value_blend 1": ("train.value_blend=1",),
    "learning rate 0.002": ("train.learning_rate=0.002",),
    "learning rate 0.02": ("train.learning_rate=0.02",),
    "batches of 64": ("train.batch=64",),
    "batches of 256": ("train.batch=256",),
    "AdamW, learning rate 0.003, batches of 256": (
        "train.optimiser=adamw",
        "train.learning_rate=0.003",
        "train.batch=256",
    ),
}


def trained(name: str, run: Path, minutes: float, seed: int) -> dict[str, Any]:
    """What `zermelo train --json` says about the run."""
    report = run.parent / f"{run.name}.json"
    if not report.exists():
        shutil.rmtree(run, ignore_errors=True)
        command = [sys.executable, "-m", "zermelo", "train", "connect4", "--json"]
        command += ["--run", str(run), "--for", f"{minutes:g}m", "--seed", str(seed)]
        command += [word for text in (*COMMON, *WAYS[name]) for word in ("--set", text)]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=False, text=True)
        if done.returncode:
            raise SystemExit(done.returncode)  # it has said why
        report.write_text(done.stdout)
    found: dict[str, Any] = json.loads(report.read_text())
    return found


def row_of(name: str, given: argparse.Namespace) -> dict[str, Any]:
    """One way's figures."""
    folder = name.replace(" ", "-").replace(":", "").replace(",", "")
    run = given.runs / f"{folder}-{given.minutes:g}m-{given.seed}"
    found = trained(name, run, given.minutes, given.seed)
    judged = measured(str(run), SIMULATIONS, given.sets)
    return {
        "way": name,
        "iterations": found["iteration"],
        "samples": found["samples"],
        "seconds": found["seconds"],
        "search": judged["all"]["search"],
        "policy": judged["all"]["policy"],
        "hard": judged[HARD]["search"],
    }


def main() -> None:
    """A line for each way, as soon as it is known."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=6.0, help="of each run")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="+", choices=WAYS, default=list(WAYS), metavar="NAME")
    parser.add_argument("--runs", type=Path, default=Path("runs/learning"))
    parser.add_argument("--sets", type=Path, required=True)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if not (given.sets / HARD).exists():
        parser.error(f"there is no {given.sets / HARD}: give --sets DIR")
    rows = []
    if not given.json:
        print("| way | seconds | iterations | samples | search | network alone | hard openings |")
        print("|---|---|---|---|---|---|---|")
    for name in given.only:
        row = row_of(name, given)
        rows.append(row)
        if not given.json:
            shares = " | ".join(f"{row[key]:.1%}" for key in ("search", "policy", "hard"))
            counts = f"{row['seconds']:.0f} | {row['iterations']} | {row['samples']:,}"
            print(f"| {name} | {counts} | {shares} |", flush=True)
    if given.json:
        print(json.dumps({"minutes": given.minutes, "seed": given.seed, "rows": rows}, indent=2))


if __name__ == "__main__":
    main()
