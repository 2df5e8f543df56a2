"""Small things that an attack found: each test is its reproduction."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import chess
import pytest
from harmed_runs import is_running, until

import zermelo
from zermelo import files
from zermelo.config import RunConfig
from zermelo.errors import UserError
from zermelo.matches.game_record import GameRecord
from zermelo.matches.match import MatchOptions, play_match
from zermelo.processes.child import module_command
from zermelo.runs.directory import Run
from zermelo.search import Limits, LiveSearch, RolloutEvaluator, Search
from zermelo.train.metrics import MetricsWriter
from zermelo.uci.protocol import parse_go
from zermelo.web.training import control

ENGINE = """#!{python}
import subprocess, sys, time
child = subprocess.Popen(["sleep", "300"], stdin=subprocess.DEVNULL)
open({note!r}, "w").write(str(child.pid))
for line in sys.stdin:
    word = line.split()[:1]
    if word == ["uci"]:
        print("id name x\\nuciok", flush=True)
    elif word == ["isready"]:
        print("readyok", flush=True)
    elif word == ["go"]:
        {answer}
"""


def engine(directory: Path, answer: str) -> tuple[Path, Path]:
    """A program that speaks UCI and has a child, and where the child's number stands."""
    program, note = directory / "engine", directory / "child"
    program.write_text(ENGINE.format(python=sys.executable, note=str(note), answer=answer))
    program.chmod(0o755)
    return program, note


def test_an_engines_child_ends_with_a_match_that_is_killed(tmp_path: Path) -> None:
    program, note = engine(tmp_path, "time.sleep(300)")
    command = [sys.executable, "-m", "zermelo", "match", f"uci:{program}", "random"]
    process = subprocess.Popen([*command, "--game", "chess", "--games", "2"])
    until(lambda: note.exists() and note.read_text().isdigit())
    child = int(note.read_text())
    assert is_running(child)
    time.sleep(0.5)  # the match has its answer to `uci`
    process.kill()
    process.wait()
    until(lambda: not is_running(child), 20.0)


