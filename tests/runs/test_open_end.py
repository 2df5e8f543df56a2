"""Runs that only their time ends, at first and whenever they go on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from zermelo.config.run_config import END
from zermelo.runs.describe import describe
from zermelo.runs.directory import Run
from zermelo.runs.opening import open_run

MY_GAME = str(Path(__file__).parents[2] / "examples" / "my_game.py")


@pytest.fixture(autouse=True)
def unmeasured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Automatic settings that are there at once."""

    def settings(*_: Any, **__: Any) -> Any:
        return {"loop": {"iterations": 100}}, []

    monkeypatch.setattr("zermelo.selfplay.automatic.automatic_settings", settings)


def opened(target: str, place: Path, *settings: str, time: float | None = None) -> Run:
    run = open_run(target, place, list(settings), time=time)
    run.unlock()
    return Run.open(run.path)


def test_a_longer_time_gives_a_run_that_goes_on_more_iterations(tmp_path: Path) -> None:
    place = tmp_path / "run"
    assert opened(MY_GAME, place, time=300.0).config.loop.iterations == 100
    assert opened(MY_GAME, place).config.loop.iterations == 100
    assert opened(MY_GAME, place, time=10_800.0).config.loop.iterations == 5400
    assert opened(MY_GAME, place, time=300.0).config.loop.iterations == 5400


def test_a_number_of_iterations_that_was_typed_stays(tmp_path: Path) -> None:
    typed = opened(MY_GAME, tmp_path / "typed", "loop.iterations=9", time=300.0)
    assert (typed.config.loop.iterations, END in typed.head) == (9, False)
    assert opened(str(typed.path), typed.path, time=10_800.0).config.loop.iterations == 9
    later = opened(MY_GAME, tmp_path / "later", time=300.0)
    assert opened(str(later.path), later.path, "iterations=100").config.loop.iterations == 100
    assert opened(str(later.path), later.path, time=10_800.0).config.loop.iterations == 100


def test_a_preset_keeps_its_iterations(tmp_path: Path) -> None:
    made = opened("tictactoe", tmp_path / "run", time=10_800.0)
    assert opened("tictactoe", made.path, time=10_800.0).config.loop.iterations == 12


def test_a_list_of_runs_does_not_count_to_a_number_that_nobody_chose(tmp_path: Path) -> None:
    timed = opened(MY_GAME, tmp_path / "timed", time=300.0)
    assert describe(timed.path)["iterations"] is None
    typed = opened(MY_GAME, tmp_path / "typed", "loop.iterations=9", time=300.0)
    assert describe(typed.path)["iterations"] == 9
