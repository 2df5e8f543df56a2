"""A run's metrics as viewers see them: quick, whole, and undisturbed by what is odd."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zermelo.runs.figures import MOST_TAGS, Figures
from zermelo.runs.series import MOST, TAIL, Series
from zermelo.train.metrics import MetricsWriter


def written(path: Path, *entries: Any) -> Path:
    with (path / "metrics.jsonl").open("a") as file:
        for entry in entries:
            file.write((entry if isinstance(entry, str) else json.dumps(entry)) + "\n")
    return path


def loss(iteration: int, value: Any) -> dict[str, Any]:
    return {"iteration": iteration, "train": {"training": {"loss": value}}}


@given(
    st.lists(st.integers(-1000, 1000), min_size=1, max_size=400),
    st.integers(1, 40),
    st.integers(1, 50),
)
def test_a_thinned_series_keeps_its_extremes_its_mean_and_its_end(
    values: list[int], times: int, most: int
) -> None:
    values = values * times
    series = Series()
    for x, y in enumerate(values):
        series.add(float(x), float(y))
    found = series.points(most)
    assert len(found["x"]) <= most
    assert min(found["low"]) == min(values)
    assert max(found["high"]) == max(values)
    assert found["x"] == sorted(found["x"])
    assert found["x"][-1] == len(values) - 1
    groups = zip(found["low"], found["mean"], found["high"], strict=True)
    assert all(low <= mean <= high for low, mean, high in groups)
    assert series.last == values[-1]
    assert series.count == len(values)


def test_a_long_series_takes_no_more_room_than_a_short_one() -> None:
    series = Series()
    for x in range(300_000):
        series.add(float(x), 5.0 if x == 123_456 else 1.0)
    found = series.points(10**9)
    assert MOST / 2 <= len(found["x"]) <= MOST + 2 * TAIL
    assert max(found["high"]) == 5.0
    assert sum(found["mean"]) / len(found["mean"]) == pytest.approx(1.0, abs=0.1)


def test_a_short_series_is_as_it_was() -> None:
    series = Series()
    for x in (1.0, 2.0, 5.0):
        series.add(x, x / 2)
    same = [0.5, 1.0, 2.5]
    assert series.points() == {"x": [1.0, 2.0, 5.0], "mean": same, "low": same, "high": same}
    assert Series().points()["x"] == []


def test_lines_are_read_once_and_the_rest_when_it_comes(tmp_path: Path) -> None:
    written(tmp_path, loss(1, 3.0), loss(2, 2.0))
    figures = Figures(tmp_path)
    assert figures.look()
    assert figures.points("train/training/loss", 9)["mean"] == [3.0, 2.0]  # type: ignore[index]
    assert not figures.look()
    with (tmp_path / "metrics.jsonl").open("a") as file:
        text = json.dumps(loss(3, 1.0))
        file.write(text[:10])
        file.flush()
        assert not figures.look()
        file.write(text[10:] + "\n")
    assert figures.look()
    assert (figures.iteration, figures.lines) == (3, 3)
    assert figures.series["train/training/loss"].last == 1.0


def test_a_run_that_goes_back_begins_anew(tmp_path: Path) -> None:
    with MetricsWriter(tmp_path, tensorboard=False) as writer:
        for iteration in (1, 2, 3):
            writer.write(iteration, {"loss": 1.0 / iteration})
    figures = Figures(tmp_path)
    figures.look()
    assert figures.points("loss", 9)["x"] == [1, 2, 3]  # type: ignore[index]
    with MetricsWriter(tmp_path, 1, tensorboard=False) as writer:
        writer.write(2, {"loss": 0.25})
    assert figures.look()
    assert figures.points("loss", 9)["mean"] == [1.0, 0.25]  # type: ignore[index]
    os.remove(tmp_path / "metrics.jsonl")
    assert figures.look()
    assert figures.series == {}


def test_late_yardsticks_belong_to_their_iteration(tmp_path: Path) -> None:
    written(tmp_path, loss(1, 3.0), loss(2, 2.0))
    written(tmp_path, {"iteration": 1, "time": 1.5, "evaluate": {"ladder.elo": 40.0}})
    figures = Figures(tmp_path)
    figures.look()
    assert figures.points("evaluate/ladder.elo", 9)["x"] == [1.0]  # type: ignore[index]
    assert figures.last["iteration"] == 2
    assert figures.evaluated == {"ladder.elo": 40.0, "iteration": 1}


@pytest.mark.parametrize(
    "line",
    [
        "", "{", "[1]", "null", '"text"', "\x00\x01", '{"iteration": true}', '{"iteration": -1}',
        '{"iteration": 1.5}', '{"loss": 1}', "[" * 100_000, '{"iteration": 1e400}',
    ],
)  # fmt: skip
def test_odd_lines_are_left_out(tmp_path: Path, line: str) -> None:
    written(tmp_path, loss(1, 3.0), line, loss(2, 2.0))
    figures = Figures(tmp_path)
    figures.look()
    assert figures.points("train/training/loss", 9)["x"] == [1.0, 2.0]  # type: ignore[index]
    assert figures.odd == 1


def test_odd_values_are_left_out(tmp_path: Path) -> None:
    for value in ("NaN", "Infinity", "1" + "0" * 400, "true", "null", '"1"', "[1]"):
        written(tmp_path, f'{{"iteration": 1, "loss": {value}}}')
    written(tmp_path, '{"iteration": 2, "loss": 0.5}')
    deep = "{" + '"a":{' * 500 + "}" * 501
    written(tmp_path, f'{{"iteration": 3, "deep": {deep}}}')
    written(tmp_path, {"iteration": 4} | {f"tag{i}": i for i in range(2 * MOST_TAGS)})
    figures = Figures(tmp_path)
    figures.look(5.0)
    assert figures.points("loss", 9)["mean"] == [0.5]  # type: ignore[index]
    assert len(figures.series) == MOST_TAGS


def test_a_look_at_a_long_file_ends_in_time_and_goes_on(tmp_path: Path) -> None:
    line = json.dumps({"iteration": 7, "text": "x" * 4000, **{f"t{i}": i / 7 for i in range(80)}})
    with (tmp_path / "metrics.jsonl").open("w") as file:
        for _ in range(4000):
            file.write(line + "\n")
    figures = Figures(tmp_path)
    began = time.monotonic()
    figures.look(0.01)
    assert time.monotonic() - began < 1.0
    assert figures.unread > 0
    looks = 0
    while figures.unread:
        figures.look(0.05)
        looks += 1
    assert looks > 1
    assert figures.lines == 4000
