"""Deaths on a cluster of two nodes at random moments: of an actor, a node, the driver, the head.

One run for each, which suffers ZERMELO_KILLS of them (20), is looked at after each, and ends well.
"""

from __future__ import annotations

import importlib.util
import json
import os
import random
import signal
import subprocess
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import pytest

if importlib.util.find_spec("ray") is None:
    pytest.skip("'ray' is not installed: zermelo[cluster]", allow_module_level=True)

from clusters import Machines, family, kill_family, machines, train_command
from test_local_cluster import games_of
from tiny_runs import config

from zermelo.loop import Run
from zermelo.runs.status import read_status
from zermelo.train.metrics import read_metrics

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]
KILLS = int(os.environ.get("ZERMELO_KILLS", "20"))
SECONDS = 600.0  # for anything to happen
Record = Callable[[str, object], None]
Game = tuple[int, int, int]


def seconds_until(holds: Callable[[], object], log: Path) -> float:
    """How long it took. Time in which this process itself was stopped does not count."""
    spent, before = 0.0, time.monotonic()
    while not holds():
        assert spent < SECONDS, log.read_text()[-3000:]
        time.sleep(0.05)
        now = time.monotonic()
        spent, before = spent + min(now - before, 1.0), now
    return spent


class Patient:
    """A run on two nodes, one core each, that is hurt and looked at."""

    def __init__(self, path: Path, there: Machines, log: IO[bytes], samples: int = 600) -> None:
        """`samples` of an iteration."""
        self.path, self.there, self.log = path, there, log
        self.finished: set[Game] = set()  # games that were on the disk at the last look
        self.parts: defaultdict[str, list[float]] = defaultdict(list)  # seconds, of each death
        made = Run.create(
            path,
            config(
                selfplay={"workers": 0, "simulations": 64},
                loop={"iterations": 10_000, "mode": "together", "samples_per_iteration": samples},
                evaluate={"every": 10_000},
            ),
        )
        made.unlock()
        self.driver = self.start()

    def start(self, *more: str) -> subprocess.Popen[bytes]:
        """The same command each time."""
        (self.path / "status.json").unlink(missing_ok=True)
        words = train_command(self.path, self.there.address, *more)
        self.driver = subprocess.Popen(
            words, env=self.there.environment, stdout=self.log, stderr=subprocess.STDOUT
        )
        return self.driver

    def nodes(self) -> list[dict[str, Any]]:
        """As the run's state tells of them."""
        status = read_status(self.path)
        return [] if status is None else status.nodes

    def wait_until(self, holds: Callable[[], object]) -> float:
        """How long it took, while the run goes on."""
        return seconds_until(lambda: self.is_alive() and holds(), Path(self.log.name))

    def wait_for_end(self, *others: subprocess.Popen[bytes]) -> float:
        """Of the driver and other processes; how long it took."""
        awaited = [self.driver, *others]
        return seconds_until(
            lambda: all(one.poll() is not None for one in awaited), Path(self.log.name)
        )

    def is_alive(self) -> bool:
        """Or the test fails with what the driver said."""
        assert self.driver.poll() is None, Path(self.log.name).read_text()[-3000:]
        return True

    def playing(self, nodes: int) -> bool:
        """Whether that many nodes have delivered something."""
        return len([node for node in self.nodes() if node["samples_per_second"] > 0]) == nodes

    def look(self) -> None:
        """No finished game was lost, none is there twice."""
        games = games_of(self.path)
        assert games and set(games.values()) == {1}
        assert self.finished <= set(games)
        self.finished = set(games)

    def plays_on(self) -> float:
        """Seconds until a new shard is on the disk."""
        return self.wait_until(lambda: set(games_of(self.path)) - self.finished)

    def actors(self) -> set[int]:
        """Processes of self-play actors on these nodes."""
        return {
            pid
            for node in self.there.nodes
            for pid in family(node.pid)
            if _words(pid).startswith(b"ray::SelfPlayActor")
        }

    def end(self) -> dict[str, Any]:
        """Stops the run and lets it play two more iterations to its end; its last metrics."""
        self.driver.send_signal(signal.SIGINT)
        self.wait_for_end()
        assert self.driver.returncode == 130
        last = read_metrics(self.path / "metrics")[-1]["iteration"]
        self.start("--iterations", str(last + 2))
        self.wait_for_end()
        assert self.driver.returncode == 0
        self.look()
        told = read_metrics(self.path / "metrics")
        assert [row["iteration"] for row in told] == list(range(1, last + 3))
        there = Counter(iteration for _, iteration, _ in games_of(self.path))
        for row in told:  # a shard that came late may be on the disk alone
            assert 0 < row["selfplay"]["games"] <= there[row["iteration"] - 1]
        return dict(told[-3])  # of the driver before


