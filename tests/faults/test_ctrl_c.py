"""Ctrl-C as impatient people press it: a second one ends at once, whenever it comes."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from harmed_runs import children, is_running, shards, start, until


def test_three_quick_ones_end_training_at_once(tmp_path: Path) -> None:
    run = tmp_path / "run"
    process = start(run)
    until(lambda: len(list(children(process.pid))) == 2)
    time.sleep(0.3)
    workers = list(children(process.pid))
    for _ in range(3):
        process.send_signal(signal.SIGINT)
        time.sleep(0.01)
    process.communicate(timeout=10)
    assert process.returncode == 130
    until(lambda: not any(map(is_running, workers)), 10.0)


def test_a_second_one_ends_a_training_that_is_stopping(tmp_path: Path) -> None:
    run = tmp_path / "run"
    process = start(run)
    until(lambda: shards(run) > 0)
    workers = list(children(process.pid))
    for worker in workers:
        subprocess.run(["kill", "-STOP", str(worker)], check=True)  # so that stopping takes long
    process.send_signal(signal.SIGINT)
    time.sleep(1.0)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    began = time.monotonic()
    process.communicate(timeout=10)
    assert time.monotonic() - began < 3.0
    assert process.returncode == 130
    until(lambda: not any(map(is_running, workers)), 10.0)


@pytest.mark.parametrize("after", [0.2, 1.0])
def test_one_while_modules_are_imported_shows_no_traceback(after: float) -> None:
    code = (
        "import sys, zermelo.cli as cli; print('in', flush=True); "
        "sys.exit(cli.main(['train', 'no such game']))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(after)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert "Traceback" not in said
