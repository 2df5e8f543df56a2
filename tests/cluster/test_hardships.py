"""Two nodes under hardship: a full disk at the owner, a node at a quarter of its speed."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

if importlib.util.find_spec("ray") is None:
    pytest.skip("'ray' is not installed: zermelo[cluster]", allow_module_level=True)

from clusters import family, machines
from test_kills import Patient, Record

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "disk"
    place.mkdir()
    try:
        command = ["mount", "-t", "tmpfs", "-o", "size=24m", "none", str(place)]
        done = subprocess.run(command, capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no `mount` here")
    if done.returncode:
        pytest.skip("no right to mount a small disk")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=False)


def test_a_full_disk_at_the_owner_holds_the_run_up_until_there_is_room(
    small_disk: Path, tmp_path: Path
) -> None:
    ballast = small_disk / "ballast"
    with machines(1, 1) as there, (tmp_path / "log.txt").open("wb") as log:
        patient = Patient(small_disk / "run", there, log)
        try:
            patient.wait_until(lambda: patient.playing(2))
            with ballast.open("wb", buffering=0) as file, suppress(OSError):
                while file.write(bytes(4096)):
                    pass
            time.sleep(6.0)
            patient.look()
            time.sleep(6.0)
            full = patient.finished
            patient.look()
            assert patient.finished == full  # nothing half written, nothing new
            assert patient.driver.poll() is None
            assert len(patient.nodes()) == 2
            ballast.unlink()
            patient.plays_on()
            patient.look()
            assert full < patient.finished
            assert patient.end()["selfplay"]["cluster"]["actors_lost"] == 0
        finally:
            patient.driver.kill()
            patient.driver.wait()
    said = [line for line in (tmp_path / "log.txt").read_text().splitlines() if "full" in line]
    assert said and all(line.startswith("the disk is full: ") for line in said), said
    assert len(said) <= 2  # samples, and what the driver saves


@contextmanager
def slowed(pids: list[int], share: float) -> Iterator[None]:
    """They run in that share of the time: stopped and let go ten times a second."""
    over = threading.Event()

    def send(number: int) -> None:
        for pid in pids:
            with suppress(OSError):
                os.kill(pid, number)

    def work() -> None:
        while not over.wait(share / 10):
            send(signal.SIGSTOP)
            over.wait((1 - share) / 10)
            send(signal.SIGCONT)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        send(signal.SIGCONT)


def test_nobody_waits_for_a_node_at_a_quarter_of_the_speed(
    tmp_path: Path, record_property: Record
) -> None:
    """The other one goes on playing; the slow one is kept.

    An iteration lasts seconds, as in any run: a node needs part of a second for each new network,
    and one that got another before it had played a game would never play any.
    """
    with machines(1, 1) as there, (tmp_path / "log.txt").open("wb") as log:
        patient = Patient(tmp_path / "run", there, log, samples=10_000)
        try:
            patient.wait_until(lambda: patient.playing(2))
            with slowed(family(there.nodes[1].pid), 0.25):
                time.sleep(20.0)
                speeds = sorted(node["samples_per_second"] for node in patient.nodes())
                idle = [node["idle_share"] for node in patient.nodes()]
            assert len(speeds) == 2 and 0 < speeds[0] < speeds[1]
            assert min(idle) < 0.5
            told = patient.end()["selfplay"]["cluster"]
            assert (told["actors_lost"], told["nodes_lost"]) == (0, 0)
        finally:
            patient.driver.kill()
            patient.driver.wait()
    record_property("slow node's share of the other's speed", f"{speeds[0] / speeds[1]:.2f}")
