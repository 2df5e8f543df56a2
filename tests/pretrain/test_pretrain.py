"""Pretraining: runs get samples, are trained on them, and go on; failures leave no run behind."""

from __future__ import annotations

import errno
import io
import json
import pkgutil
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

import zermelo
from zermelo.checkpoint import CheckpointStore
from zermelo.cli import main
from zermelo.cli import pretrain as command
from zermelo.config import RunConfig
from zermelo.doctor.diagnose import diagnose
from zermelo.errors import UserError
from zermelo.loop.cycle import run_loop
from zermelo.loop.stop import Stop
from zermelo.loop.view import PlainView
from zermelo.pretrain.pretrain import Pretraining, fill, pretrain, samples_of_run, source_samples
from zermelo.pretrain.samples import Label, samples_of
from zermelo.replay import (
    ReplayStore,
    Samples,
    Schema,
    ShardHeader,
    read_shard,
    shard_path,
    write_shard,
)
from zermelo.replay.canonical import canonical
from zermelo.runs.describe import describe
from zermelo.runs.directory import Run
from zermelo.train import read_metrics


def new_run(path: Path, game: str, **sections: dict[str, Any]) -> Run:
    tables: dict[str, dict[str, Any]] = {
        "game": {"name": game},
        "network": {"blocks": 1, "filters": 16, "policy_filters": 8, "value_filters": 8},
        "selfplay": {"workers": 1, "simulations": 8, "games": 8, "backend": "openvino",
                     "precision": "f32"},
        "train": {"batch": 32, "threads": 1, "learning_rate": 0.01},
        "loop": {"samples_per_iteration": 50, "iterations": 3},
    }  # fmt: skip
    for section, table in sections.items():
        tables[section] = {**tables.get(section, {}), **table}
    return Run.create(path, RunConfig.from_tables(tables))


def test_training_goes_on_from_pretraining(tmp_path: Path) -> None:
    run = new_run(tmp_path / "run", "tictactoe", train={"batch": 16})
    found = pretrain(run, Pretraining("teacher:perfect", samples=600, epochs=30))
    assert found["samples"] == 600
    assert found["train"]["training"]["policy_kl"] < 0.6  # a uniform policy has about 0.9
    assert CheckpointStore(run.checkpoints).list() == [1]
    summary = run_loop(run, Stop(), PlainView(io.StringIO()))
    assert summary["iteration"] == 3
    shards = ReplayStore(run.replay, run.config.game()).shards()
    assert {shard.header.iteration for shard in shards} == {0, 1, 2}
    with pytest.raises(UserError, match="has trained already"):
        pretrain(run, Pretraining("teacher:perfect", samples=10))


def test_a_teachers_values_count_whatever_the_ramp_of_the_run(tmp_path: Path) -> None:
    run = new_run(tmp_path / "run", "tictactoe", train={"value_blend": 0.4})
    assert run.config.train.value_blend_ramp > 0
    found = pretrain(run, Pretraining("teacher:perfect", samples=50))
    assert found["train"]["value_blend"] == 0.4
    assert Run.open(run.path).config.train == run.config.train  # which keeps its ramp


def test_pretraining_waits_for_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zermelo.files.PAUSE", 0.0)
    told: list[str] = []

    def full_at_first(write: Callable[..., Any]) -> Callable[..., Any]:
        times = iter([True, True])

        def attempt(*given: Any, **named: Any) -> Any:
            if next(times, False):
                raise UserError("cannot") from OSError(errno.ENOSPC, "full")
            return write(*given, **named)

        return attempt

    for place, name in (
        ("zermelo.pretrain.pretrain", "write_shard"),
        ("zermelo.checkpoint.CheckpointStore", "save"),
        ("zermelo.train.MetricsWriter", "write"),
    ):
        write = getattr(pkgutil.resolve_name(place), name)
        monkeypatch.setattr(f"{place}.{name}", full_at_first(write))
    run = new_run(tmp_path / "run", "tictactoe")
    pretrain(run, Pretraining("teacher:perfect", samples=50), lambda what, *_: told.append(what))
    assert told.count(f"waiting for space on the disk of '{run.path}'") == 6
    assert CheckpointStore(run.checkpoints).list() == [1]
    assert [entry["iteration"] for entry in read_metrics(run.metrics)] == [1]


