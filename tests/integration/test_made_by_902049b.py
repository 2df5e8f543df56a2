"""What commit 902049b wrote still opens and goes on: a run, its networks and its matches.

The files were made by that commit, with its sample format 1 and without search options in networks
and checkpoints; nothing here makes them anew. Each test works on a copy.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import zermelo
from zermelo.checkpoint import CheckpointStore
from zermelo.cli import main
from zermelo.config import RunConfig
from zermelo.config.run_config import read_run_file
from zermelo.network import NetworkEvaluator, load_network
from zermelo.network.positions import sample_observations
from zermelo.network.runtimes import installed_backends
from zermelo.replay import ReplayStore
from zermelo.train.metrics import read_metrics

MADE = Path(__file__).parents[1] / "data" / "made_by_902049b"
Captured = pytest.CaptureFixture[str]


@pytest.fixture
def old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder with the files, from which their commands were given."""
    place = tmp_path / "old"
    shutil.copytree(MADE, place)
    monkeypatch.chdir(place)
    return place


def test_its_run_file_is_read_with_every_option(old: Path) -> None:
    head, tables = read_run_file(old / "run" / "run.toml")
    assert head["commit"].startswith("902049b")
    options = RunConfig.from_tables(tables).tables()
    for section, written in tables.items():
        assert written.items() <= options[section].items()


def test_its_run_is_described_by_its_files(old: Path, capsys: Captured) -> None:
    assert main(["runs", ".", "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["runs"]
    assert (found["game"], found["error"]) == ("tictactoe", None)
    assert (found["iteration"], found["iterations"]) == (3, 3)
    assert (found["games"], found["samples"]) == (313, 484)


def test_the_doctor_reads_its_run(old: Path, capsys: Captured) -> None:
    assert main(["doctor", "run", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    verdicts = {finding["check"]: finding["verdict"] for finding in found["findings"]}
    assert len(verdicts) == 20
    assert set(verdicts.values()) == {"healthy", "unknown"}
    # The games of samples without their moves are found again by trying all lines of play.
    assert verdicts["unique games"] == verdicts["diversity"] == "healthy"


def test_all_its_samples_are_read(old: Path) -> None:
    store = ReplayStore(old / "run" / "replay", zermelo.game("tictactoe"))
    samples = [store.read(shard) for shard in store.shards()]
    assert [len(part) for part in samples if part] == [60, 60, 47, 62, 61, 37, 61, 63, 33]
    assert not store.damage


def test_its_run_goes_on_for_one_more_iteration(old: Path, capsys: Captured) -> None:
    before = {path: path.read_bytes() for path in (old / "run" / "replay").iterdir()}
    assert main(["train", "run", "--iterations", "4", "--json"]) == 0
    shown = capsys.readouterr()
    found = json.loads(shown.out)
    assert "going on after iteration 3" in shown.err
    assert (found["stopped"], found["iteration"]) == ("done", 4)
    assert found["metrics"]["train"]["total_steps"] == 8  # six of the first three iterations
    assert found["metrics"]["window"]["oldest_iteration"] == 2  # whose shards are of format 1
    assert all(path.read_bytes() == content for path, content in before.items())
    assert [entry["iteration"] for entry in read_metrics(old / "run" / "metrics")] == [1, 2, 3, 4]
    assert CheckpointStore(old / "run" / "checkpoints").list() == [2, 3, 4]


@pytest.mark.parametrize("name", ["old.onnx", "old.safetensors", "run/checkpoints/000003"])
def test_its_networks_answer_as_the_onnx_runtime_does(old: Path, name: str) -> None:
    onnxruntime = pytest.importorskip("onnxruntime", reason="not installed")
    game = zermelo.game("tictactoe")
    observations = sample_observations(game, 20)
    session = onnxruntime.InferenceSession(old / "old.onnx")
    policy, value = session.run(["policy", "value"], {"observations": observations})
    found = NetworkEvaluator(load_network(old / name), installed_backends()[0])(observations)
    np.testing.assert_allclose(found[0], policy, atol=1e-4)
    np.testing.assert_allclose(found[1], value, atol=1e-4)


def match(*arguments: str, games: int, out: str) -> int:
    return main(["match", *arguments, "--games", str(games), "--seed", "3", "--out", out])


def test_its_finished_match_is_read_again_without_a_game(old: Path, capsys: Captured) -> None:
    before = {path.name: path.read_bytes() for path in (old / "match").iterdir()}
    assert match("run/checkpoints/000003?simulations=8", "random", games=4, out="match") == 0
    assert "+3 -0 =1" in capsys.readouterr().out
    assert all((old / "match" / name).read_bytes() == text for name, text in before.items())


def test_its_finished_match_goes_on_with_more_games(old: Path) -> None:
    games = old / "match" / "games.jsonl"
    before = games.read_bytes()
    assert match("run/checkpoints/000003?simulations=8", "random", games=6, out="match") == 0
    assert games.read_bytes().startswith(before)
    assert json.loads((old / "match" / "result.json").read_text())["games"] == 6


def test_its_unfinished_match_goes_on(old: Path) -> None:
    games = old / "unfinished_match" / "games.jsonl"
    before = games.read_bytes()
    players = ("old.onnx?simulations=8", "search?simulations=8&evaluator=uniform")
    assert match(*players, games=4, out="unfinished_match") == 0
    assert games.read_bytes().startswith(before)
    numbers = [json.loads(line)["game"] for line in games.read_text().splitlines()]
    assert sorted(numbers) == [0, 1, 2, 3]
    assert json.loads((old / "unfinished_match" / "result.json").read_text())["games"] == 4
