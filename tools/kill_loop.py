"""Kills random processes of a running loop with kill -9, resumes it, and counts what was lost.

Usage: python tools/kill_loop.py [--kills 50] [--workers 2] [--mode alternate] [--game connect4]
                                 [--seed 1] [--directory DIR] [--json]

After every kill: each shard that was there before is there still, with the same bytes (a repeatable
run, --workers 1, may remove those of its unfinished iteration, which must come back the same). At
the end: every shard is sound, no game stands there twice, no temporary file is left, and a
repeatable run has the weights of one that nobody killed. Exit code 1 if anything of that fails.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from zermelo.checkpoint import CheckpointStore
from zermelo.games import game as find_game
from zermelo.replay import ReplayStore, ShardHeader, read_header
from zermelo.train import read_metrics

WORKER = b"zermelo.selfplay.worker"
SHORT = 12  # samples


def settings(
    options: argparse.Namespace, iterations: int, more: dict[str, int | float]
) -> list[str]:
    """A run whose iterations take a second or two, unless `more` says otherwise."""
    values = {
        "network.blocks": 1, "network.filters": 8, "search.cache_mib": 4,
        "selfplay.workers": options.workers, "selfplay.games": 16, "selfplay.simulations": 12,
        "selfplay.full_search_probability": 1.0, "selfplay.backend": "openvino",
        "selfplay.precision": "f32", "selfplay.opening_share": 0.0, "replay.shard_samples": 300,
        "replay.window_start": 2, "replay.window_max": 2, "train.threads": 1,
        "loop.samples_per_iteration": 2500,
        "loop.mode": options.mode, "loop.seed": options.seed, "evaluate.every": 0,
        "loop.iterations": iterations,
        # Games of a young network are alike unless chance has its way.
        "selfplay.temperature_start": 3.0, "selfplay.temperature_end": 3.0,
        "selfplay.temperature_plies": 100,
        # Nothing may depend on how many iterations there will be, which changes at the end.
        "selfplay.progressive_fraction": 0.0, "train.value_blend_ramp": 0.0,
        "train.learning_rate_end": 1.0,
        **more,
    }  # fmt: skip
    return [part for key, value in values.items() for part in ("--set", f"{key}={value}")]


class Campaign:
    """One run, killed again and again."""

    more: ClassVar[dict[str, int | float]] = {}  # settings that differ
    forever = 1_000_000  # iterations

    def __init__(self, options: argparse.Namespace, place: Path) -> None:
        self.options = options
        self.exact = options.workers == 1 and options.mode == "alternate"
        self.run = place / "run"
        self.log = place / "output.txt"
        self.random = random.Random(options.seed)
        self.seen: dict[str, str] = {}  # shard -> sha256 when it was first seen
        self.killed = {"loop": 0, "worker": 0}
        self.faults: list[str] = []
        self.process: subprocess.Popen[bytes] | None = None

    def settings(self, iterations: int) -> list[str]:
        """On the command line."""
        return settings(self.options, iterations, self.more)

    def start(self, iterations: int) -> None:
        """Begins the run or goes on with it."""
        command = [sys.executable, "-m", "zermelo", "train"]
        command += [str(self.run)] if (self.run / "run.toml").exists() else [
            self.options.game, "--run", str(self.run), *self.settings(iterations)
        ]  # fmt: skip
        with self.log.open("ab") as output:
            self.process = subprocess.Popen(
                [*command, "--iterations", str(iterations)], stdout=output, stderr=output
            )

    def kill_some(self) -> None:
        """All kills of the campaign; after each the run must come to life again."""
        self.start(self.forever)
        for number in range(self.options.kills):
            self.wait_for_life()
            time.sleep(self.random.uniform(0.0, 2.5))
            self.look()
            assert self.process is not None
            workers = children(self.process.pid)
            if workers and self.random.random() < 0.5:
                os.kill(self.random.choice(workers), signal.SIGKILL)
                self.killed["worker"] += 1
            else:
                self.kill_loop()
            print(f"kill {number + 1} of {self.options.kills}, {len(self.seen)} shards, "
                  f"{len(self.faults)} faults", file=sys.stderr, flush=True)  # fmt: skip

    def kill_loop(self) -> None:
        """And begins it anew."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()
        self.killed["loop"] += 1
        self.look()
        self.start(self.forever)

    def end(self) -> None:
        """Leaves no process behind, whatever happened."""
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def wait_for_life(self) -> None:
        """Until the loop has workers and something new is on disk."""
        before = self.newest_change()
        for _ in range(6000):  # five minutes in which the machine did not stop us
            assert self.process is not None
            if self.process.poll() is not None:
                lines = self.log.read_text(errors="replace").splitlines()
                raise SystemExit(f"the loop ended by itself: {lines[-1:]}")
            if children(self.process.pid) and self.newest_change() > before:
                return
            time.sleep(0.05)
        self.faults.append("nothing happened for five minutes after a kill")

    def newest_change(self) -> int:
        """Of a shard, in nanoseconds."""
        times = [status.st_mtime_ns for path in self.shards() if (status := stat(path))]
        return max(times, default=0)

    def shards(self) -> list[Path]:
        """What is there."""
        return sorted((self.run / "replay").glob("*.zshard"))

    def look(self) -> None:
        """Holds the shards on disk against those seen before."""
        there = {path.name: digest(path) for path in self.shards()}
        finished = max(CheckpointStore(self.run / "checkpoints", read_only=True).list(), default=0)
        for name, sha in self.seen.items():
            if name in there:
                if there[name] not in (sha, None):
                    self.faults.append(f"{name} changed")
            elif not (self.exact and int(name[2:8]) >= finished):
                self.faults.append(f"{name} was lost")
        self.seen |= {name: sha for name, sha in there.items() if sha and name not in self.seen}

    def finish(self) -> int:
        """Lets the run do two iterations more and end by itself; how many it has then."""
        assert self.process is not None
        self.process.send_signal(signal.SIGINT)
        self.wait_for_end(300)
        store = CheckpointStore(self.run / "checkpoints", read_only=True)
        iterations = max(store.list(), default=0) + 2
        self.start(iterations)
        code = self.wait_for_end(1800)
        if code:
            self.faults.append(f"the last process ended with code {code}")
        self.look()
        return iterations

    def wait_for_end(self, seconds: float) -> int:
        """The code of the loop that runs; time in which the machine stopped us does not count."""
        assert self.process is not None
        for _ in range(int(seconds * 20)):
            if (code := self.process.poll()) is not None:
                return code
            time.sleep(0.05)
        raise SystemExit(f"the loop did not end within {seconds:.0f} s")

    def check(self, iterations: int) -> dict[str, Any]:
        """The state at the end."""
        store = ReplayStore(self.run / "replay", find_game(self.options.game))
        games, samples, twice, alike = 0, 0, 0, 0
        owners: dict[int, int] = {}  # of each seed
        met: set[bytes] = set()
        there: set[tuple[int, int, int]] = set()
        for shard in store.shards():
            found = store.read(shard)
            if found is None:
                continue
            samples += len(found)
            for mark in fingerprints(found):
                alike += mark in met
                met.add(mark)
            numbers = ids(shard.header)
            games += len(numbers)
            twice += len(there.intersection(numbers))
            there.update(numbers)
            if not self.exact:
                seed, worker = shard.header.statistics["seed"], shard.header.worker
                if owners.setdefault(seed, worker) != worker:
                    self.faults.append(f"two workers played with the seed {seed}")
        left = [str(p) for p in self.run.rglob("*") if p.name.startswith(".") or ".tmp" in p.name]
        self.faults += [str(damage) for damage in store.damage]
        self.faults += [f"{path} was left behind" for path in left]
        self.faults += [f"{twice} games stand there twice"] if twice else []
        lines = [entry["iteration"] for entry in read_metrics(self.run / "metrics")]
        if lines != list(range(1, iterations + 1)):
            self.faults.append(f"the metrics have the iterations {lines}")
        newest = CheckpointStore(self.run / "checkpoints", read_only=True).newest()
        if newest is None or newest.iteration != iterations:
            self.faults.append(f"the newest checkpoint is {newest}")
        return {
            "tried": sum(self.killed.values()), "killed": self.killed,
            "workers": self.options.workers, "mode": self.options.mode, "iterations": iterations,
            "shards": len(store.shards()),
            "games": games, "samples": samples, "games_twice": twice, "games_alike": alike,
            "temporary_files": len(left), "damaged": len(store.damage),
        }  # fmt: skip

    def compare(self, iterations: int) -> bool:
        """Whether a run that nobody kills comes to the same weights."""
        undisturbed = self.run.with_name("undisturbed")
        command = [sys.executable, "-m", "zermelo", "train", self.options.game]
        command += ["--run", str(undisturbed), *self.settings(iterations)]
        with self.log.open("ab") as output:
            subprocess.run(command, stdout=output, stderr=output, check=True)
        same = weights(self.run, iterations) == weights(undisturbed, iterations)
        if not same:
            self.faults.append("the weights are not those of an undisturbed run")
        return same


