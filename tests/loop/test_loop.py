"""The loop: it learns from its own games, stops, goes on, and repeats itself bit for bit."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_runs import KilledError, RecordingView, all_samples, config, final_files, train

from zermelo.doctor.diagnose import ILL, Finding
from zermelo.errors import UserError
from zermelo.loop import Run, Stop, run_loop
from zermelo.loop.cycle import Loop
from zermelo.loop.orders import samples_wanted
from zermelo.runs.status import Status, read_status
from zermelo.train import read_metrics


def kill() -> None:
    raise KilledError


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repeatable run that nobody disturbed."""
    path = tmp_path_factory.mktemp("runs") / "whole"
    found = train(path)
    assert found["repeatable"]
    assert (found["stopped"], found["iteration"]) == ("done", 3)
    return path


def test_a_run_plays_trains_and_keeps_figures_of_every_iteration(whole: Path) -> None:
    entries = read_metrics(whole / "metrics")
    assert [entry["iteration"] for entry in entries] == [1, 2, 3]
    for entry in entries:
        assert entry["selfplay"]["samples"] >= 150
        shares = [entry["selfplay"][f"{who}_share"] for who in ("first_win", "draw", "second_win")]
        assert sum(shares) == pytest.approx(1)
        assert 5 <= entry["selfplay"]["mean_plies"] <= 9
        assert 0 < entry["selfplay"]["unique_games_share"] <= 1
        assert 0 < entry["selfplay"]["cache_hit_share"] < 1
        assert entry["train"]["training"]["loss"] > 0
        assert entry["resign"]["resign_threshold"] == -1.0  # too few noted games
        assert entry["window"]["newest_iteration"] == entry["iteration"] - 1
    assert [e["window"]["oldest_iteration"] for e in entries] == [0, 0, 1]
    assert not list(whole.rglob("*.tmp"))
    assert not list((whole / "selfplay").iterdir())


@pytest.mark.technique("P7")
def test_samples_tell_which_network_made_them(whole: Path) -> None:
    for name, samples in all_samples(whole).items():
        iteration = int(name[2:8])
        # Games go on when the network changes, so a shard may begin with older samples.
        assert samples.iterations.max() == iteration
        assert samples.iterations.min() >= max(0, iteration - 1)


def test_the_same_seed_gives_the_same_run_bit_for_bit(whole: Path, tmp_path: Path) -> None:
    train(tmp_path / "again")
    assert final_files(tmp_path / "again") == final_files(whole)
    ours, theirs = all_samples(tmp_path / "again"), all_samples(whole)
    assert list(ours) == list(theirs)
    for name, samples in ours.items():
        for column, values in samples.columns().items():
            assert np.array_equal(values, getattr(theirs[name], column)), (name, column)


def test_another_seed_gives_another_run(whole: Path, tmp_path: Path) -> None:
    train(tmp_path / "other", loop={"seed": 6, "iterations": 1})
    assert final_files(tmp_path / "other", 1) != final_files(whole, 1)


@pytest.mark.technique("T14")
@pytest.mark.parametrize(
    "at",
    [(0, "saving"), (1, "self-play"), (1, "training"), (2, "training"), (2, "saving")],
    ids=str,
)
def test_a_run_killed_at_any_stage_ends_like_one_that_was_not(
    whole: Path, tmp_path: Path, at: tuple[int, str]
) -> None:
    path = tmp_path / "killed"
    with pytest.raises(KilledError):
        train(path, RecordingView(at, kill))
    found = train(path)
    assert found["iteration"] == 3
    assert final_files(path) == final_files(whole)
    assert list(all_samples(path)) == list(all_samples(whole))
    assert [entry["iteration"] for entry in read_metrics(path / "metrics")] == [1, 2, 3]


def test_only_the_training_is_repeated_when_only_that_was_interrupted(tmp_path: Path) -> None:
    path = tmp_path / "run"
    with pytest.raises(KilledError):
        train(path, RecordingView((1, "training"), kill), loop={"iterations": 2})
    before = {shard: (path / "replay" / shard).stat().st_mtime_ns for shard in all_samples(path)}
    view = RecordingView()
    train(path, view)
    assert (1, "self-play") not in view.stages
    after = {shard: (path / "replay" / shard).stat().st_mtime_ns for shard in all_samples(path)}
    assert after == before


def test_a_killed_worker_is_replaced_and_changes_nothing(whole: Path, tmp_path: Path) -> None:
    path = tmp_path / "run"
    run = Run.create(path, config())
    seen: list[int] = []

    def kill_worker() -> None:
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit() or children_of(int(entry.name)) != os.getpid():
                continue
            if b"zermelo.selfplay.worker" in (entry / "cmdline").read_bytes():
                os.kill(int(entry.name), signal.SIGKILL)
                seen.append(int(entry.name))

    view = RecordingView((1, "self-play"), kill_worker)
    found = run_loop(run, Stop(), view)
    assert len(seen) == 1
    assert found["worker_deaths"] == 1
    assert any("killed by signal 9" in note for note in view.notes)
    assert final_files(path) == final_files(whole)


