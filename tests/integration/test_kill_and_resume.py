"""Whole processes: Ctrl-C ends them tidily, kill -9 costs nothing but the open shard."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from scripts import load_script

import zermelo
from zermelo.replay import ReplayStore
from zermelo.runs.status import read_status

GAME = zermelo.game("tictactoe")
ROOT = Path(__file__).parents[2]
children = load_script("tools/kill_loop.py").children

SETTINGS = (
    "network.blocks=1", "network.filters=8", "selfplay.workers=2", "selfplay.games=8",
    "selfplay.backend=openvino", "selfplay.precision=f32", "selfplay.simulations=8",
    "search.cache_mib=1", "replay.shard_samples=200", "train.threads=1", "evaluate.every=0",
)  # fmt: skip


def start(run: Path, *arguments: str) -> subprocess.Popen[str]:
    """`zermelo train` as a person starts it."""
    sets = [part for text in SETTINGS for part in ("--set", text)]
    command = [sys.executable, "-m", "zermelo", "train", "tictactoe", "--run", str(run), *sets]
    return subprocess.Popen(
        [*command, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def wait_for_shards(process: subprocess.Popen[str], run: Path, count: int = 1) -> list[int]:
    """Until the run plays; its workers."""
    until = time.monotonic() + 120
    while time.monotonic() < until:
        assert process.poll() is None, process.communicate()
        if len(list((run / "replay").glob("*.zshard"))) >= count:
            return list(children(process.pid))
        time.sleep(0.05)
    raise AssertionError("no shard was written")


def is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_ctrl_c_ends_the_loop_and_its_workers_and_the_run_goes_on(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    run = tmp_path / "run"
    process = start(run, "--set", "loop.samples_per_iteration=100000000", "--json")
    workers = wait_for_shards(process, run)
    assert len(workers) == 2
    process.send_signal(signal.SIGINT)
    began = time.monotonic()
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    record_property("training that saves (s)", f"{time.monotonic() - began:.1f}")
    found = json.loads(out)
    assert (found["stopped"], found["iteration"]) == ("interrupted", 0)
    assert not any(is_running(worker) for worker in workers)
    assert not list(run.rglob("*.tmp"))
    kept = ReplayStore(run / "replay", GAME).samples_of(0)
    assert kept == found["samples"] > 0

    again = start(run, "--set", "loop.samples_per_iteration=400", "--iterations", "1", "--json")
    out, err = again.communicate(timeout=120)
    assert again.returncode == 0, err
    assert json.loads(out)["iteration"] == 1
    assert ReplayStore(run / "replay", GAME).samples_of(0) >= kept


def test_workers_of_a_killed_loop_end_by_themselves_before_the_run_goes_on(tmp_path: Path) -> None:
    run = tmp_path / "run"
    process = start(run, "--set", "loop.samples_per_iteration=100000000")
    workers = wait_for_shards(process, run)
    told = read_status(run)
    assert told is not None
    assert (told.alive, told.process, told.iteration) == (True, process.pid, 0)
    process.kill()
    process.communicate()
    told = read_status(run)
    assert told is not None
    assert (told.alive, told.ended) == (False, "")
    again = start(run, "--set", "loop.samples_per_iteration=400", "--iterations", "1", "--json")
    out, err = again.communicate(timeout=120)
    assert again.returncode == 0, err
    assert json.loads(out)["iteration"] == 1
    assert not any(is_running(worker) for worker in workers)


@pytest.mark.technique("T14")
@pytest.mark.slow
@pytest.mark.parametrize("arguments", [("1", "alternate"), ("2", "alternate"), ("2", "together")])
def test_a_run_that_is_killed_again_and_again_loses_nothing(
    tmp_path: Path, arguments: tuple[str, str]
) -> None:
    workers, mode = arguments
    command = [sys.executable, str(ROOT / "tools" / "kill_loop.py"), "--kills", "5", "--json"]
    command += ["--workers", workers, "--mode", mode, "--directory", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=290)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert found["faults"] == []
    assert found["games"] > 100
    if workers == "1":
        assert found["same_weights_as_undisturbed"]
