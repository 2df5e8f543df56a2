"""Pipes and devices in the place of a run's own files: a received run may hold anything."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from zermelo.cli import main
from zermelo.doctor.diagnose import diagnose
from zermelo.errors import UserError
from zermelo.files import open_plain, read_plain
from zermelo.matches.store import read_lines
from zermelo.replay import ReplayStore, Schema, read_header
from zermelo.runs.describe import runs_of
from zermelo.runs.directory import Run
from zermelo.runs.lock import RunLock
from zermelo.runs.shelf import Shelf
from zermelo.web.training.run_view import RunView, log_tail

OLD_RUN = Path(__file__).parents[1] / "data" / "made_by_902049b" / "run"
FILES = (
    "metrics/metrics.jsonl", "status.json", "log.txt", "lock", "made_here", "run.toml",
    "ladder/meetings.jsonl", "checkpoints/000003/manifest.json",
    "checkpoints/000003/weights.safetensors", "replay/it000002-w00-000008.zshard",
)  # fmt: skip


def in_place_of(path: Path, kind: str) -> None:
    path.unlink(missing_ok=True)
    path.parent.mkdir(exist_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")


@pytest.mark.timeout(60)
@pytest.mark.parametrize("kind", ["pipe", "zero"])
@pytest.mark.parametrize("name", FILES)
def test_looking_at_a_run_with_a_special_file_ends(tmp_path: Path, name: str, kind: str) -> None:
    shutil.copytree(OLD_RUN, tmp_path / "good")
    shutil.copytree(OLD_RUN, tmp_path / "odd")
    in_place_of(tmp_path / "odd" / name, kind)
    good = next(row for row in runs_of(tmp_path) if row["run"].endswith("good"))
    assert good["iteration"] == 3
    assert "good" in [row.name for row in Shelf([tmp_path]).rows()]
    log_tail(tmp_path / "odd" / "log.txt")
    view = RunView(tmp_path / "odd")
    view.look(1.0)
    for look in (view.ladder, lambda: diagnose(tmp_path / "odd", deep=False)):
        with contextlib.suppress(UserError):
            look()


@pytest.mark.parametrize("kind", ["pipe", "zero"])
def test_no_special_file_is_read(tmp_path: Path, kind: str) -> None:
    place = tmp_path / "it000000-w00-000000.zshard"
    in_place_of(place, kind)
    with pytest.raises(OSError, match="pipe or a device"):
        read_plain(place)
    with pytest.raises(UserError, match="pipe or a device"):
        read_header(place)
    with pytest.raises(UserError, match="pipe or a device"):
        read_lines(place, bytes)
    with pytest.raises(IsADirectoryError):
        open_plain(tmp_path)
    header = read_header(OLD_RUN / "replay" / "it000000-w00-000000.zshard")
    assert isinstance(header.schema, Schema)
    assert ReplayStore(tmp_path, header.schema).shards() == []


def test_a_lock_that_points_elsewhere_harms_nothing(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("mine")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "lock").symlink_to(precious)
    with pytest.raises(UserError, match="cannot be opened"):
        RunLock(tmp_path / "run" / "lock")
    assert precious.read_text() == "mine"


@pytest.mark.parametrize("name", ["lock", "log.txt"])
def test_a_pipe_that_training_would_write_to_is_refused(tmp_path: Path, name: str) -> None:
    shutil.copytree(OLD_RUN, tmp_path / "run")
    in_place_of(tmp_path / "run" / name, "pipe")
    with pytest.raises(UserError, match="is a pipe or a device"):
        Run.open(tmp_path / "run").lock()


@pytest.mark.parametrize("name", ["log.txt", "metrics/metrics.jsonl", "status.json"])
def test_a_file_that_points_elsewhere_is_not_written_to(tmp_path: Path, name: str) -> None:
    shutil.copytree(OLD_RUN, tmp_path / "run")
    precious = tmp_path / "precious"
    precious.write_text("mine")
    (tmp_path / "run" / name).unlink(missing_ok=True)
    (tmp_path / "run" / name).symlink_to(precious)
    run = Run.open(tmp_path / "run")
    run.log("theirs")
    with pytest.raises(UserError, match="is a link"):
        run.lock()
    assert precious.read_text() == "mine"


@pytest.mark.parametrize("name", ["replay", "checkpoints", "checkpoints/000003", "metrics"])
def test_a_run_whose_directory_points_elsewhere_is_not_worked_on(tmp_path: Path, name: str) -> None:
    shutil.copytree(OLD_RUN, tmp_path / "run")
    shutil.move(tmp_path / "run" / name, tmp_path / "theirs")
    (tmp_path / "run" / name).symlink_to(tmp_path / "theirs")
    with pytest.raises(UserError, match="is a link"):
        Run.open(tmp_path / "run").lock()


def test_a_hostile_run_file_does_not_stop_the_shelf(tmp_path: Path) -> None:
    shutil.copytree(OLD_RUN, tmp_path / "good")
    for number, text in enumerate(
        (
            "format = 1\n[game]\nname = " + "[" * 9000 + "]" * 9000,
            "format = 1\n[game]\n" + ".".join(["a"] * 100_000) + " = 1",
            "format = 1\n[game]\nname = " + "[\n" * 9000 + "]\n" * 9000,
        )
    ):
        (tmp_path / f"bad{number}").mkdir()
        (tmp_path / f"bad{number}" / "run.toml").write_text(text)
    rows = {row.name: row for row in Shelf([tmp_path]).rows()}
    assert rows["good"].error is None
    assert all(rows[f"bad{number}"].error for number in range(3))


def test_the_command_says_a_sentence(tmp_path: Path) -> None:
    shutil.copytree(OLD_RUN, tmp_path / "run")
    in_place_of(tmp_path / "run" / "metrics" / "metrics.jsonl", "pipe")
    command = [sys.executable, "-m", "zermelo", "runs", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("kind", ["pipe", "zero"])
@pytest.mark.parametrize(
    "arguments",
    [
        ["analyse", "tictactoe", "--simulations", "1", "--weights", "odd.safetensors"],
        ["annotate", "odd.pgn", "--simulations", "1"],
        ["pretrain", "chess", "--from", "odd.pgn", "--run", "new"],
        ["match", "random", "random", "--game", "chess", "--openings", "odd.epd"],
        ["solve", "odd.epd", "--player", "random"],
        ["train", "odd.toml", "--run", "new"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_commands_say_that_a_file_is_none(
    tmp_path: Path,
    arguments: list[str],
    kind: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (name,) = (word for word in arguments if word.startswith("odd"))
    in_place_of(tmp_path / name, kind)
    assert main(arguments) == 2
    assert f"'{name}' is a pipe or a device" in capsys.readouterr().err


LONG = "x" * 300


@pytest.mark.parametrize(
    "arguments",
    [
        ["play", "tictactoe", "--run", LONG],
        ["match", f"./{LONG}", "random", "--game", "tictactoe"],
        ["analyse", "tictactoe", "--weights", f"./{LONG}"],
        ["runs", LONG],
        ["replay", "stats", LONG],
        ["annotate", LONG],
        ["train", f"{LONG}.toml"],
        ["train", f"{LONG}.py"],
        ["report", LONG],
        ["doctor", LONG],
    ],
    ids=lambda arguments: " ".join(arguments[:2])[:20],
)
def test_a_name_that_is_too_long_for_a_file_is_one_sentence(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    said = capsys.readouterr().err
    assert "Traceback" not in said and len(said) < 1000
