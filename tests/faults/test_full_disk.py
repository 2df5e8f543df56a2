"""A disk of 8 MB that is really full; needs the right to mount one."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from harmed_runs import shards, start, until

from zermelo.replay import read_shard


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


def waits(run: Path) -> bool:
    """Whether a shard that does not fit is being written again and again: nothing new comes."""
    count = shards(run)
    time.sleep(3.0)
    return shards(run) == count


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_a_run_waits_for_space_and_goes_on(small_disk: Path, workers: int) -> None:
    run, ballast = small_disk / "run", small_disk / "ballast"
    process = start(run, f"selfplay.workers={workers}")
    try:
        until(lambda: shards(run) > 1)
        fill(ballast)
        before = shards(run)
        until(lambda: waits(run), 60.0)
        assert process.poll() is None
        ballast.unlink()
        until(lambda: shards(run) > before, 60.0)
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    assert process.returncode == 130
    for path in (run / "replay").glob("*.zshard"):
        read_shard(path)
    assert not list((run / "replay").glob(".*"))
