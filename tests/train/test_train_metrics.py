"""The metrics files of a run."""

from __future__ import annotations

import json
import math
import resource
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from zermelo.errors import UserError
from zermelo.train import MetricsWriter, read_metrics


def written(directory: Path, iterations: range, last: int | None = None) -> None:
    with MetricsWriter(directory, last, tensorboard=False) as writer:
        for iteration in iterations:
            writer.write(iteration, {"loss": 1.0 / (iteration + 1), "training": {"kl": 0.5}})


def iterations(directory: Path) -> list[int]:
    return [entry["iteration"] for entry in read_metrics(directory)]


def test_every_iteration_is_one_json_line(tmp_path: Path) -> None:
    with MetricsWriter(tmp_path / "metrics", tensorboard=False) as writer:
        entry = {"a": np.float32(0.5), "b": [1, np.int64(2)], "c": {"d": math.nan}, "e": None}
        writer.write(0, entry)
        writer.write(1, {"a": math.inf})
    lines = (tmp_path / "metrics" / "metrics.jsonl").read_text().splitlines()
    first, second = map(json.loads, lines)
    assert first.pop("time") > 1e9
    assert first == {"iteration": 0, "a": 0.5, "b": [1, 2], "c": {"d": None}, "e": None}
    assert second["a"] is None


def test_a_torn_last_line_is_left_out_and_then_replaced(tmp_path: Path) -> None:
    written(tmp_path, range(3))
    path = tmp_path / "metrics.jsonl"
    whole = path.read_bytes()
    for cut in range(1, 25):
        path.write_bytes(whole[:-cut])
        assert iterations(tmp_path) == [0, 1]
    written(tmp_path, range(2, 4))
    assert iterations(tmp_path) == [0, 1, 2, 3]
    assert len(path.read_bytes().splitlines()) == 4


def test_yardsticks_that_end_late_join_the_figures_of_their_iteration(tmp_path: Path) -> None:
    written(tmp_path, range(1, 3))
    with MetricsWriter(tmp_path, tensorboard=False) as writer:
        writer.write(1, {"evaluate": {"strength": 10}})
        writer.write(1, {"evaluate": {"solved": 0.5}})
        writer.write(3, {"loss": 0.1, "evaluate": {"strength": 30}})
        writer.write(2, {"evaluate": {"strength": 20}})
        writer.write(7, {"evaluate": {"strength": 70}})  # of an iteration whose line is lost
    entries = read_metrics(tmp_path)
    assert [entry["iteration"] for entry in entries] == [1, 2, 3]
    assert [entry["evaluate"]["strength"] for entry in entries] == [10, 20, 30]
    assert entries[0]["evaluate"] == {"strength": 10, "solved": 0.5}
    assert [entry["loss"] for entry in entries] == [1 / 2, 1 / 3, 0.1]
    assert len((tmp_path / "metrics.jsonl").read_bytes().splitlines()) == 7
    written(tmp_path, range(2, 3), last=1)  # what comes again takes its late line with it
    assert ["evaluate" in entry for entry in read_metrics(tmp_path)] == [True, False]


def test_going_on_from_a_checkpoint_drops_what_will_come_again(tmp_path: Path) -> None:
    written(tmp_path, range(6))
    written(tmp_path, range(4, 5), last=3)
    assert iterations(tmp_path) == [0, 1, 2, 3, 4]
    written(tmp_path, range(1), last=-1)
    assert iterations(tmp_path) == [0]
    assert [path.name for path in tmp_path.iterdir()] == ["metrics.jsonl"]


def test_reading_needs_no_file_and_passes_over_what_is_no_metric(tmp_path: Path) -> None:
    assert read_metrics(tmp_path) == []
    lines = ['{"iteration":0}', "[1]", "nonsense", '{"x":1}', '{"iteration":1}', "\0\0"]
    (tmp_path / "metrics.jsonl").write_text("\n".join(lines) + "\n")
    assert iterations(tmp_path) == [0, 1]


def test_a_line_that_does_not_fit_on_the_disk_leaves_no_trace(tmp_path: Path) -> None:
    written(tmp_path, range(2))
    before = (tmp_path / "metrics.jsonl").read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    with MetricsWriter(tmp_path, tensorboard=False) as writer:
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 20, limits[1]))
        try:
            with pytest.raises(UserError, match="metrics cannot be written to"):
                writer.write(2, {"loss": 1.0})
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert (tmp_path / "metrics.jsonl").read_bytes() == before
        writer.write(2, {"loss": 1.0})
    assert iterations(tmp_path) == [0, 1, 2]


def test_a_place_that_is_no_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match="metrics cannot be written"):
        MetricsWriter(tmp_path / "file", tensorboard=False)


def test_without_tensorboard_the_jsonl_is_written_and_it_is_said_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tensorboard.compat.proto", None)
    said: list[str] = []
    with MetricsWriter(tmp_path, report=said.append) as writer:
        writer.write(0, {"loss": 1.0})
        writer.write(1, {"loss": 1.0})
    assert iterations(tmp_path) == [0, 1]
    assert len(said) == 1 and "tensorboard is not installed" in said[0]


def events_of(directory: Path) -> dict[str, list[tuple[int, float]]]:
    accumulator: Any = pytest.importorskip(
        "tensorboard.backend.event_processing.event_accumulator",
        reason="tensorboard is not installed",
    )
    found = accumulator.EventAccumulator(str(directory))
    found.Reload()
    return {
        tag: [(event.step, event.value) for event in found.Scalars(tag)]
        for tag in found.Tags()["scalars"]
    }


def test_tensorboard_shows_the_numbers_by_tag_and_forgets_what_comes_again(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard", reason="tensorboard is not installed")
    metrics = {"loss": 2.0, "precision": "f32", "training": {"policy_kl": 0.5, "table": [1]}}
    with MetricsWriter(tmp_path) as writer:
        for iteration in range(3):
            writer.write(iteration, metrics)
    assert events_of(tmp_path) == {
        "loss": [(0, 2.0), (1, 2.0), (2, 2.0)],
        "training/policy_kl": [(0, 0.5), (1, 0.5), (2, 0.5)],
    }
    with MetricsWriter(tmp_path, last=0) as writer:
        writer.write(1, {"loss": 3.0})
    assert events_of(tmp_path)["loss"] == [(0, 2.0), (1, 3.0)]
