"""A network survives being written and read, and other programs can read it too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from lc0_files import write_net
from typer.testing import CliRunner

import zermelo
from zermelo.cli import network as commands
from zermelo.errors import UserError
from zermelo.network import (
    NetworkEvaluator,
    NetworkOptions,
    Weights,
    architecture_for,
    load_network,
    random_weights,
    save_network,
)
from zermelo.network.positions import sample_observations
from zermelo.network.runtimes import installed_backends

OPTIONS = NetworkOptions(blocks=2, filters=8, value_hidden=16, moves_left=True)


def network(game: str = "connect4") -> Weights:
    return random_weights(architecture_for(zermelo.game(game), OPTIONS), seed=3)


def run(*arguments: str) -> Any:
    app = typer.Typer()
    commands.add_to(app)
    return CliRunner().invoke(app, list(arguments))


@pytest.mark.parametrize("suffix", [".onnx", ".safetensors"])
@pytest.mark.parametrize("game", ["connect4", "chess"])
def test_a_written_network_is_read_back_unchanged(tmp_path: Path, game: str, suffix: str) -> None:
    weights = network(game)
    path = tmp_path / f"net{suffix}"
    save_network(weights, path)
    found = load_network(path, zermelo.game(game))
    assert found.architecture == weights.architecture
    assert found.arrays.keys() == weights.arrays.keys()
    for name, values in weights.arrays.items():
        np.testing.assert_array_equal(found.arrays[name], values)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_a_checkpoints_directory_is_loaded_by_its_weights(tmp_path: Path) -> None:
    save_network(network(), tmp_path / "weights.safetensors")
    assert load_network(tmp_path).architecture == network().architecture


def test_only_known_kinds_of_file_are_written(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"should end in \.onnx"):
        save_network(network(), tmp_path / "net.pt")
    assert not list(tmp_path.iterdir())


def test_the_onnx_file_is_valid_and_says_what_it_is(tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx", reason="onnx (its checker) is not installed")
    for game in ("connect4", "chess?encoder=lc0"):
        path = tmp_path / "net.onnx"
        save_network(network(game), path)
        model = onnx.load(path)
        onnx.checker.check_model(model, full_check=True)
        metadata = {entry.key: entry.value for entry in model.metadata_props}
        assert metadata["game"] == zermelo.game(game).name
        assert metadata["version"] == zermelo.__version__
        described = json.loads(metadata["zermelo"])["architecture"]
        assert described["blocks"] == 2


def test_the_onnx_file_runs_in_onnx_runtime_and_in_openvino(tmp_path: Path) -> None:
    onnxruntime = pytest.importorskip("onnxruntime", reason="not installed")
    openvino = pytest.importorskip("openvino", reason="not installed")
    path = tmp_path / "net.onnx"
    save_network(network(), path)
    observations = sample_observations(zermelo.game("connect4"), 5)
    session = onnxruntime.InferenceSession(path)
    policy, value = session.run(["policy", "value"], {"observations": observations})
    settings = {"INFERENCE_PRECISION_HINT": "f32"}
    compiled = openvino.Core().compile_model(str(path), "CPU", settings)
    answers = compiled(observations)
    np.testing.assert_allclose(answers["policy"], policy, atol=1e-4)
    np.testing.assert_allclose(answers["value"], value, atol=1e-4)
    ours = NetworkEvaluator(network(), installed_backends()[0])(observations)
    np.testing.assert_allclose(ours[0], policy, atol=1e-4)
    np.testing.assert_allclose(ours[1], value, atol=1e-4)


def test_the_safetensors_file_is_read_by_its_own_package(tmp_path: Path) -> None:
    package = pytest.importorskip("safetensors.numpy", reason="safetensors is not installed")
    path = tmp_path / "net.safetensors"
    save_network(network(), path)
    found = package.load_file(path)
    for name, values in network().arrays.items():
        np.testing.assert_array_equal(found[name], values)


def test_export_turns_an_lc0_network_into_onnx(tmp_path: Path) -> None:
    source, target = write_net(tmp_path / "net.pb.gz"), tmp_path / "net.onnx"
    done = run("export", str(source), str(target), "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.output)["bytes"] == target.stat().st_size
    before, after = load_network(source), load_network(target)
    assert before.architecture == after.architecture
    assert all((before.arrays[name] == after.arrays[name]).all() for name in before.arrays)
    assert "parameters" in run("export", str(source), str(target)).output


def test_bench_network_compares_with_the_bare_runtime() -> None:
    if "openvino" not in installed_backends():
        pytest.skip("openvino is not installed")
    small = ("--blocks", "1", "--filters", "4", "--batches", "2", "--threads", "1,2")
    timing = ("--seconds", "0.01", "--backend", "openvino")
    done = run("bench-network", "tictactoe", *small, *timing, "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.output)
    assert {row["threads"] for row in found["rows"]} == {1, 2}
    assert all(row["of_bare_openvino"] > 0 for row in found["rows"])
    assert found["peak_gflops"]["1"] > 0
    done = run("bench-network", "tictactoe", *small, *timing, "--precision", "int8")
    assert "against f32" in done.output


def test_bench_chess_counts_nodes(tmp_path: Path) -> None:
    source = write_net(tmp_path / "net.pb.gz")
    arguments = ("--weights", str(source), "--nodes", "60", "--positions", "2", "--json")
    done = run("bench-chess", *arguments, "--backend", installed_backends()[0])
    assert done.exit_code == 0, done.output
    found = json.loads(done.output)
    assert [row["nodes"] for row in found["positions"]] == [60, 60]


def test_the_ten_positions_are_legal() -> None:
    game = zermelo.game("chess")
    assert len(set(commands.CHESS_POSITIONS)) == 10
    for fen in commands.CHESS_POSITIONS:
        assert game.outcome(game.parse_position(fen)) is None
