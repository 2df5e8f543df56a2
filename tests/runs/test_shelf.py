"""Runs as viewers list them: many, quickly, and a bad one is one bad row."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from zermelo.config import RunConfig
from zermelo.errors import UserError
from zermelo.runs.directory import Run
from zermelo.runs.settings import differing, settings_of
from zermelo.runs.shelf import Shelf
from zermelo.runs.status import Status, StatusFile


def made(path: Path, game: str = "tictactoe", **loop: int) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    run = Run.create(path, RunConfig.from_tables({"game": {"name": game}, "loop": loop}))
    run.unlock()
    return path


def metrics(run: Path, *entries: object) -> None:
    (run / "metrics").mkdir(exist_ok=True)
    with (run / "metrics" / "metrics.jsonl").open("a") as file:
        for entry in entries:
            file.write((entry if isinstance(entry, str) else json.dumps(entry)) + "\n")


def test_a_row_tells_how_far_a_run_is(tmp_path: Path) -> None:
    run = made(tmp_path / "first", iterations=9)
    shelf = Shelf([tmp_path])
    assert (shelf.rows()[0].iteration, shelf.rows()[0].loss) == (0, None)
    metrics(run, {"iteration": 1, "train": {"training": {"loss": 3.0}}, "seconds": 5.5})
    metrics(run, {"iteration": 1, "evaluate": {"ladder.elo": 12.0, "ladder.margin": 3.0}})
    metrics(run, {"iteration": 2, "train": {"training": {"loss": 2.0}}, "seconds": 11})
    (row,) = shelf.rows()
    assert (row.game, row.iteration, row.iterations, row.loss) == ("tictactoe", 2, 9, 2.0)
    assert (row.elo, row.elo_margin, row.seconds, row.alive) == (12.0, 3.0, 11.0, False)
    assert row.error is None
    assert row.made
    assert row == shelf.row(row.id)


def test_runs_are_found_below_directories_and_by_themselves_but_once(tmp_path: Path) -> None:
    made(tmp_path / "a" / "one")
    made(tmp_path / "a" / "deep" / "er" / "two")
    made(tmp_path / "three")
    (tmp_path / ".hidden").mkdir()
    (tmp_path / "a" / "loop").symlink_to(tmp_path / "a")
    shelf = Shelf([tmp_path / "a", tmp_path / "three", tmp_path / "a" / "one", tmp_path / "none"])
    assert sorted(row.name for row in shelf.rows()) == ["one", "three", "two"]


def test_equal_names_have_different_ids_that_are_fit_for_an_address(tmp_path: Path) -> None:
    for folder in ("x", "y"):
        made(tmp_path / folder / "<b>Ünheimlich&%2e")
    shelf = Shelf([tmp_path])
    ids = [row.id for row in shelf.rows()]
    assert len(set(ids)) == 2
    assert all(set(id_) <= set("abcdefghijklmnopqrstuvwxyz0123456789-") for id_ in ids)
    assert {shelf.path(id_).parent.name for id_ in ids} == {"x", "y"}


@pytest.mark.parametrize("id_", ["", "../x", "/etc", "one", "x\x00", "one-000000"])
def test_an_unknown_id_is_refused(tmp_path: Path, id_: str) -> None:
    made(tmp_path / "one")
    with pytest.raises(UserError, match="there is no such run"):
        Shelf([tmp_path]).path(id_)


@pytest.mark.parametrize(
    "text",
    [
        b"", b"\xff\xfe", b"[game", b"game = 3", b"format = 99\n[game]\nname = 'x'", b"[loop]\n",
        b"format = 1\n[game]\nname = 'x'\n[loop]\niterations = {",
        b"format = 1\nloop = 2\n[game]\n",
    ],
)  # fmt: skip
def test_a_bad_run_is_one_bad_row(tmp_path: Path, text: bytes) -> None:
    made(tmp_path / "good")
    bad = made(tmp_path / "bad")
    (bad / "run.toml").write_bytes(text)
    metrics(bad, "{", "null", '{"iteration": "x"}')
    (bad / "status.json").write_text("{}")
    rows = {row.name: row for row in Shelf([tmp_path]).rows()}
    assert rows["bad"].error
    assert rows["good"].error is None


def test_a_run_file_with_tricks_is_read_whole(tmp_path: Path) -> None:
    run = made(tmp_path / "one", iterations=7)
    text = (run / "run.toml").read_text()
    (run / "run.toml").write_text(text + '\n[other]\nnote = """\n[game]\nname = "no"\n"""\n')
    (row,) = Shelf([tmp_path]).rows()
    assert (row.game, row.iterations, row.error) == ("tictactoe", 7, None)


def test_what_is_removed_is_gone_and_what_comes_is_there(tmp_path: Path) -> None:
    first = made(tmp_path / "first")
    shelf = Shelf([tmp_path])
    (row,) = shelf.rows()
    shutil.rmtree(first)
    assert shelf.rows() == []
    with pytest.raises(UserError):
        shelf.path(row.id)
    made(tmp_path / "second")
    assert [row.name for row in shelf.rows()] == ["second"]


def test_a_run_under_way_comes_first_and_says_what_it_does(tmp_path: Path) -> None:
    made(tmp_path / "old")
    run = Run.create(tmp_path / "now", RunConfig.from_tables({"game": {"name": "tictactoe"}}))
    told = Status(str(run.path), "tictactoe", 10, iteration=4, stage="self-play")
    told.waiting_for = "5 samples"
    StatusFile(run.path).write(told)
    os.utime(tmp_path / "old" / "run.toml")
    first, second = Shelf([tmp_path]).rows()
    assert (first.name, first.alive, first.iteration) == ("now", True, 4)
    assert first.status is not None
    assert first.status.activity == "self-play, waiting for 5 samples"
    assert not second.alive
    run.unlock()
    assert not any(row.alive for row in Shelf([tmp_path]).rows())


def test_settings_that_differ_are_told_with_each_value(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in "abc"]
    several = [
        settings_of(made(path, iterations=number))
        for path, number in zip(paths, (3, 4, 3), strict=True)
    ]
    assert differing(several) == {"loop.iterations": [3, 4, 3]}
    assert differing([{"a.b": 1, "c": True}, {"a.b": 1.0, "c": 1}]) == {"c": [True, 1]}
    assert differing([{"a.b": 1}, {}]) == {"a.b": [1, None]}