def test_a_bad_ponder_move_prints_nothing(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    program, _ = engine(tmp_path, 'print("bestmove e2e4 ponder zzzz", flush=True)')
    played = play_match([f"uci:{program}?seconds=0.05", "random"], "chess", MatchOptions(games=2))
    assert len(played.records) == 2
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize("seconds", [math.nan, math.inf])
def test_seconds_that_never_end_are_refused(seconds: float) -> None:
    game: Any = zermelo.game("tictactoe")
    with pytest.raises(ValueError, match="seconds"):
        Search(game, RolloutEvaluator()).run(game.initial(), seconds=seconds)
    live = LiveSearch(game, RolloutEvaluator())
    live.follow(game.initial())
    with pytest.raises(ValueError, match="seconds"):
        live.run(Limits(seconds=seconds))


@pytest.mark.parametrize("mate", ["-4", "0"])
def test_a_mate_that_cannot_be_found_is_no_limit_without_an_end(mate: str) -> None:
    go, problems = parse_go(["mate", mate])
    assert problems == ["go mate needs a number above 0"]
    assert go.mate is None and go.movetime == 1000
    assert parse_go(["mate", "3"])[0].mate == 3


@pytest.mark.parametrize("number", ["999999999", "1000000000", "99999999999999999999"])
def test_counters_of_any_size_are_read_as_python_chess_reads_them(number: str) -> None:
    game: Any = zermelo.game("chess")
    for counters in (f"{number} 1", f"0 {number}"):
        fen = f"4k3/8/8/8/8/8/4P3/4K3 w - - {counters}"
        assert chess.Board(fen).is_valid()
        text = game.position_text(game.parse_position(fen))
        assert text.split()[:4] == fen.split()[:4]
        assert max(map(int, text.split()[4:])) == 999_999_999


def test_a_changed_game_of_a_match_is_noticed(tmp_path: Path) -> None:
    options = MatchOptions(games=4, seed=1, out=tmp_path / "match")
    play_match(["random", "random"], "tictactoe", options)
    file = tmp_path / "match" / "games.jsonl"
    whole = file.read_bytes()
    for old, new in ((b'"result":"1-0"', b'"result":"0-1"'), (b'"b2"', b'"b1"')):
        assert old in whole
        file.write_bytes(whole.replace(old, new, 1))
        with pytest.raises(UserError, match=r"line \d: it is damaged"):
            play_match(["random", "random"], "tictactoe", options)
    line = whole.splitlines()[0]
    older = line[: line.rindex(b',"crc"')] + b"}"
    assert GameRecord.from_json(older) == GameRecord.from_json(line)


def test_a_run_at_a_path_that_is_not_utf8_is_trained(tmp_path: Path) -> None:
    place = os.fsencode(tmp_path) + b"/r\xff\xfen"
    command = [sys.executable, "-m", "zermelo", "train", "tictactoe", "--run", os.fsdecode(place)]
    sets = "selfplay.workers=1 evaluate.every=0 loop.iterations=1 loop.samples_per_iteration=400"
    sets += " network.blocks=1 network.filters=8 selfplay.games=8 selfplay.simulations=8"
    sets += " selfplay.backend=openvino selfplay.precision=f32"
    command += [part for text in sets.split() for part in ("--set", text)]
    done = subprocess.run(command, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert b"000001" in os.listdir(place + b"/checkpoints")


def test_events_are_written_again_after_a_full_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("tensorboard")
    said: list[str] = []
    writer = MetricsWriter(tmp_path, report=said.append)
    writer.write(1, {"loss": 1.0})
    full = OSError(28, "No space left on device")

    def refuse(*_: Any, **__: Any) -> None:
        raise full

    monkeypatch.setattr(writer._events, "_append", refuse)
    writer.write(2, {"loss": 0.9})
    assert len(said) == 1 and "cannot be written for now" in said[0]
    files_before = set(tmp_path.glob("events*"))
    writer.write(3, {"loss": 0.8})
    writer.close()
    assert said[1:] == ["TensorBoard's events are written again"]
    (new,) = set(tmp_path.glob("events*")) - files_before
    assert b"loss" in new.read_bytes()


def test_a_file_and_then_its_name_are_synchronised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []
    real_sync, real_replace = os.fsync, os.replace

    def sync(handle: int) -> None:
        order.append("directory" if os.path.isdir(f"/proc/self/fd/{handle}") else "file")
        real_sync(handle)

    def replace(old: Any, new: Any) -> None:
        order.append("rename")
        real_replace(old, new)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(os, "replace", replace)
    files.write_whole(tmp_path / "run.toml", b"x")
    assert order == ["file", "rename", "directory"]
    order.clear()
    files.write_whole(tmp_path / "status.json", b"x", lasting=False)
    assert order == ["rename"]


@pytest.mark.parametrize("how", ["lock removed", "run replaced"])
def test_a_run_that_was_taken_away_is_noticed_before_anything_is_removed(
    tmp_path: Path, how: str
) -> None:
    config = RunConfig.from_tables({"game": {"name": "tictactoe"}})
    run = Run.create(tmp_path / "run", config)
    run.check_lock()
    if how == "lock removed":
        (run.path / "lock").unlink()
    else:
        run.path.rename(tmp_path / "elsewhere")
        Run.create(tmp_path / "run", config).unlock()
    with pytest.raises(UserError, match="not this process's any more"):
        run.check_lock()
    run.unlock()


def test_a_training_that_the_page_starts_looks_for_no_module_in_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("random", "json"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    monkeypatch.chdir(tmp_path)
    done = subprocess.run(
        [*module_command("zermelo"), "games"], capture_output=True, timeout=60, check=False
    )
    assert done.returncode == 0
    assert not (tmp_path / "ran").exists()
    assert '"-m"' not in Path(control.__file__).read_text()
