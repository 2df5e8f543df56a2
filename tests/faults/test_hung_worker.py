"""A self-play process that hangs: noticed, said, replaced; and a network that does not answer."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from channels import pair
from harmed_runs import children, is_running, shards, start, until

from zermelo.processes.pulse import ALIVE, beat
from zermelo.selfplay import local_pool
from zermelo.selfplay.local_pool import LocalPool


def test_a_stopped_worker_is_replaced_and_ctrl_c_does_not_wait_for_one(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    run = tmp_path / "run"
    process = start(run)
    try:
        until(lambda: shards(run) > 1)
        before = list(children(process.pid))
        os.kill(before[0], signal.SIGSTOP)
        took = until(lambda: not is_running(before[0]), 60.0)
        assert took < 15.0 + 10.0  # a busy machine's share
        record_property("a stopped worker was replaced after (s)", f"{took:.1f}")
        until(lambda: len(list(children(process.pid))) == 2)
        assert "gave no sign of life" in (run / "log.txt").read_text()
        stopped = before[1]
        os.kill(stopped, signal.SIGSTOP)
    finally:
        process.send_signal(signal.SIGINT)
        began = time.monotonic()
        process.communicate(timeout=60)
    assert process.returncode == 130
    took = time.monotonic() - began
    assert took < 10.0
    record_property("Ctrl-C beside a stopped worker (s)", f"{took:.1f}")
    assert not is_running(stopped)


def test_signs_of_life_come_while_work_takes_long() -> None:
    ours, theirs = pair()
    beat(theirs, lambda: 42.0)
    assert ours.receive(10.0) == {ALIVE: 42.0}
    theirs.close()
    ours.close()


def test_a_network_that_does_not_answer_is_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []

    class Setup:
        workers = 1
        report = staticmethod(said.append)

    setup: Any = Setup()
    pool = LocalPool(setup)
    worker = local_pool._Worker(3, child=None)  # type: ignore[arg-type]
    for seconds in (1.0, 31.0, 33.0, 0.1, 40.0):
        pool._note_stuck(worker, seconds)
    assert len(said) == 2
    assert "worker 3" in said[0] and "does not answer" in said[0]
