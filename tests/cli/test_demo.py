"""`zermelo demo`: it always ends, whoever is listening."""

from __future__ import annotations

import io
import subprocess
import sys

import pytest

from zermelo.cli import main

LATE = "4444422224636662673121"  # the solver needs no time from here
Captured = pytest.CaptureFixture[str]


def demo(*arguments: str) -> int:
    return main(["demo", "--simulations", "500", "--opening", LATE, *arguments])


def test_it_shows_a_game_judges_it_and_offers_another(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("4\nquit\n"))
    assert demo() == 0
    shown = capsys.readouterr().out
    assert "With best play this position is a win for X" in shown
    assert "considered: " in shown
    assert "The game is over: " in shown
    assert "kept what the position was worth" in shown
    assert "Goodbye; the game is not finished." in shown


@pytest.mark.parametrize("typed", [b"", b"quit\n"])
def test_it_ends_with_a_script_for_a_person(typed: bytes) -> None:
    command = [sys.executable, "-m", "zermelo", "demo", "--opening", LATE, "--simulations", "500"]
    done = subprocess.run(command, input=typed, capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert b"Goodbye" in done.stdout


def test_a_silent_pipe_is_not_waited_for() -> None:
    command = [sys.executable, "-m", "zermelo", "demo", "--opening", LATE, "--simulations", "500"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        assert process.wait(timeout=60) == 0  # its input stays open and empty
        assert process.stdout is not None
        assert b"Your turn: zermelo play connect4" in process.stdout.read()


@pytest.mark.parametrize(
    ("opening", "sentence"),
    [("4444444", "4"), ("12121212", "goes on after the end"), ("1212121", "nothing to play")],
)
def test_an_opening_that_cannot_be_is_one_sentence(
    capsys: Captured, opening: str, sentence: str
) -> None:
    assert main(["demo", "--opening", opening]) == 2
    shown = capsys.readouterr().err
    assert sentence in shown
    assert shown.count("\n") == 1
