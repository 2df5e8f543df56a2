"""`zermelo train GAME --from NETWORK`: a run begins with another's network and nothing else."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_runs import RecordingView, train

from zermelo.checkpoint import CheckpointStore
from zermelo.errors import UserError
from zermelo.loop import Run, Stop, run_loop
from zermelo.network import load_network, save_network
from zermelo.runs.describe import describe
from zermelo.runs.opening import open_run
from zermelo.train.metrics import read_metrics

SPARSE = {"kind": "sparse", "hidden": 64, "policy_hidden": 32, "value_hidden": 32}
TINY = [
    "selfplay.workers=1", "selfplay.games=8", "selfplay.simulations=8", "replay.window_start=2",
    "replay.window_max=2", "train.batch=64", "train.threads=1", "loop.samples_per_iteration=150",
    "loop.iterations=2", "evaluate.every=0", "selfplay.backend=openvino",
    "selfplay.precision=f32", "replay.shard_samples=60", "train.precision=f32",
]  # fmt: skip


@pytest.fixture(scope="module")
def taught(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two iterations with a processor network."""
    path = tmp_path_factory.mktemp("runs") / "taught"
    train(path, network=SPARSE, selfplay={"backend": "auto"}, loop={"iterations": 2})
    return path


@pytest.fixture(scope="module")
def tower(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("runs") / "tower"
    train(path, loop={"iterations": 1})
    return path


def begin(path: Path, network: Path | str, *settings: str, game: str = "tictactoe") -> Run:
    told: list[str] = []
    run = open_run(game, path, [*TINY, *settings], told.append, str(network))
    assert any("begins with the network of" in sentence for sentence in told)
    return run


def arrays(run: Path, iteration: int) -> dict[str, Any]:
    found = CheckpointStore(run / "checkpoints", read_only=True).open(iteration)
    return dict(found.training().arrays)


def stop_after_checkpoint_0(run: Run) -> None:
    stop = Stop()
    run_loop(run, stop, RecordingView((0, "self-play"), lambda: stop.request("enough")))


@pytest.mark.parametrize("kind", ["run", "checkpoint", "safetensors", "onnx"])
def test_checkpoint_0_is_the_network_that_was_named(
    taught: Path, tmp_path: Path, kind: str
) -> None:
    newest = taught / "checkpoints" / "000002"
    weights = load_network(newest)
    reference = {"run": taught, "checkpoint": newest}.get(kind, tmp_path / f"network.{kind}")
    if not reference.exists():
        save_network(weights, reference)
    run = begin(tmp_path / "run", reference)
    assert run.config.network.kind == "sparse" and run.config.network.hidden == 64
    stop_after_checkpoint_0(run)
    begun = load_network(tmp_path / "run" / "checkpoints" / "000000")
    for name, array in weights.arrays.items():
        assert np.array_equal(begun.arrays[name], array), name
    own, theirs = arrays(tmp_path / "run", 0), arrays(taught, 2)
    if kind in ("run", "checkpoint"):  # which have the numbers as they are trained
        for name in (name for name in theirs if name.startswith("network.")):
            assert np.array_equal(own[name], theirs[name]), name
    moments = [name for name in own if name.startswith("optimiser.")]
    assert all(not own[name].any() for name in moments)
    assert any(theirs[name].any() for name in theirs if name.startswith("optimiser."))


def test_a_towers_checkpoint_keeps_its_normalisation(tower: Path, tmp_path: Path) -> None:
    stop_after_checkpoint_0(begin(tmp_path / "run", tower))
    own, theirs = arrays(tmp_path / "run", 0), arrays(tower, 1)
    names = [name for name in theirs if name.startswith("network.")]
    assert any("running_var" in name for name in names)
    for name in names:
        assert np.array_equal(own[name], theirs[name]), name


def test_the_first_training_waits_for_a_whole_window_and_the_file_says_from_what(
    taught: Path, tmp_path: Path
) -> None:
    run = begin(tmp_path / "run", taught)
    found = run_loop(run, Stop(), RecordingView())
    assert found["iteration"] == 2
    samples = [entry["selfplay"]["samples"] for entry in read_metrics(tmp_path / "run" / "metrics")]
    assert samples[0] >= 300 > samples[1] >= 150
    weights = (taught / "checkpoints" / "000002" / "weights.safetensors").read_bytes()
    text = (tmp_path / "run" / "run.toml").read_text()
    digest = hashlib.sha256(weights).hexdigest()
    assert f'begun_from_sha256 = "{digest}"' in text
    assert "taught, iteration 2 (sparse 64)" in text
    log = (tmp_path / "run" / "log.txt").read_text()
    assert f"sha256 {digest}" in log and "with the networks before it" in log
    row = describe(tmp_path / "run")
    assert row["begun_from"] == "taught, iteration 2 (sparse 64)"
    before = CheckpointStore(taught / "checkpoints", read_only=True).open(2).manifest.extra
    assert row["earlier_seconds"] == pytest.approx(before["seconds"])
    # A run that begins with this one's network adds both up.
    begin(tmp_path / "third", tmp_path / "run").unlock()
    own = CheckpointStore(tmp_path / "run" / "checkpoints", read_only=True).open(2).manifest.extra
    third = describe(tmp_path / "third")["earlier_seconds"]
    assert third == pytest.approx(before["seconds"] + own["seconds"])


def test_ramps_for_networks_that_know_nothing_are_left_out_unless_asked_for(
    taught: Path, tmp_path: Path
) -> None:
    run = begin(tmp_path / "one", taught)
    assert run.config.train.value_blend_ramp == 0 and run.config.pool.progressive_fraction == 0
    asked = begin(tmp_path / "two", taught, "train.value_blend_ramp=0.5")
    assert asked.config.train.value_blend_ramp == 0.5


def test_the_same_command_goes_on_and_another_beginning_is_refused(
    taught: Path, tower: Path, tmp_path: Path
) -> None:
    begin(tmp_path / "run", taught).unlock()
    open_run("tictactoe", tmp_path / "run", [], network=str(taught)).unlock()
    with pytest.raises(UserError, match="has begun already, with taught, iteration 2"):
        open_run("tictactoe", tmp_path / "run", [], network=str(tower))
    with pytest.raises(UserError, match="has begun already, from nothing"):
        open_run(str(tower), None, [], network=str(taught))


@pytest.mark.parametrize(
    ("game", "setting", "words"),
    [
        ("connect4", "", "the network is for tictactoe .* not for connect4"),
        ("tictactoe", "network.hidden=128", "sparse 64 hidden.* ask for sparse 128 hidden"),
        ("tictactoe", "network.kind=residual", "sparse 64 hidden.* ask for 5x64"),
    ],
)
def test_another_game_or_other_sizes_are_refused_by_both_names(
    taught: Path, tmp_path: Path, game: str, setting: str, words: str
) -> None:
    with pytest.raises(UserError, match=words) as refused:
        open_run(game, tmp_path / "run", [setting] if setting else [], network=str(taught))
    assert "\n" not in str(refused.value) and not (tmp_path / "run").exists()


def test_a_run_files_own_network_counts_as_asked_for(taught: Path, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('[game]\nname = "tictactoe"\n[network]\nkind = "sparse"\nhidden = 128\n')
    with pytest.raises(UserError, match="ask for sparse 128 hidden"):
        open_run(str(file), tmp_path / "run", [], network=str(taught))


def test_a_towers_file_is_refused_and_a_checkpoint_asked_for(tower: Path, tmp_path: Path) -> None:
    for name in ("tower.onnx", "tower.safetensors"):
        save_network(load_network(tower / "checkpoints" / "000001"), tmp_path / name)
        with pytest.raises(UserError, match="name the run or one of its checkpoints instead"):
            open_run("tictactoe", tmp_path / "run", [], network=str(tmp_path / name))


def test_a_network_that_changed_before_the_run_began_is_refused(
    taught: Path, tmp_path: Path
) -> None:
    file = tmp_path / "network.safetensors"
    save_network(load_network(taught / "checkpoints" / "000002"), file)
    run = begin(tmp_path / "run", file)
    save_network(load_network(taught / "checkpoints" / "000000"), file)
    with pytest.raises(UserError, match="is gone or is another one now"):
        run_loop(run, Stop(), RecordingView())
