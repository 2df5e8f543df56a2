"""A network survives being written and read, and other programs can read it too."""

from __future__ import annotations

import io
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lc0_files import write_net
from native_games import native
from typer.testing import CliRunner

import zermelo
from zermelo.cli import bench_network, main
from zermelo.cli.entry import make_app
from zermelo.errors import UserError
from zermelo.network import (
    NetworkEvaluator,
    NetworkOptions,
    Weights,
    architecture_for,
    load_network,
    measure,
    random_weights,
    save_network,
)
from zermelo.network.positions import sample_observations
from zermelo.network.runtimes import capable_backends, installed_backends
from zermelo.uci.bench import CHESS_POSITIONS

OPTIONS = NetworkOptions(blocks=2, filters=8, value_hidden=16, moves_left=True)


def network(game: str = "connect4") -> Weights:
    return random_weights(architecture_for(zermelo.game(game), OPTIONS), seed=3)


def run(*arguments: str) -> Any:
    return CliRunner().invoke(make_app(("bench", "export")), list(arguments))


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


@pytest.mark.parametrize("suffix", [".onnx", ".safetensors"])
def test_a_file_keeps_how_its_network_is_searched(tmp_path: Path, suffix: str) -> None:
    search = {"c_puct": 2.25, "fpu": "parent", "gumbel": True, "leaves_per_tree": 4}
    path = tmp_path / f"net{suffix}"
    save_network(replace(network(), search=search), path)
    assert load_network(path).search == search
    save_network(network(), path)
    assert load_network(path).search == {}


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
    pytest.importorskip("openvino", reason="not installed")
    small = ("--blocks", "1", "--filters", "4", "--batches", "2", "--threads", "1,2")
    timing = ("--seconds", "0.01", "--backend", "openvino")
    done = run("bench", "network", "tictactoe", *small, *timing, "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.output)
    assert {row["threads"] for row in found["rows"]} == {1, 2}
    assert all(row["of_bare_openvino"] > 0 for row in found["rows"])
    assert found["peak_gflops"]["f32"]["1"] > 0
    done = run("bench", "network", "tictactoe", *small, *timing, "--precision", "int8")
    assert "against f32" in done.output
    assert "no practical peak of int8" in done.output


QUICK = ("--blocks", "1", "--filters", "4", "--batches", "2", "--threads", "1", "--seconds", "0.01")


@pytest.mark.parametrize("precision", ["f32", "bf16", "int8"])
def test_bench_network_measures_all_backends_that_have_the_precision(
    precision: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "openvino" not in installed_backends() or precision not in here():
        pytest.skip(f"no backend computes in {precision} here")
    asked = []

    def peak_gflops(threads: int, seconds: float, kind: str = "f32") -> float:
        asked.append(kind)
        return measure.peak_gflops(threads, seconds, kind, size=64)

    monkeypatch.setattr(bench_network, "peak_gflops", peak_gflops)
    done = run("bench", "network", "tictactoe", *QUICK, "--precision", precision, "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert {row["precision"] for row in found["rows"]} == {precision}
    assert [row["backend"] for row in found["rows"]] == capable_backends(precision)
    assert set(found["peak_gflops"]) == set(asked) == {precision} - {"int8"}
    assert ("error" in found) == (precision != "f32")


def here() -> list[str]:
    """Precisions of OpenVINO on this processor."""
    from zermelo.network.runtime_openvino import supports_bf16

    return ["f32", "int8", *(["bf16"] if supports_bf16() else [])]


def test_bench_network_settles_once_what_auto_means(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("openvino", reason="not installed")
    arguments = ("--backend", "auto", "--precision", "int8", "--json")
    done = run("bench", "network", "tictactoe", *QUICK, *arguments)
    assert [row["backend"] for row in json.loads(done.stdout)["rows"]] == ["openvino"]
    asked = []

    def fastest(*given: Any, **_: Any) -> Any:
        asked.append(given)
        return "openvino", "f32", []

    monkeypatch.setattr(bench_network, "fastest", fastest)
    batches = ("--batches", "1,2", "--backend", "auto")
    assert run("bench", "network", "tictactoe", *QUICK, *batches).exit_code == 0
    assert len(asked) == 1


def test_bench_network_knows_int8_of_a_game_written_in_python() -> None:
    pytest.importorskip("openvino", reason="not installed")
    example = str(Path(__file__).parents[2] / "examples" / "my_game.py")
    done = run("bench", "network", example, *QUICK, "--precision", "int8")
    assert done.exit_code == 0, done.exception
    assert "int8 against f32" in done.output


def test_a_game_that_only_a_file_names_is_looked_up_before_measuring(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("openvino", reason="not installed")
    example = str(Path(__file__).parents[2] / "examples" / "my_game.py")
    save_network(network(example), tmp_path / "net.onnx")
    monkeypatch.setattr(bench_network, "peak_gflops", lambda *_: pytest.fail("measured first"))
    where = ("--weights", str(tmp_path / "net.onnx"), "--backend", "openvino")
    done = run("bench", "network", *where, *QUICK, "--precision", "int8")
    assert isinstance(done.exception, UserError)
    assert "no game 'breakthrough-5'" in str(done.exception)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--backend", "cuda"), "no backend 'cuda'"),
        (("--precision", "f8"), "no precision 'f8'"),
        (("--backend", "torch", "--precision", "int8"), "openvino only"),
        (("--threads", "1,257"), "--threads '1,257' should be numbers from 1 to 256"),
        (("--batches", "0"), "--batches '0'"),
    ],
)
def test_bench_network_refuses_options_before_it_measures(
    monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], sentence: str
) -> None:
    def measured(*_: Any, **__: Any) -> Any:
        raise AssertionError("measured first")

    for name in ("peak_gflops", "bare_openvino_rate", "evaluation_rates", "fastest"):
        monkeypatch.setattr(bench_network, name, measured)
    done = run("bench", "network", "tictactoe", *arguments)
    assert isinstance(done.exception, UserError)
    assert sentence in str(done.exception)


def test_the_help_of_bench_network_names_all_backends() -> None:
    assert "all (that have the precision)" in " ".join(
        run("bench", "network", "--help").output.split()
    )


def test_benches_take_a_runs_directory(tmp_path: Path) -> None:
    checkpoint = tmp_path / "run" / "checkpoints" / "000003"
    checkpoint.mkdir(parents=True)
    save_network(network("chess"), checkpoint / "weights.safetensors")
    (checkpoint / "manifest.json").write_text("{}")
    where = ("--weights", str(tmp_path / "run"), "--backend", installed_backends()[0])
    done = run("bench", "chess", *where, "--simulations", "20", "--positions", "1", "--json")
    assert done.exit_code == 0, done.exception
    timing = ("--batches", "1", "--threads", "1", "--seconds", "0.01")
    done = run("bench", "network", *where, *timing, "--json")
    assert done.exit_code == 0, done.exception


def test_bench_chess_compiles_first_and_tells_the_error_of_int8(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("openvino", reason="not installed")
    monkeypatch.setattr(bench_network, "PRECISION_POSITIONS", 5)
    warmed = []

    def warm_up(_: NetworkEvaluator, threads: int, batch: int) -> None:
        warmed.append((threads, batch))

    monkeypatch.setattr(NetworkEvaluator, "warm_up", warm_up)
    arguments = ("--simulations", "20", "--positions", "1", "--threads", "1", "--leaves", "4")
    save_network(network("chess"), tmp_path / "net.onnx")
    where = ("--weights", str(tmp_path / "net.onnx"), "--precision", "int8")
    done = run("bench", "chess", *where, *arguments)
    assert done.exit_code == 0, done.exception
    assert "int8 against f32" in done.output
    assert warmed == [(1, 4)]


def test_what_auto_took_is_printed_apart_from_the_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if len(installed_backends()) < 2:
        pytest.skip("there is no choice")
    monkeypatch.setattr(measure, "AUTO_SECONDS", 0.02)
    monkeypatch.setattr(sys, "stdin", io.StringIO("quit\n"))
    for game in ("chess", "tictactoe"):
        save_network(network(game), tmp_path / f"{game}.onnx")
    chess, small = (str(tmp_path / f"{game}.onnx") for game in ("chess", "tictactoe"))
    auto = ("--set", "selfplay.backend=auto", "--set", "selfplay.precision=f32")
    for arguments in (
        ["bench", "chess", "--weights", chess, "--simulations", "5", "--positions", "1", "--json"],
        ["analyse", "tictactoe", "--weights", small, "--simulations", "5", "--json"],
        ["play", "tictactoe", "--against", f"{small}?simulations=5"],
        ["selfplay", "tictactoe", "--out", str(tmp_path), "--samples", "1", "--workers", "1"],
    ):
        assert main([*arguments, *(auto if arguments[0] == "selfplay" else ())]) == 0
        shown = capsys.readouterr()
        lines = [line for line in shown.err.splitlines() if line.startswith("auto: ")]
        assert len(lines) == 1, (arguments, shown.err)
        assert "evaluations/s; " in lines[0]
        assert "auto: " not in shown.out


def test_a_target_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    for target in (tmp_path / "nosuch" / "net.onnx", tmp_path / "file" / "net.onnx"):
        (tmp_path / "file").touch()
        with pytest.raises(UserError) as caught:
            save_network(network(), target)
        assert str(caught.value).startswith(f"'{target}' cannot be written: ")


def test_bench_chess_counts_nodes(tmp_path: Path) -> None:
    source = write_net(tmp_path / "net.pb.gz")
    arguments = ("--weights", str(source), "--simulations", "60", "--positions", "2", "--json")
    done = run("bench", "chess", *arguments, "--backend", installed_backends()[0])
    assert done.exit_code == 0, done.output
    found = json.loads(done.output)
    assert [row["nodes"] for row in found["positions"]] == [60, 60]


def test_the_ten_positions_are_legal() -> None:
    game = native("chess")
    assert len(set(CHESS_POSITIONS)) == 10
    for fen in CHESS_POSITIONS:
        assert game.outcome(game.parse_position(fen)) is None
