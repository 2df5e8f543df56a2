"""A disk of 8 MB that is really full; needs the right to mount one."""

from __future__ import annotations

import signal
import subprocess
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


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_a_run_waits_for_space_and_goes_on(small_disk: Path, workers: int) -> None:
    run, ballast = small_disk / "run", small_disk / "ballast"
    process = start(run, f"selfplay.workers={workers}")
    try:
        until(lambda: shards(run) > 1)
        with ballast.open("wb") as file:
            try:
                while file.write(bytes(4096)):
                    file.flush()
            except OSError:
                pass
        before = {path.name for path in (run / "replay").glob("*.zshard")}
        until(lambda: "the disk is full" in (run / "log.txt").read_text(), 60.0) if (
            run / "log.txt"
        ).stat().st_size else None
        assert process.poll() is None
        ballast.unlink()
        until(lambda: shards(run) > len(before), 60.0)
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    assert process.returncode == 130
    for path in (run / "replay").glob("*.zshard"):
        read_shard(path)
    assert not list((run / "replay").glob(".*"))