def test_the_shards_of_another_run_are_used_again(tmp_path: Path) -> None:
    first = new_run(tmp_path / "first", "tictactoe")
    pretrain(first, Pretraining("teacher:perfect", samples=120))
    second = new_run(tmp_path / "second", "tictactoe")
    found = pretrain(second, Pretraining(str(first.path), samples=100))
    assert found["samples"] == 100
    other = zermelo.game("connect4")
    with pytest.raises(UserError, match="is a run of tictactoe, not of connect4"):
        list(samples_of_run(other, first.path, None, print))


def test_the_newest_samples_of_another_run_stay_the_newest(tmp_path: Path) -> None:
    game = zermelo.game("tictactoe")
    other = new_run(tmp_path / "other", "tictactoe")
    for iteration, number in ((0, 0), (1, 1), (2, 2), (3, 3)):  # told apart by their plies
        label = Label(game.initial(), {4: 1.0}, 0, ply=iteration)
        samples = samples_of(game, [[label]] * 10)
        header = ShardHeader.of(Schema.of(game), samples, iteration=iteration, number=number)
        write_shard(shard_path(other.replay, iteration, 0, number), samples, header)
    broken = shard_path(other.replay, 2, 0, 2)
    broken.write_bytes(broken.read_bytes()[:-1])
    run = new_run(tmp_path / "run", "tictactoe")
    found = pretrain(run, Pretraining(str(other.path), samples=15))
    shards = ReplayStore(run.replay, game).shards()  # oldest first
    plies = [read_shard(shard.path).samples.plies.tolist() for shard in shards]
    assert plies == [[1] * 5, [3] * 10]
    assert broken.exists()
    assert [str(broken) in sentence for sentence in found["damaged"]] == [True]
    assert found["damaged"][0] in run.log_file.read_text()


