"""`zermelo demo`: it learns, shows how much, and always ends, whoever is listening."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from zermelo.cli import demo, main
from zermelo.loop import Run, Stop, View

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
    assert f"Watch how it learned: zermelo web {tiny}" in shown.replace("\n", "")
    assert "Your turn" in shown
    assert "Goodbye; the game is not finished." in shown


def test_it_goes_on_with_its_run_and_ends_when_nobody_answers(
    tiny: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", None)
    for _ in range(2):
        assert main(["demo", "--for", "1s", "--run", str(tiny)]) == 0
        assert "Your turn: zermelo play connect4" in capsys.readouterr().out


def interrupted(run: Run, stop: Stop, view: View, _: Any) -> dict[str, Any]:
    """In place of the loop: one measured iteration after a pretraining, then Ctrl-C."""
    run.metrics.mkdir()
    lines = [{"iteration": 1, "seconds": 1.0, "pretrain": {}}]  # which plays no games
    lines.append({"iteration": 2, "seconds": 60.0, "selfplay": {"games": 77}})
    lines[1]["evaluate"] = {"connect4.keeps_value": 0.75, "connect4.policy_keeps_value": 0.5}
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (run.metrics / "metrics.jsonl").write_text(text)
    view.note("stopping")
    stop.request("interrupted")
    run.unlock()
    return {"run": str(run.path), "stopped": "interrupted", "seconds": 60.0}


def test_an_interrupted_demo_shows_what_it_has_and_ends_as_interrupted(
    tiny: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zermelo.loop.run_loop", interrupted)
    monkeypatch.setattr("sys.stdin", io.StringIO("4\nquit\n"))
    assert main(["demo", "--run", str(tiny)]) == 130
    shown = capsys.readouterr().out
    assert "\niteration  minutes  games  with search  network alone\n" in shown  # a plain table
    assert "\n        2      1.0     77        75.0%          50.0%\n" in shown
    assert "Your turn: zermelo play connect4" in shown


class Terminal(io.StringIO):
    """Somebody who types."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("answer", "opened"), [("y\n", True), ("\n", False), ("no\n", False)])
def test_on_a_terminal_with_a_browser_it_offers_the_page(
    monkeypatch: pytest.MonkeyPatch, answer: str, opened: bool
) -> None:
    monkeypatch.setattr("sys.stdin", Terminal(answer))
    console = Console(file=io.StringIO(), force_terminal=True)
    monkeypatch.setattr(demo, "has_browser", lambda: False)
    assert not demo.wants_page(console)
    monkeypatch.setattr(demo, "has_browser", lambda: True)
    monkeypatch.setattr("zermelo.cli.web.missing_package", lambda: "uvicorn")
    assert not demo.wants_page(console)
    monkeypatch.setattr("zermelo.cli.web.missing_package", lambda: None)
    assert demo.wants_page(console) is opened
    assert not demo.wants_page(Console(file=io.StringIO()))


def test_as_json_it_is_one_object_and_offers_no_game(
    tiny: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zermelo.loop.run_loop", interrupted)
    monkeypatch.setattr("sys.stdin", io.StringIO("4\nquit\n"))
    assert main(["demo", "--run", str(tiny), "--json"]) == 130
    shown = capsys.readouterr()
    row = {"iteration": 2, "seconds": 60.0, "games": 77}
    row |= {"keeps_value": 0.75, "policy_keeps_value": 0.5}
    assert json.loads(shown.out) == {
        "run": str(tiny),
        "stopped": "interrupted",
        "seconds": 60.0,
        "curve": [row],
    }
    assert "stopping" in shown.err
    assert "Your turn" not in shown.err


def test_a_duration_that_is_none_is_refused(tiny: Path, capsys: Captured) -> None:
    assert main(["demo", "--for", "soon", "--run", str(tiny)]) == 2
    assert "soon" in capsys.readouterr().err
    assert not tiny.exists()
