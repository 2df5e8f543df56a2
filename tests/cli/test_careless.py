"""What a hurried or a hostile person may ask of the commands."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from zermelo.cli import main
from zermelo.config import RunConfig
from zermelo.runs.directory import Run


@pytest.mark.parametrize(
    "line",
    [
        "analyse tictactoe --evaluator uniform --simulations 5 --seconds inf",
        "tournament random perfect --game tictactoe --games 2 --anchor-elo nan",
        "ablate tictactoe --seconds nan --games 2",
        "annotate nowhere.pgn --blunder inf",
        "bench tictactoe --seconds inf",
        "bench network tictactoe --seconds inf",
    ],
)
def test_a_number_that_is_none_is_refused(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(line.split()) == 2
    said = capsys.readouterr().err
    assert "is no finite number" in said
    assert said.count("\n") == 1


@pytest.mark.parametrize("part", ["run.toml", "checkpoints/000001/weights.safetensors", "lock"])
@pytest.mark.parametrize(
    "command", ["report RUN -o", "export connect4", "selfplay tictactoe --samples 1 --out"]
)
def test_nothing_is_written_over_what_a_run_keeps(
    tmp_path: Path, command: str, part: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run = Run.create(tmp_path / "run", RunConfig.from_tables({"game": {"name": "tictactoe"}}))
    run.unlock()
    place = run.path / part
    place.parent.mkdir(parents=True, exist_ok=True)
    place.touch()
    before = place.read_bytes()
    assert main([*command.replace("RUN", str(run.path)).split(), str(place)]) == 2
    assert "is a part of the run" in capsys.readouterr().err
    assert place.read_bytes() == before


def test_a_closed_output_is_no_fault() -> None:
    command = [sys.executable, "-m", "zermelo", "games"]
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" >&-', "sh", *command], stderr=subprocess.PIPE, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_sentence_shows_what_a_terminal_would_obey(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["match", "\u202erandom\x1b[2J", "random", "--game", "tictactoe"]) == 2
    said = capsys.readouterr().err
    assert "\\u202erandom\\x1b[2J" in said
    assert said.rstrip("\n").isprintable()
