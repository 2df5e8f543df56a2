"""Deaths on a cluster of two nodes at random moments: of an actor, a node, the driver, the head.

ZERMELO_KILLS says how often each; figures are printed with `-s`.
"""

from __future__ import annotations

import importlib.util
import json
import os
import random
import signal
import subprocess
import time
from pathlib import Path
from typing import IO, Any

import pytest

if importlib.util.find_spec("ray") is None:
    pytest.skip("'ray' is not installed: zermelo[cluster]", allow_module_level=True)

from clusters import Machines, family, kill_family, machines, train_command
from test_local_cluster import games_of
from tiny_runs import config

from zermelo.loop import Run
from zermelo.train.metrics import read_metrics

pytestmark = [pytest.mark.slow, pytest.mark.timeout(5400)]
KILLS = int(os.environ.get("ZERMELO_KILLS", "20"))
ITERATIONS = 30  # long enough to be killed in the middle
SECONDS = 240.0  # for a run to end


def new_run(path: Path, iterations: int) -> Path:
    made = Run.create(
        path, config(selfplay={"workers": 0}, loop={"iterations": iterations, "mode": "together"})
    )
    made.unlock()
    return path


def started(run: Path, there: Machines, log: IO[bytes]) -> subprocess.Popen[bytes]:
    words = train_command(run, there.address)
    return subprocess.Popen(words, env=there.environment, stdout=log, stderr=subprocess.STDOUT)


def wait_for(run: Path, text: str, seconds: float = 120.0) -> None:
    """Until the run's state has those words."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        status = run / "status.json"
        if status.exists() and text in status.read_text():
            return
        time.sleep(0.1)
    raise TimeoutError(text)


def playing_on_two(run: Path) -> bool:
    """Whether both nodes have delivered something."""
    status = run / "status.json"
    nodes = json.loads(status.read_text())["nodes"] if status.exists() else []
    return len([node for node in nodes if node["samples_per_second"] > 0]) == 2


def actors() -> list[int]:
    """Processes of self-play actors of this test."""
    found = []
    for place in Path("/proc").iterdir():
        if place.name.isdecimal():
            try:
                if (place / "cmdline").read_bytes().startswith(b"ray::SelfPlayActor"):
                    found.append(int(place.name))
            except OSError:
                continue
    return found


def assert_ended_well(run: Path, iterations: int) -> dict[str, object]:
    games = games_of(run)
    assert games and set(games.values()) == {1}
    last = read_metrics(run / "metrics")[-1]
    assert last["iteration"] == iterations
    return dict(last)


@pytest.mark.parametrize("turn", range(KILLS))
@pytest.mark.parametrize("victim", ["actor", "node", "driver", "head"])
def test_a_run_survives_the_death_of(victim: str, turn: int, tmp_path: Path) -> None:
    chance = random.Random(f"{victim} {turn}")
    run = new_run(tmp_path / "run", ITERATIONS)
    log_file = tmp_path / "log.txt"
    with machines(1, 1) as there, log_file.open("wb") as log:
        driver = started(run, there, log)
        while not playing_on_two(run):
            assert driver.poll() is None, log_file.read_text()[-3000:]
            time.sleep(0.1)
        time.sleep(chance.uniform(0.0, 8.0))
        before = set(games_of(run))
        began = time.monotonic()
        if victim == "actor":
            mine = {pid for node in there.nodes for pid in family(node.pid)}
            alive = [pid for pid in actors() if pid in mine]
            assert alive, "nobody to kill"
            os.kill(chance.choice(alive), signal.SIGKILL)
        elif victim == "node":
            kill_family(there.nodes[1].pid)
        elif victim == "driver":
            driver.kill()
            driver.wait()
            driver = started(run, there, log)
        else:
            kill_family(there.nodes[0].pid)
            driver.wait(120)
            noticed = time.monotonic() - began
            there.head()
            there.wait()
            driver = started(run, there, log)
            print(f"head: driver ended after {noticed:.1f} s")
        assert driver.wait(SECONDS) == 0, log_file.read_text()[-3000:]
        print(f"{victim} {turn}: the run ended {time.monotonic() - began:.1f} s after the kill")
    assert before <= set(games_of(run))
    told: Any = assert_ended_well(run, ITERATIONS)
    lost = told["selfplay"]["cluster"]
    if victim == "actor":
        assert lost["actors_lost"] >= 1
    elif victim == "node":
        assert lost["nodes_lost"] == 1


def test_a_node_that_stands_still_is_noticed_within_seconds(tmp_path: Path) -> None:
    run = new_run(tmp_path / "run", 200)
    log_file = tmp_path / "log.txt"
    with machines(1, 1) as there, log_file.open("wb") as log:
        driver = started(run, there, log)
        wait_for(run, '"actors": 1')
        while len(json.loads((run / "status.json").read_text())["nodes"]) < 2:
            time.sleep(0.1)
        stopped = family(there.nodes[1].pid)
        began = time.monotonic()
        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)
        while len(json.loads((run / "status.json").read_text())["nodes"]) > 1:
            assert time.monotonic() - began < 60.0
            time.sleep(0.05)
        print(f"a node that stood still was noticed after {time.monotonic() - began:.1f} s")
        for pid in stopped:
            os.kill(pid, signal.SIGKILL)
        driver.send_signal(signal.SIGINT)
        assert driver.wait(60) == 130
    assert set(games_of(run).values()) == {1}