@pytest.mark.parametrize(("wanted", "count"), [(10, 9), (9, 9), (8, 6), (12, 12), (99, 12)])
def test_samples_are_cut_at_whole_positions(wanted: int, count: int, tmp_path: Path) -> None:
    path = tmp_path / "positions.epd"
    # Four positions of unknown result, three samples each.
    rooks = ("R5K1", "1R4K1", "2R3K1", "3R2K1")
    path.write_text("".join(f"6k1/5ppp/8/8/8/8/5PPP/{rook} w - - bm Kf1;\n" for rook in rooks))
    run = new_run(tmp_path / "run", "chess")
    found = fill(run, Pretraining(str(path), samples=wanted), lambda *_: None, print)
    assert found == (count, 1)
    [shard] = run.replay.glob("*.zshard")
    assert read_shard(shard).samples.results.tolist() == [-1, 0, 1] * (count // 3)
    again = samples_of_run(run.config.game(), run.path, 5, print)
    assert [samples.results.tolist() for samples in again] == [[-1, 0, 1]]


def test_a_run_that_has_trained_is_not_changed_by_a_refused_pretraining(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = new_run(tmp_path / "run", "tictactoe")
    run.unlock()
    (run.checkpoints / "000001").mkdir(parents=True)
    files = [run.path / "run.toml", run.log_file]
    before = [file.read_bytes() for file in files]
    teach = ["--from", "teacher:perfect", "--samples", "64", "--set", "train.batch=48"]
    for words in (["tictactoe", "--run", str(run.path)], [str(run.path)]):
        assert main(["pretrain", *words, *teach]) == 2
        assert "has trained already" in capsys.readouterr().err
        assert [file.read_bytes() for file in files] == before


def test_a_pretraining_that_was_stopped_begins_anew(tmp_path: Path) -> None:
    run = new_run(tmp_path / "run", "tictactoe")
    pretrain(run, Pretraining("teacher:perfect", samples=50))
    shutil.rmtree(run.checkpoints)  # as if it had been stopped before
    with pytest.raises(UserError, match=r"pretraining of .* was stopped"):
        run_loop(run, Stop(), PlainView(io.StringIO()))
    assert not list(run.checkpoints.glob("0*"))
    found = pretrain(run, Pretraining("teacher:perfect", samples=60))
    shards = sorted(run.replay.glob("*.zshard"))
    assert sum(len(read_shard(path).samples) for path in shards) == found["samples"] == 60


def test_the_same_seed_gives_the_same_samples() -> None:
    game = zermelo.game("tictactoe")

    def first(seed: int) -> Samples:
        asked = Pretraining("teacher:perfect", samples=40, seed=seed)
        return next(source_samples(game, asked, 40, print))

    assert np.array_equal(first(1).observations, first(1).observations)
    assert not np.array_equal(first(1).observations, first(2).observations)


def test_a_source_without_anything_to_learn_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    path.write_text('[Result "*"]\n\n1. e4 *\n')
    run = new_run(tmp_path / "run", "chess")
    with pytest.raises(UserError, match="has nothing to learn chess from"):
        pretrain(run, Pretraining(str(path)))
    with pytest.raises(UserError, match="there is no file"):
        pretrain(run, Pretraining(str(tmp_path / "missing.pgn")))


@pytest.mark.parametrize("source", ["missing.pgn", "empty.pgn", "teacher:nobody", "teacher:human"])
def test_a_pretraining_that_fails_leaves_no_run_behind(
    source: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty.pgn").write_text('[Result "*"]\n\n1. e4 *\n')
    place = str(tmp_path / source) if source.endswith(".pgn") else source
    words = ["pretrain", "chess", "--from", place, "--run", str(tmp_path / "new")]
    assert main([*words, "--set", "evaluate.every=0"]) == 2
    told, *sentences = capsys.readouterr().err.splitlines()
    assert told == "settings of preset chess"
    assert len(sentences) == 1
    assert not (tmp_path / "new").exists()
    kept = new_run(tmp_path / "kept", "chess")
    kept.unlock()
    assert main([*words[:-1], str(kept.path)]) == 2  # it was there before
    assert (kept.path / "run.toml").exists()


@pytest.mark.parametrize("error", [KeyboardInterrupt, UserError("broken off")])
def test_a_pretraining_that_has_samples_keeps_its_run(
    error: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object) -> None:
        raise error

    monkeypatch.setattr("zermelo.pretrain.pretrain.learn", failing)
    place = tmp_path / "run"
    words = ["pretrain", "tictactoe", "--from", "teacher:perfect", "--samples", "64"]
    other = threading.Event()
    thread = threading.Thread(target=other.wait)  # a caller's threads: we must not end its process
    thread.start()
    try:
        assert main([*words, "--run", str(place)]) != 0
    finally:
        other.set()
        thread.join()
    assert (place / "run.toml").exists()
    assert list((place / "replay").glob("*.zshard"))


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError("a fault of ours")])
def test_what_ends_it_before_the_first_samples_leaves_no_run_behind(
    error: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise error

    monkeypatch.setattr("zermelo.pretrain.pretrain.fill", interrupted)
    words = ["tictactoe", "--from", "teacher:perfect", "--run", str(tmp_path / "run")]
    app = typer.Typer()
    command.add_to(app)
    CliRunner().invoke(app, words)
    assert not (tmp_path / "run").exists()


def test_the_canonical_image_is_the_smallest() -> None:
    game = zermelo.game("tictactoe")
    corners = [game.play(game.initial(), action) for action in (0, 2, 6, 8)]
    assert len({canonical(game, state).key for state in corners}) == 1
    assert all(canonical(game, state).symmetries == 8 for state in corners)


def test_the_command_makes_a_run_and_prints_json(tmp_path: Path) -> None:
    app = typer.Typer()
    command.add_to(app)
    words = ["tictactoe", "--from", "teacher:perfect", "--samples", "64", "--json"]
    words += ["--run", str(tmp_path / "run"), "--set", "network.filters=8", "--set", "blocks=1"]
    answer = CliRunner().invoke(app, words, catch_exceptions=False)
    found = json.loads(answer.stdout)
    assert (answer.exit_code, found["samples"]) == (0, 64)
    assert Path(found["checkpoint"]).is_dir()
    assert describe(tmp_path / "run")["samples"] == 64
    unsure = diagnose(tmp_path / "run", deep=False)
    assert {finding.sentence for finding in unsure} == {
        "the run is only pretrained, no iteration is finished yet"
    }
    again = Run.open(tmp_path / "run")
    again.lock()  # it was given back
    again.unlock()
