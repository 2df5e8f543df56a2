"""A disk of 8 MB that is really full; needs the right to mount one."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from harmed_runs import shards, start, until

from zermelo.checkpoint import CheckpointStore
from zermelo.replay import read_shard
from zermelo.train import read_metrics

Record = Callable[[str, object], None]
BACK_SECONDS = 10.0  # until a run that waited for space writes again


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=8m", "none", str(place)]
    try:
        done = subprocess.run(command, capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no `mount` here")
    if done.returncode:
        pytest.skip("no right to mount a small disk")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=False)


def fill(path: Path) -> None:
    """Takes all the room that is left."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT)
    try:
        with contextlib.suppress(OSError):
            while True:
                os.write(handle, bytes(4096))
    finally:
        os.close(handle)


def newer(store: CheckpointStore, iteration: int) -> bool:
    return max(store.list()) > iteration


def waits(run: Path) -> bool:
    """Whether a shard that does not fit is being written again and again: nothing new comes."""
    count = shards(run)
    time.sleep(3.0)
    return shards(run) == count


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_a_run_waits_for_space_and_goes_on(
    small_disk: Path, workers: int, record_property: Record
) -> None:
    run, ballast = small_disk / "run", small_disk / "ballast"
    process = start(run, f"selfplay.workers={workers}")
    try:
        until(lambda: shards(run) > 1)
        fill(ballast)
        until(lambda: waits(run), 60.0)
        assert process.poll() is None
        before = shards(run)
        time.sleep(0.3)  # it tries once a second, and `waits` has its beat
        ballast.unlink()
        back = until(lambda: shards(run) > before, BACK_SECONDS)
    finally:
        process.send_signal(signal.SIGINT)
        said = "".join(process.communicate(timeout=60))
    assert process.returncode == 130
    for number in range(workers):
        assert said.count(f"the disk is full; self-play worker {number} waits") <= 1
    assert "the disk is full" in said and "Traceback" not in said
    for path in (run / "replay").glob("*.zshard"):
        read_shard(path)
    assert not list((run / "replay").glob(".*"))
    record_property(f"{workers} workers: shards again after (s)", f"{back:.1f}")


@pytest.mark.slow
def test_checkpoints_metrics_and_the_log_wait_or_do_without(
    small_disk: Path, record_property: Record
) -> None:
    run, ballast = small_disk / "run", small_disk / "ballast"
    # A repeatable run also saves the games under way with every iteration.
    repeatable = ("selfplay.workers=1", "loop.mode=alternate")
    process = start(run, "loop.samples_per_iteration=300", *repeatable)
    checkpoints = run / "checkpoints"
    try:
        until(lambda: checkpoints.exists() and len(list(checkpoints.glob("0*"))) > 1)
        for _ in range(3):  # whatever it was writing just then
            fill(ballast)
            until(lambda: waits(run), 60.0)
            assert process.poll() is None
            store = CheckpointStore(checkpoints, read_only=True)
            before = max(store.list())
            assert store.list() and all(store.verify(one) == "" for one in store.list())
            ballast.unlink()
            back = until(partial(newer, store, before), 60.0)
    finally:
        process.send_signal(signal.SIGINT)
        said = "".join(process.communicate(timeout=60))
    assert process.returncode == 130
    assert "Traceback" not in said
    newest = CheckpointStore(checkpoints).newest()
    assert newest is not None and "selfplay.bin" in newest.manifest.files
    lines = [entry["iteration"] for entry in read_metrics(run / "metrics")]
    assert lines == list(range(1, newest.iteration + 1))
    assert not list(run.rglob(".*"))
    record_property("tried", 3)
    record_property("a whole iteration more after (s)", f"{back:.1f}")
