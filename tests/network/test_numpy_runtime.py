"""The runtime of an installation without any other: the same numbers, and used only then."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import pytest

from zermelo.cli import main
from zermelo.network import NetworkEvaluator, load_network
from zermelo.network.measure import example_batch
from zermelo.network.places import SHIPPED
from zermelo.network.runtimes import installed_backends

RUNTIMES = ("openvino", "onnxruntime", "torch")


@pytest.fixture
def light(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if no runtime were installed."""
    real = importlib.util.find_spec

    def find(name: str, *rest: Any) -> Any:
        return None if name in RUNTIMES else real(name, *rest)

    monkeypatch.setattr("importlib.util.find_spec", find)


@pytest.mark.parametrize("name", ["connect4", "othello_size6", "tictactoe"])
def test_numpy_says_of_the_shipped_networks_what_another_runtime_says(name: str) -> None:
    weights = load_network(SHIPPED / f"{name}.onnx")
    batch = example_batch(weights.architecture, 5)
    other = NetworkEvaluator(weights, installed_backends()[0])(batch)
    for ours, theirs in zip(NetworkEvaluator(weights, "numpy")(batch), other, strict=True):
        assert ours.shape == theirs.shape and ours.dtype == theirs.dtype
        assert np.allclose(ours, theirs, atol=1e-4)


def test_it_is_chosen_only_where_no_other_runtime_is() -> None:
    assert "numpy" not in installed_backends()


@pytest.mark.usefixtures("light")
def test_a_light_installation_plays_with_the_network_and_says_what_would_be_faster(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import io

    assert installed_backends() == ["numpy"]
    monkeypatch.setattr("sys.stdin", io.StringIO("quit\n"))
    assert main(["play", "tictactoe"]) == 0
    shown = capsys.readouterr()
    assert "tictactoe" in shown.out
    assert "auto: numpy f32" in shown.err and "zermelo[network]" in shown.err
    words = ["match", str(SHIPPED / "chess.safetensors"), "random", "--games", "1"]
    assert main([*words, "--simulations", "10"]) == 0