def _words(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def kill_actor(patient: Patient, chance: random.Random) -> float:
    """In the middle of a call, until another plays in its place."""
    before = patient.actors()
    victim = chance.choice(sorted(before))
    os.kill(victim, signal.SIGKILL)
    return patient.wait_until(lambda: len(now := patient.actors() - {victim}) == 2 and now - before)


def kill_node(patient: Patient, chance: random.Random) -> float:
    """With all its processes, until the run knows; then another joins."""
    node = patient.there.nodes.pop()
    kill_family(node.pid)
    node.wait()
    seconds = patient.wait_until(lambda: len(patient.nodes()) == 1)
    patient.there.join()
    return seconds


def stop_node(patient: Patient, chance: random.Random) -> float:
    """It stands still, as when its cable is pulled, until the run knows; then another joins."""
    node = patient.there.nodes.pop()
    for pid in family(node.pid):
        os.kill(pid, signal.SIGSTOP)
    seconds = patient.wait_until(lambda: len(patient.nodes()) == 1)
    kill_family(node.pid)
    node.wait()
    patient.there.join()
    return seconds


def kill_driver(patient: Patient, chance: random.Random) -> float:
    """Until the same command has written a new shard."""
    patient.driver.kill()
    patient.driver.wait()
    patient.look()
    patient.start()
    return patient.plays_on()


def kill_head(patient: Patient, chance: random.Random) -> float:
    """Driver and nodes end by themselves; all begin again, until there is a new shard."""
    there = patient.there
    kill_family(there.nodes[0].pid)
    ended = patient.wait_for_end()
    assert patient.driver.returncode != 0
    patient.look()
    patient.parts["the driver ends"].append(ended)
    patient.parts["the nodes end"].append(ended + patient.wait_for_end(*there.nodes))
    there.nodes.clear()
    there.head()
    seconds = seconds_until(there.listens, Path(patient.log.name))
    there.join()
    patient.start()
    return seconds + patient.plays_on()


KINDS = {
    "actor": kill_actor,
    "node": kill_node,
    "still": stop_node,
    "driver": kill_driver,
    "head": kill_head,
}


@pytest.mark.parametrize("victim", KINDS)
def test_a_run_survives_the_deaths_of(victim: str, tmp_path: Path, record_property: Record) -> None:
    chance, seconds = random.Random(victim), []
    with machines(1, 1) as there, (tmp_path / "log.txt").open("wb") as log:
        patient = Patient(tmp_path / "run", there, log)
        try:
            for _ in range(KILLS):
                patient.wait_until(lambda: patient.playing(2))
                time.sleep(chance.uniform(0.0, 2.0))
                patient.look()
                seconds.append(KINDS[victim](patient, chance))
                print(f"{victim}: {seconds[-1]:.1f} s", flush=True)
                patient.plays_on()
                patient.look()
            told = patient.end()["selfplay"]["cluster"]
        finally:
            patient.driver.kill()
            patient.driver.wait()
    rows = read_metrics(tmp_path / "run" / "metrics")
    drivers = {row["selfplay"]["cluster"]["driver_since"] for row in rows}
    if victim in ("driver", "head"):
        # A driver that was killed before its first iteration ended is in no line.
        assert 2 < len(drivers) <= KILLS + 2
    else:
        assert len(drivers) == 2
        assert told["actors_lost"] >= KILLS
        assert told["nodes_lost"] >= (0 if victim == "actor" else KILLS)
    record_property("tried", KILLS)
    record_property(f"{victim}: games", len(patient.finished))
    for part, found in ({"": seconds} | patient.parts).items():
        name = f"{victim}: {part}, " if part else f"{victim}: "
        record_property(f"{name}slowest (s)", f"{max(found):.1f}")
        record_property(f"{name}median (s)", f"{sorted(found)[len(found) // 2]:.1f}")
        print(json.dumps({"victim": victim, "of": part, "seconds": [round(s, 1) for s in found]}))