def ids(header: ShardHeader) -> list[tuple[int, int, int]]:
    """Whose a shard's games are: their producer's seed, the iteration, the number in it."""
    told = header.statistics
    first = int(told["first_game"])
    numbers = range(first, first + int(told["games"]))
    return [(int(told["seed"]), header.iteration, number) for number in numbers]


def fingerprints(samples: Any) -> list[bytes]:
    """One per game: a hash of all that its samples say. Games may be alike by chance, short ones
    well so: a repeatable run that nobody disturbs has as many.
    """
    marks = []
    for game in np.unique(samples.games):
        one = samples.take(samples.games == game)
        if len(one) < SHORT:
            continue
        columns = one.columns()
        data = b"".join(columns[name].tobytes() for name in ("observations", "policy_shares"))
        marks.append(hashlib.sha256(data + columns["values"].tobytes()).digest())
    return marks


def weights(run: Path, iteration: int) -> list[str | None]:
    """Of a checkpoint's files."""
    place = run / "checkpoints" / f"{iteration:06d}"
    return [digest(place / f"{name}.safetensors") for name in ("weights", "training")]


def digest(path: Path) -> str | None:
    """Of the samples of a shard, whose header holds times; of any other file as it is."""
    try:
        data = path.read_bytes()
        if path.suffix == ".zshard":
            length = int.from_bytes(data[12:16], "little")
            read_header(path)
            data = data[24 + length : -32]
    except FileNotFoundError:
        return None
    return hashlib.sha256(data).hexdigest()


def stat(path: Path) -> os.stat_result | None:
    """None if it has gone."""
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def children(parent: int) -> list[int]:
    """The self-play workers of a process."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
            command = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if int(fields[1]) == parent and WORKER in command:
            found.append(int(entry.name))
    return found


def main() -> int:
    """0 if nothing was lost."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--mode", default="alternate", choices=("alternate", "together"))
    parser.add_argument("--game", default="connect4")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--directory", type=Path)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    place = options.directory or Path(tempfile.mkdtemp(prefix="kill-loop-"))
    place.mkdir(parents=True, exist_ok=True)
    campaign = Campaign(options, place)
    try:
        campaign.kill_some()
        iterations = campaign.finish()
        found = campaign.check(iterations)
        if campaign.exact:
            found["same_weights_as_undisturbed"] = campaign.compare(iterations)
    finally:
        campaign.end()
    found["faults"] = campaign.faults
    print(json.dumps(found, indent=None if options.json else 2))
    if options.directory is None and not campaign.faults:
        shutil.rmtree(place)
    return 1 if campaign.faults else 0


if __name__ == "__main__":
    sys.exit(main())
