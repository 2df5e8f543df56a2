"""`zermelo demo`: it learns, shows how much, and always ends, whoever is listening."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from zermelo.cli import demo, main
from zermelo.loop import Run, Stop

Captured = pytest.CaptureFixture[str]
TINY = """
[game]
name = "connect4"
[network]
blocks = 1
filters = 8
[selfplay]
simulations = 8
games = 8
workers = 1
[train]
batch = 32
threads = 1
[loop]
iterations = 2
samples_per_iteration = 100
[evaluate]
opponents = ""
positions = 20
simulations = 4
"""


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "tiny.toml"
    file.write_text(TINY)
    monkeypatch.setattr(demo, "PRESET", str(file))
    return tmp_path / "run"


def test_it_learns_shows_the_curve_and_offers_a_game(
    tiny: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("4\nquit\n"))
    assert main(["demo", "--for", "60s", "--run", str(tiny)]) == 0
    shown = capsys.readouterr().out
    assert "Share of moves that keep what the position is worth" in shown
    assert "with search" in shown and "network alone" in shown
    assert "Your turn" in shown
    assert "Goodbye; the game is not finished." in shown


def test_it_goes_on_with_its_run_and_ends_when_nobody_answers(
    tiny: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", None)
    for _ in range(2):
        assert main(["demo", "--for", "1s", "--run", str(tiny)]) == 0
        assert "Your turn: zermelo play connect4" in capsys.readouterr().out


def test_an_interrupted_demo_shows_what_it_has_and_ends_as_interrupted(
    tiny: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(run: Run, stop: Stop, *_: Any) -> None:
        run.metrics.mkdir()
        lines = [{"iteration": 1, "seconds": 1.0, "pretrain": {}}]  # which plays no games
        lines.append({"iteration": 2, "seconds": 60.0, "selfplay": {"games": 77}})
        lines[1]["evaluate"] = {f"connect4.{k}keeps_value": 0.5 for k in ("", "policy_")}
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (run.metrics / "metrics.jsonl").write_text(text)
        stop.request("interrupted")
        run.unlock()

    monkeypatch.setattr("zermelo.loop.run_loop", interrupted)
    monkeypatch.setattr("sys.stdin", io.StringIO("4\nquit\n"))
    assert main(["demo", "--run", str(tiny)]) == 130
    shown = capsys.readouterr().out
    assert "77" in shown
    assert "Your turn: zermelo play connect4" in shown


def test_a_duration_that_is_none_is_refused(tiny: Path, capsys: Captured) -> None:
    assert main(["demo", "--for", "soon", "--run", str(tiny)]) == 2
    assert "soon" in capsys.readouterr().err
    assert not tiny.exists()
