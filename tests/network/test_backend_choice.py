"""Which backend and precision is taken, and how close the small precisions stay."""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from some_networks import Nim, need, network

import zermelo
from zermelo.errors import UserError
from zermelo.network import (
    NetworkEvaluator,
    NetworkOptions,
    evaluator,
    measure,
    runtimes,
)
from zermelo.network.accuracy import difference
from zermelo.network.measure import choice_text, fastest
from zermelo.network.positions import sample_observations, sample_positions
from zermelo.network.remembered import remember
from zermelo.network.runtimes import BACKENDS, installed_backends, make_runtime


def need_bf16_in_torch() -> None:
    need("torch")
    from zermelo.network.runtime_torch import best_device, supports_bf16

    if best_device() == "cpu" and not supports_bf16():
        pytest.skip("this processor has no bf16")


@pytest.fixture(autouse=True)
def nothing_remembered(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Each test measures for itself."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def test_a_start_takes_what_was_the_fastest_here_before(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    need("openvino")
    need("onnx")
    monkeypatch.setattr(measure, "AUTO_SECONDS", 0.02)
    weights = network(zermelo.game("tictactoe"))
    first = NetworkEvaluator(weights)
    measured: list[Any] = []

    def counted(*given: Any) -> Any:
        measured.append(given)
        return fastest(*given)

    monkeypatch.setattr(measure, "fastest", counted)
    again = NetworkEvaluator(weights)
    assert not measured
    assert (again.backend, again.choice) == (first.backend, first.choice)
    NetworkEvaluator(network(zermelo.game("connect4")))  # another size is measured
    assert len(measured) == 1
    (tmp_path / "zermelo" / "runtimes.json").write_text("nonsense")
    NetworkEvaluator(weights)
    assert len(measured) == 2


def test_a_runtime_that_broke_since_then_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    need("openvino")
    need("onnx")
    monkeypatch.setattr(measure, "AUTO_SECONDS", 0.02)
    weights = network(zermelo.game("tictactoe"))
    first = NetworkEvaluator(weights).backend
    make = runtimes.make_runtime

    def broken(made: Any, backend: str, *more: Any) -> Any:
        if backend == first and not measured:
            raise UserError("it broke")
        return make(made, backend, *more)

    measured: list[Any] = []
    monkeypatch.setattr(evaluator, "make_runtime", broken)

    def counted(*given: Any) -> Any:
        measured.append(given)
        return fastest(*given)

    monkeypatch.setattr(measure, "fastest", counted)
    NetworkEvaluator(weights)
    assert len(measured) == 1


def test_auto_measures_what_is_installed_and_takes_the_fastest() -> None:
    weights = network(zermelo.game("tictactoe"))
    evaluator = NetworkEvaluator(weights)
    quick = [row for row in evaluator.choice if row["backend"] != "torch"]
    rates = [row["evaluations_per_second"] for row in quick]
    assert rates == sorted(rates, reverse=True)
    if len(installed_backends()) > 1:
        assert {row["backend"] for row in evaluator.choice} == set(installed_backends())
        assert evaluator.backend == evaluator.choice[0]["backend"]
    backend, precision, _ = fastest(weights, installed_backends()[0], "auto")
    assert backend == installed_backends()[0]
    assert precision in ("f32", "bf16")


@pytest.mark.parametrize(("rate", "taken"), [(1.1, "openvino"), (1.5, "torch")])
def test_what_loads_long_is_taken_only_if_it_is_much_quicker(
    monkeypatch: pytest.MonkeyPatch, rate: float, taken: str
) -> None:
    need("openvino")
    need("torch")
    rates = {"openvino": 1000.0, "torch": 1000.0 * rate, "onnx": 900.0, "numpy": 1.0}
    made: list[str] = []
    make = make_runtime

    def noted(weights: Any, backend: str, *more: Any) -> Any:
        made.append(backend)
        return make(weights, backend, *more)

    monkeypatch.setattr(measure, "make_runtime", noted)
    monkeypatch.setattr(measure, "calls_per_second", lambda *_: rates[made[-1]])
    weights = network(zermelo.game("tictactoe"))
    backend, _, choice = fastest(weights, "auto", "f32")
    assert backend == choice[0]["backend"] == taken
    known = sorted(choice, key=lambda row: -row["evaluations_per_second"])  # of an older version
    remember(weights.architecture, ("auto", "f32", *installed_backends()), known)
    assert NetworkEvaluator(weights, "auto", "f32").backend == taken


@pytest.mark.parametrize("stage", ["import", "first call"])
def test_auto_does_without_a_runtime_that_is_broken(
    monkeypatch: pytest.MonkeyPatch, stage: str
) -> None:
    need("onnx")
    need("openvino")
    from zermelo.network import runtime_onnx

    def load(name: str) -> Any:
        if name == "onnxruntime":
            raise ImportError("libonnxruntime.so.1:\nno such file")
        return importlib.import_module(name)

    def run(*_: Any) -> Any:
        raise RuntimeError("libonnxruntime.so.1: no such symbol")

    monkeypatch.setattr(measure, "AUTO_SECONDS", 0.02)
    if stage == "import":
        loader = SimpleNamespace(import_module=load, util=importlib.util)
        monkeypatch.setattr(runtimes, "importlib", loader)
    else:
        monkeypatch.setattr(runtime_onnx.OnnxRuntime, "run", run)
    evaluator = NetworkEvaluator(network(zermelo.game("tictactoe")))
    assert evaluator.backend != "onnx"
    last = evaluator.choice[-1]
    assert (last["backend"], last["evaluations_per_second"]) == ("onnx", 0)
    text = choice_text(evaluator.choice)
    assert text.startswith(f"auto: {evaluator.backend} f32, ")
    assert "onnx f32: " in text
    assert "libonnxruntime.so.1: no such" in text
    if stage == "import":
        with pytest.raises(UserError, match="onnx cannot be loaded"):
            make_runtime(network(zermelo.game("tictactoe")), "onnx")


def test_what_auto_took_is_said_in_a_line() -> None:
    rows: list[dict[str, Any]] = [
        {"backend": "openvino", "precision": "bf16", "evaluations_per_second": 15800},
        {"backend": "onnx", "precision": "f32", "evaluations_per_second": 7700},
    ]
    assert choice_text(rows) == "auto: openvino bf16, 15,800 evaluations/s; onnx f32 7,700"
    assert choice_text([]) == ""


def test_int8_is_calibrated_on_a_game_written_in_python() -> None:
    need("openvino")
    game = Nim()
    weights = network(game)
    for backend in ("openvino", "auto"):
        evaluator = NetworkEvaluator(weights, backend, "int8", game=game)
        evaluator.swap(network(game, 1))
        assert evaluator(sample_observations(game, 2))[0].shape == (2, 2)
    with pytest.raises(UserError, match="no game 'nim'"):
        NetworkEvaluator(weights, "openvino", "int8")


def test_torch_refuses_bf16_on_a_processor_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    need("torch")
    from zermelo.network import runtime_torch

    monkeypatch.setattr(runtime_torch, "supports_bf16", lambda: False)
    weights = network(zermelo.game("tictactoe"))
    with pytest.raises(UserError, match="does not compute in bf16"):
        runtime_torch.TorchRuntime(weights, "bf16", "cpu")
    runtime_torch.TorchRuntime(weights, "f32", "cpu")


def test_int8_stays_close_to_f32() -> None:
    need("openvino")
    game = zermelo.game("connect4")
    weights = network(game, options=NetworkOptions(blocks=3, filters=16))
    exact = NetworkEvaluator(weights, "openvino", "f32")
    rough = NetworkEvaluator(weights, "openvino", "int8")
    found = difference(exact, rough, game, sample_positions(game, 200, seed=9))
    assert 0 < found.policy_kl < 0.01
    assert found.value_mean < 0.02
    assert found.top_changed < 0.1
    assert "top move" in str(found)
    same = difference(exact, exact, game, sample_positions(game, 20))
    assert same.policy_kl == same.value_max == same.top_changed == 0


@pytest.mark.technique("T12")
def test_bf16_stays_close_to_f32() -> None:
    game = zermelo.game("connect4")
    weights = network(game)
    need_bf16_in_torch()
    exact = NetworkEvaluator(weights, "torch", "f32")
    rough = NetworkEvaluator(weights, "torch", "bf16")
    found = difference(exact, rough, game, sample_positions(game, 60, seed=9))
    assert found.policy_kl < 0.01
    assert found.value_max < 0.05


@pytest.mark.parametrize(
    ("backend", "precision", "sentence"),
    [
        ("cuda", "f32", "no backend 'cuda'"),
        ("openvino", "f8", "no precision 'f8'"),
        ("onnx", "bf16", "f32 only"),
        ("onnx", "int8", "openvino only"),
        ("torch", "int8", "openvino only"),
    ],
)
def test_what_a_runtime_cannot_do_is_said(backend: str, precision: str, sentence: str) -> None:
    if backend in BACKENDS:
        need(backend)
    with pytest.raises(UserError, match=sentence):
        make_runtime(network(zermelo.game("tictactoe")), backend, precision)