def children_of(process: int) -> int:
    """The parent of a process; 0 if it has gone."""
    try:
        return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


@pytest.mark.technique("T8")
@pytest.mark.parametrize("mode", ["alternate", "together"])
def test_several_workers_share_the_iterations(tmp_path: Path, mode: str) -> None:
    path = tmp_path / "run"
    view = RecordingView()
    found = train(
        path, view, selfplay={"workers": 2}, loop={"mode": mode, "samples_per_iteration": 600}
    )
    assert (found["iteration"], found["workers"], found["repeatable"]) == (3, 2, False)
    assert {name.split("-")[1] for name in all_samples(path)} == {"w00", "w01"}
    assert any("of 600 samples" in what for what in view.activities)
    again = Run.open(path)
    again.change({"loop": {"iterations": 4}})
    assert run_loop(again, Stop(), RecordingView())["iteration"] == 4


@pytest.mark.technique("T8")
def test_the_time_limit_stops_between_games_and_the_run_goes_on(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", config(loop={"samples_per_iteration": 10_000_000}))
    found = run_loop(run, Stop(3.0), RecordingView())
    assert found["stopped"] == "the time is over"
    assert found["iteration"] == 0
    with pytest.raises(UserError, match="game"):
        run.change({"game": {"name": "connect4"}})


def test_yardsticks_that_measure_meanwhile_end_late_and_keep_their_figures_all_the_same(
    whole: Path, tmp_path: Path
) -> None:
    path = tmp_path / "run"
    view = RecordingView()
    trained: list[list[int]] = []

    def yardstick(checkpoint: Any, run: Run) -> dict[str, Any]:
        before, until = checkpoint.iteration, time.monotonic() + 60
        while (before, "self-play") not in view.stages and before < 3 and time.monotonic() < until:
            time.sleep(0.01)  # the next iteration is played before this ends
        trained.append([entry["iteration"] for entry in read_metrics(run.metrics)])
        return {"random.score": before / 10, "notes": [f"{before} was met"]}

    run = Run.create(path, config(evaluate={"meanwhile": True}))
    run_loop(run, Stop(), view, [yardstick])
    assert [entry["evaluate"]["random.score"] for entry in read_metrics(path / "metrics")] == [
        0.1, 0.2, 0.3,
    ]  # fmt: skip
    assert [lines[-1] for lines in trained] == [1, 2, 3]
    assert [note for note in view.notes if "measured" in note or "met" in note] == [
        "1 was met", "iteration 1 measured: random 10%",
        "2 was met", "iteration 2 measured: random 20%",
        "3 was met", "iteration 3 measured: random 30%",
    ]  # fmt: skip
    assert final_files(path) == final_files(whole)


def test_a_second_process_on_a_run_is_refused_with_the_first_ones_number(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", config())
    code = (
        "import sys, pathlib, zermelo.loop; zermelo.loop.Run.open(pathlib.Path(sys.argv[1])).lock()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, run.path],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 1
    assert f"is in use by process {os.getpid()}" in done.stderr
    run.unlock()
    Run.open(run.path).lock()


def test_what_auto_took_is_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zermelo.network.measure.AUTO_SECONDS", 0.02)
    view = RecordingView()
    train(tmp_path / "run", view, selfplay={"precision": "auto"}, loop={"iterations": 1})
    assert [note for note in view.notes if note.startswith("auto: openvino ")]


def test_a_worker_that_cannot_work_stops_the_run_with_its_reason(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", config(selfplay={"backend": "onnx", "precision": "int8"}))
    with pytest.raises(UserError, match="int8 is there with the backend openvino only"):
        run_loop(run, Stop(), RecordingView())
    told = read_status(run.path)
    assert told is not None
    assert "int8 is there with the backend openvino only" in told.ended


def test_a_run_file_that_was_spoiled_meanwhile_does_not_end_the_run(tmp_path: Path) -> None:
    path = tmp_path / "run"

    def spoil() -> None:
        (path / "run.toml").write_text("[search]\nc_pukt = 1\n")

    view = RecordingView((0, "training"), spoil)
    heard: list[str] = []
    view.finished = lambda status: heard.append(status.health)  # type: ignore[method-assign]
    assert train(path, view, loop={"iterations": 1})["iteration"] == 1
    assert len(heard) == 1
    assert heard[0].startswith("unknown: ")
    assert "c_pukt" in heard[0]


def test_a_run_file_that_was_removed_meanwhile_is_written_again(tmp_path: Path) -> None:
    path = tmp_path / "run"
    view = RecordingView((0, "training"), (path / "run.toml").unlink)
    train(path, view, loop={"iterations": 1})
    assert Run.open(path).config.game_name == "tictactoe"
    assert "had gone and was written again" in (path / "log.txt").read_text()


def test_an_output_that_nobody_reads_is_named_as_the_reason(tmp_path: Path) -> None:
    def close() -> None:
        raise BrokenPipeError(32, "Broken pipe")

    with pytest.raises(BrokenPipeError):
        train(tmp_path / "run", RecordingView((0, "training"), close), loop={"iterations": 1})
    assert "nobody reads what it says any more" in (tmp_path / "run" / "log.txt").read_text()


class WatchingView(RecordingView):
    """Reads the run's status as another process would."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self.seen: list[Status] = []

    def update(self, status: Status) -> None:
        super().update(status)
        told = read_status(self.path)
        if told is not None:
            self.seen.append(told)


def test_a_run_under_way_tells_other_processes_what_it_does_and_at_the_end_why_it_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zermelo.runs.status.WRITE_EVERY", 0.0)
    monkeypatch.setattr("zermelo.loop.report.LOOK_EVERY", 0.0)
    view = WatchingView(tmp_path / "run")
    train(view.path, view, loop={"iterations": 2})
    assert all(told.alive and told.process == os.getpid() and not told.ended for told in view.seen)
    stages = {(told.iteration, told.stage) for told in view.seen}
    assert {(0, "self-play"), (0, "training"), (0, "saving"), (1, "training")} <= stages
    playing = [told for told in view.seen if told.stage == "self-play"]
    assert {told.target for told in playing} == {150}
    assert any(told.states == ["playing"] for told in playing)
    assert playing[-1].memory > 10 << 20
    assert playing[-1].seconds_left is not None
    steps = [told for told in view.seen if told.stage == "training"]
    assert all(told.loss is not None and told.step <= told.steps for told in steps)
    ended = read_status(view.path)
    assert ended is not None
    assert (ended.ended, ended.alive, ended.iteration, ended.states) == ("done", False, 2, [])


def test_a_status_that_cannot_be_written_does_not_disturb_the_run(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", config(loop={"iterations": 1}))
    (run.path / "status.json" / "in the way").mkdir(parents=True)
    assert run_loop(run, Stop(), RecordingView())["iteration"] == 1
    assert read_status(run.path) is None


def begun(path: Path, **changes: Any) -> Loop:
    """A loop that has its files open and does nothing."""
    return Loop(Run.create(path, config(**changes)), Stop(), RecordingView())


def test_a_failing_check_is_an_unknown_health(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise KeyError("games")

    monkeypatch.setattr("zermelo.loop.measure.diagnose", fail)
    loop = begun(tmp_path / "run")
    loop.measurer.examine()
    assert loop.report.status.health == "unknown: KeyError: 'games'"


def test_the_health_is_there_after_a_resume_and_noted_when_its_first_fault_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run"
    train(path, loop={"iterations": 1})
    window, search = (
        Finding(name, ILL, 1.0, f"the {name} is bad", "Mend it.") for name in ("window", "search")
    )
    found = [window]
    monkeypatch.setattr("zermelo.loop.measure.diagnose", lambda *_, **__: found)
    view = RecordingView()
    run = Run.open(path)
    run.lock()
    loop = Loop(run, Stop(), view)
    loop.begin()
    assert loop.report.status.health == "window: the window is bad"
    noted = f"health: window: the window is bad; zermelo doctor {path}"
    assert view.notes[0] == noted
    loop.measurer.examine()  # the same again is not said again
    found[:] = [window, search]
    loop.measurer.examine()
    found[:] = [search]
    loop.measurer.examine()
    notes = [note for note in view.notes if note.startswith("health: ")]
    assert notes == [noted, f"health: search: the search is bad; zermelo doctor {path}"]


def test_a_threshold_of_ones_own_counts_from_the_next_order_on(tmp_path: Path) -> None:
    loop = begun(tmp_path / "run")
    loop.begin()
    assert loop.collector.orders.order(loop.checkpoint, 0, 100).resign_threshold == -1.0
    own = {"resign_calibrated": False, "resign_threshold": -0.8}
    loop.run_directory.change({"selfplay": own})
    assert loop.collector.orders.order(loop.checkpoint, 0, 100).resign_threshold == -0.8


@pytest.mark.technique("T8")
@pytest.mark.parametrize(
    ("share", "before", "wanted"),
    [(0.0, 50, 100), (0.5, 180, 90), (0.5, 60, 50), (0.5, 1, 50), (2.0, 30, 60), (1.0, 500, 100)],
)
def test_a_share_of_the_samples_before_does_not_shrink_from_iteration_to_iteration(
    share: float, before: int, wanted: int
) -> None:
    options = {"samples_per_iteration": 100, "samples_share": share}
    assert samples_wanted(config(loop=options).loop, 3, before) == wanted


@pytest.mark.technique("T11")
def test_a_part_of_the_window_is_trained_on_when_samples_are_to_be_reused_less(
    tmp_path: Path,
) -> None:
    train(tmp_path / "less", train={"reuse": 1.0, "batch": 16}, replay={"deduplicate": False})
    for row in read_metrics(tmp_path / "less" / "metrics"):
        assert row["train"]["steps"] == round(row["selfplay"]["samples"] / 16)
    assert row["window"]["samples"] > row["selfplay"]["samples"]
