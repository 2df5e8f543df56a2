"""Trains for an hour while processes are killed at random, and watches memory and open files.

Usage: python tools/loop_soak.py [--minutes 60] [--directory DIR] [--json]

For the first half the loop is killed about every five minutes and a worker about every ten
seconds; then only workers, so that one process of the loop can be watched for long. What must hold
of shards, games and checkpoints is what `kill_loop.py` says. Beyond it the loop's memory must not
grow by more than 5 % after a third of its last life, nor its open files at all. Time in which the
machine stopped us does not count. Exit code 1 if anything of that fails.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from kill_loop import Campaign, children
from resident import open_files, resident_mib

GROWTH = 0.05
EVERY = 5.0  # seconds between two looks at the loop
MINUTE = 12  # looks
LIFE = 300.0  # seconds that a loop lives on average while loops are killed
PAUSE = 10.0  # seconds between two kills on average
# Iterations of some ten seconds with a measurement now and then; the rest as in `kill_loop.py`.
LONGER = {
    "loop.samples_per_iteration": 20_000, "replay.shard_samples": 1000, "selfplay.games": 64,
    "evaluate.every": 10, "evaluate.seconds": 2.0,
}  # fmt: skip


class Soak(Campaign):
    """A campaign that lasts for a time instead of a number of kills."""

    more = LONGER

    def __init__(self, options: argparse.Namespace, place: Path) -> None:
        super().__init__(options, place)
        self.awake = 0.0  # seconds
        self.life: list[tuple[float, int]] = []  # memory and files of the loop that runs now
        self.lives: list[list[tuple[float, int]]] = [self.life]

    def rest(self, seconds: float) -> None:
        """Sleeps, and looks at the loop every few seconds."""
        until = self.awake + seconds
        while self.awake < until:
            pause = min(until - self.awake, EVERY - self.awake % EVERY)
            looked = int(self.awake / EVERY)
            time.sleep(pause)
            self.awake += pause
            if int(self.awake / EVERY) > looked:
                self.watch()

    def watch(self) -> None:
        """One figure of the loop's process."""
        assert self.process is not None
        try:
            self.life.append((resident_mib(self.process.pid), open_files(self.process.pid)))
        except FileNotFoundError:
            raise SystemExit("the loop ended by itself") from None

    def last(self, minutes: float) -> None:
        """The whole time."""
        self.start(self.forever)
        while self.awake < minutes * 60:
            began = time.monotonic()
            self.wait_for_life()
            self.awake += min(time.monotonic() - began, 60.0)
            self.rest(self.random.expovariate(1 / PAUSE))
            self.look()
            if self.awake < minutes * 30 and self.random.random() < PAUSE / LIFE:
                self.kill_loop()
                self.life = []
                self.lives.append(self.life)
            else:
                self.kill_worker()
            said = f"{self.awake / 60:.1f} min, {self.killed}, {len(self.seen)} shards, "
            said += f"{len(self.faults)} faults, {self.life[-1:]}"
            print(said, file=sys.stderr, flush=True)

    def kill_worker(self) -> None:
        """If there is one just now."""
        assert self.process is not None
        workers = children(self.process.pid)
        if workers:
            os.kill(self.random.choice(workers), signal.SIGKILL)
            self.killed["worker"] += 1

    def held(self) -> dict[str, Any]:
        """Memory and files of the last loop, in medians of a minute, after a third of its life."""
        minutes = [
            self.life[at : at + MINUTE] for at in range(0, len(self.life) - MINUTE + 1, MINUTE)
        ]
        later = minutes[len(minutes) // 3 :]
        if not later:
            raise SystemExit("the last loop did not live long enough to tell anything")
        memory = [statistics.median(mib for mib, _ in minute) for minute in later]
        files = [statistics.median(count for _, count in minute) for minute in later]
        growth = max(memory) / memory[0] - 1
        if growth > GROWTH:
            self.faults.append(f"the loop's memory grew by {growth:.1%}")
        if max(files) > files[0]:
            self.faults.append(f"open files grew from {files[0]:.0f} to {max(files):.0f}")
        return {
            "minutes": round(self.awake / 60, 1), "loops": len(self.lives),
            "last_loop_minutes": len(minutes), "memory_mib_first": round(memory[0], 1),
            "memory_mib_most": round(max(memory), 1), "growth": round(growth, 4),
            "files_first": files[0], "files_most": max(files),
        }  # fmt: skip


def main() -> int:
    """0 if nothing was lost and nothing grew."""
    parser = argparse.ArgumentParser(description="Train for an hour while processes are killed.")
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--directory", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    options.workers, options.mode, options.game, options.kills = 2, "alternate", "connect4", 0
    place = options.directory or Path(tempfile.mkdtemp(prefix="loop-soak-"))
    place.mkdir(parents=True, exist_ok=True)
    soak = Soak(options, place)
    try:
        soak.last(options.minutes)
        held = soak.held()
        found = soak.check(soak.finish()) | held
    finally:
        soak.end()
    found["faults"] = soak.faults
    print(json.dumps(found, indent=None if options.json else 2))
    if options.directory is None and not soak.faults:
        shutil.rmtree(place)
    return 1 if soak.faults else 0


if __name__ == "__main__":
    sys.exit(main())
