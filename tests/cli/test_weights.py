"""`--weights` of every command takes a checkpoint's folder, or a run for its newest checkpoint."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import zermelo
from zermelo.checkpoint import CheckpointStore, TrainingState
from zermelo.cli import main
from zermelo.network import NetworkOptions, architecture_for, random_weights
from zermelo.network.runtimes import installed_backends
from zermelo.uci import networks

Captured = pytest.CaptureFixture[str]
BACKEND = ("--backend", installed_backends()[0])
FOLDERS = ("run", "run/checkpoints/000003")


def make_run(place: Path, game: str) -> None:
    """Two checkpoints, of which the second is the newest."""
    architecture = architecture_for(zermelo.game(game), NetworkOptions(blocks=0, filters=4))
    store = CheckpointStore(place / "run" / "checkpoints")
    for iteration in (2, 3):
        store.save(iteration, random_weights(architecture, seed=1), TrainingState({}, {}))


@pytest.mark.parametrize("folder", FOLDERS)
@pytest.mark.parametrize("game", ["tictactoe", "chess"])
def test_analyse_takes_a_checkpoint_or_a_run(
    tmp_path: Path, capsys: Captured, game: str, folder: str
) -> None:
    make_run(tmp_path, game)
    words = ["analyse", game, "--simulations", "5", "--json", *BACKEND]
    assert main([*words, "--weights", str(tmp_path / folder)]) == 0
    assert json.loads(capsys.readouterr().out)["evaluator"].startswith("000003 on ")


@pytest.mark.parametrize("folder", FOLDERS)
def test_annotate_takes_a_checkpoint_or_a_run(
    tmp_path: Path, capsys: Captured, folder: str
) -> None:
    make_run(tmp_path, "chess")
    (tmp_path / "game.pgn").write_text("1. e4 e5 *\n")
    words = ["annotate", str(tmp_path / "game.pgn"), "--simulations", "5", "--threads", "1"]
    assert main([*words, *BACKEND, "--weights", str(tmp_path / folder)]) == 0
    assert "zermelo, 000003 on " in capsys.readouterr().out


@pytest.mark.parametrize("folder", FOLDERS)
def test_selfplay_takes_a_checkpoint_or_a_run(
    tmp_path: Path, capsys: Captured, folder: str
) -> None:
    make_run(tmp_path, "tictactoe")
    words = ["selfplay", "tictactoe", "--out", str(tmp_path / "shards"), "--samples", "9"]
    words += ["--workers", "1", "--json", "--set", "selfplay.simulations=4"]
    words += ["--set", f"selfplay.backend={BACKEND[1]}", "--set", "selfplay.precision=f32"]
    assert main([*words, "--weights", str(tmp_path / folder)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["network"] == str((tmp_path / FOLDERS[1]).resolve())
    assert found["samples"] >= 9


@pytest.mark.parametrize("folder", FOLDERS)
def test_uci_takes_a_checkpoint_or_a_run(tmp_path: Path, folder: str) -> None:
    make_run(tmp_path, "chess")
    network = networks.load(str(tmp_path / folder), BACKEND[1], "f32")
    assert network.trained
    assert f"on {BACKEND[1]}" in network.text
