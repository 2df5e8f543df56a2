"""Yardsticks of the loop: each checkpoint is measured once, before or while the run goes on."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from tiny_runs import KilledError, RecordingView, config

from zermelo.errors import UserError
from zermelo.loop import Run, Stop, run_loop
from zermelo.train import read_metrics


def test_evaluation_hooks_get_each_new_checkpoint_and_their_figures_are_kept(
    tmp_path: Path,
) -> None:
    met: list[int] = []

    def yardstick(checkpoint: Any, run: Run) -> dict[str, Any]:
        met.append(checkpoint.iteration)
        assert checkpoint.weights().architecture.game == "tictactoe"
        return {"strength": 10 * checkpoint.iteration, "notes": ["one opponent is gone"]}

    run = Run.create(tmp_path / "run", config(evaluate={"every": 2}, loop={"iterations": 2}))
    view = RecordingView()
    run_loop(run, Stop(), view, [yardstick])
    assert met == [2]
    assert "one opponent is gone" in view.notes
    entries = read_metrics(tmp_path / "run" / "metrics")
    assert [entry.get("evaluate") for entry in entries] == [None, {"strength": 20}]


def test_a_run_killed_while_it_is_measured_keeps_its_figures_and_is_measured_when_it_goes_on(
    tmp_path: Path,
) -> None:
    met: list[int] = []

    def killed(*_: object) -> dict[str, Any]:
        raise KilledError

    def measured(*_: object) -> dict[str, Any]:
        met.append(1)
        return {"strength": 3}

    path = tmp_path / "run"
    run = Run.create(path, config(evaluate={"every": 1}, loop={"iterations": 1}))
    with pytest.raises(KilledError):
        run_loop(run, Stop(), RecordingView(), [killed])
    (before,) = read_metrics(path / "metrics")
    assert "evaluate" not in before
    for _ in range(2):  # the second time there is nothing to measure
        run_loop(Run.open(path), Stop(), RecordingView(), [measured])
        assert read_metrics(path / "metrics") == [before | {"evaluate": {"strength": 3}}]
    assert met == [1]


def test_a_yardstick_that_fails_meanwhile_ends_the_run_as_it_does_otherwise(tmp_path: Path) -> None:
    def yardstick(checkpoint: Any, run: Run) -> dict[str, Any]:
        raise UserError("the opponent has gone")

    run = Run.create(tmp_path / "run", config(evaluate={"meanwhile": True}))
    with pytest.raises(UserError, match="the opponent has gone"):
        run_loop(run, Stop(), RecordingView(), [yardstick])


def test_a_run_that_is_stopped_does_not_wait_for_yardsticks(tmp_path: Path) -> None:
    path = tmp_path / "run"
    stop = Stop()

    def yardstick(checkpoint: Any, run: Run) -> dict[str, Any]:
        while True:
            stop.check()
            time.sleep(0.01)

    run = Run.create(path, config(evaluate={"meanwhile": True}))
    view = RecordingView((1, "training"), lambda: stop.request("interrupted"))
    found = run_loop(run, stop, view, [yardstick])
    assert (found["stopped"], found["iteration"]) == ("interrupted", 1)
    run_loop(Run.open(path), Stop(), RecordingView(), [lambda *_: {"strength": 1}])
    assert all(entry["evaluate"] == {"strength": 1} for entry in read_metrics(path / "metrics"))
