"""What another process can know of a run that is under way, by `status.json` and the lock."""

from __future__ import annotations

import errno
import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from zermelo.cli import main
from zermelo.config import RunConfig
from zermelo.runs.describe import describe
from zermelo.runs.directory import Run
from zermelo.runs.status import Status, StatusFile, read_status


def made(path: Path) -> Run:
    """A run of ours, locked."""
    return Run.create(path, RunConfig.from_tables({"game": {"name": "tictactoe"}}))


def status(path: Path) -> Status:
    found = Status(str(path), "tictactoe", 10, 2, "alternate", iteration=3, stage="self-play")
    found.waiting_for, found.samples, found.target = "5 of 90 samples", 85, 90
    found.rates, found.health, found.memory = {"samples": 12.5}, "healthy", 300 << 20
    found.iteration_seconds, found.states = [60.0] * 9, ["playing", "paused"]
    return found


def test_the_status_of_a_run_can_be_read_while_it_is_locked_and_after_that(tmp_path: Path) -> None:
    run = made(tmp_path / "run")
    assert read_status(run.path) is None
    told = status(run.path)
    StatusFile(run.path).write(told)
    seen = read_status(run.path)
    assert seen is not None
    assert (seen.alive, seen.process) == (True, os.getpid())
    assert seen.seconds_left == 420
    assert seen.activity == "self-play, waiting for 5 of 90 samples"
    assert seen.written == pytest.approx(time.time(), abs=60)
    assert seen.elapsed == pytest.approx(told.elapsed, abs=60)
    for name in ("iteration", "iterations", "samples", "target", "rates", "health", "memory",
                 "states", "workers", "loss", "run", "game"):  # fmt: skip
        assert getattr(seen, name) == getattr(told, name), name
    run.unlock()
    seen = read_status(run.path)
    assert seen is not None
    assert not seen.alive


def test_a_status_of_another_process_than_the_one_that_has_the_lock_is_not_alive(
    tmp_path: Path,
) -> None:
    run = made(tmp_path / "run")
    told = status(run.path)
    told.process += 1
    StatusFile(run.path).write(told)
    seen = read_status(run.path)
    assert seen is not None
    assert not seen.alive
    told.process, told.ended = os.getpid(), "done"
    StatusFile(run.path).write(told)
    seen = read_status(run.path)
    assert seen is not None
    assert (seen.alive, seen.ended) == (False, "done")


def test_the_status_is_written_once_a_second_at_most_and_at_once_at_the_end(tmp_path: Path) -> None:
    file, told = StatusFile(tmp_path), status(tmp_path)
    for told.samples in (86, 87):
        file.write(told)
    assert json.loads(file.path.read_text())["samples"] == 86
    file.write(told, at_once=True)
    assert json.loads(file.path.read_text())["samples"] == 87
    assert [path.name for path in tmp_path.iterdir()] == ["status.json"]


def test_what_is_not_finite_is_null_and_a_long_run_does_not_make_a_long_file(
    tmp_path: Path,
) -> None:
    told = status(tmp_path)
    told.loss, told.iteration_seconds = float("nan"), [1.0] * 100_000
    StatusFile(tmp_path).write(told)
    text = (tmp_path / "status.json").read_text()
    assert len(text) < 2000
    assert json.loads(text, parse_constant=pytest.fail)["loss"] is None
    seen = read_status(tmp_path)
    assert seen is not None
    assert seen.seconds_left == 7


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"format": 1}', '{"format": 2}', "[" * 100_000, "\xff"]
)
def test_a_damaged_status_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "status.json").write_text(text, encoding="latin-1")
    assert read_status(tmp_path) is None


@pytest.mark.parametrize(
    "change",
    [
        {"samples": "many"},
        {"rates": []},
        {"loss": "low"},
        {"seconds": None},
        {"run": 1},
        {"iteration_seconds": [None]},
        {"rates": {"self-play": "fast"}},
        {"states": [1]},
        {"nodes": ["here"]},
        {"dashboard": ["here"]},
    ],
)
def test_a_status_with_other_types_is_none(tmp_path: Path, change: dict[str, Any]) -> None:
    (tmp_path / "status.json").write_text(json.dumps(status(tmp_path).to_json() | change))
    assert read_status(tmp_path) is None


def test_a_status_that_cannot_be_written_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "status.json" / "in the way").mkdir(parents=True)
    StatusFile(tmp_path).write(status(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["status.json"]  # nothing beside it

    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("zermelo.runs.status.write_whole", full)
    StatusFile(tmp_path).write(status(tmp_path))
    StatusFile(tmp_path / "nowhere").write(status(tmp_path))


def test_the_list_of_runs_says_what_one_under_way_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # a short name leaves room for the rest
    run = made(Path("run"))
    StatusFile(run.path).write(status(run.path))
    doing = "self-play, waiting for 5 of 90 samples"
    assert main(["runs", str(run.path)]) == 0
    assert f"running ({os.getpid()}): {doing}" in capsys.readouterr().out
    row = describe(run.path)
    assert (row["doing"], row["status"]["samples"]) == (doing, 85)
    assert main(["runs", str(run.path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["runs"][0]["status"]["states"] == [
        "playing",
        "paused",
    ]
    run.unlock()
    row = describe(run.path)
    assert (row["doing"], row["status"], row["process"]) == (None, None, 0)


def test_the_list_of_runs_has_the_last_rating(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = made(tmp_path / "run")
    found = {"performance.elo": 1742.0, "performance.low": 1650.0, "performance.high": 1830.0}
    lines = [{"iteration": 1}, {"iteration": 1, "evaluate": found}, {"iteration": 2}]
    run.metrics.mkdir(exist_ok=True)
    (run.metrics / "metrics.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    assert main(["runs", str(run.path)]) == 0
    assert "1,742 ± 90" in capsys.readouterr().out
    assert main(["runs", str(run.path), "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["runs"]
    assert row["performance"] == {"elo": 1742, "low": 1650, "high": 1830, "iteration": 1}
