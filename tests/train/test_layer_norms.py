"""T16: lengths of weights and of what an iteration changes, and the doctor's verdict on them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import zermelo
from zermelo.doctor import norms
from zermelo.doctor.diagnose import HEALTHY, ILL, UNKNOWN
from zermelo.network import NetworkOptions

torch: Any = pytest.importorskip("torch", reason="torch is not installed")

from sample_batches import sample_batches  # noqa: E402

from zermelo.network.trained import new_network  # noqa: E402
from zermelo.train import Trainer, TrainOptions  # noqa: E402
from zermelo.train.norms import layer_of  # noqa: E402

pytestmark = pytest.mark.technique("T16")
TOWER = NetworkOptions(blocks=1, filters=8, value_hidden=16)
SPARSE = NetworkOptions(kind="sparse", hidden=64, policy_hidden=32, value_hidden=32)
BATCHES = sample_batches(zermelo.game("connect4"), 4, 64)


def trained(kind: NetworkOptions, iterations: int, **options: Any) -> tuple[Trainer, list[Any]]:
    trainer = Trainer(
        new_network(zermelo.game("connect4"), kind, seed=3), TrainOptions(threads=1, **options)
    )
    return trainer, [trainer.train_iteration(BATCHES, i, iterations) for i in range(iterations)]


def arrays(trainer: Trainer) -> dict[str, Any]:
    return {name: p.detach().numpy().copy() for name, p in trainer.network.named_parameters()}


@pytest.mark.parametrize("kind", [TOWER, SPARSE], ids=["residual", "sparse"])
def test_lengths_are_those_of_the_weights_and_of_the_iterations_change(
    kind: NetworkOptions,
) -> None:
    trainer, (found,) = trained(kind, 1)
    before = arrays(Trainer(new_network(zermelo.game("connect4"), kind, seed=3)))
    after = arrays(trainer)
    assert set(found["layers"]) == {layer_of(name) for name in after}
    for layer, lengths in found["layers"].items():
        names = [name for name in after if layer_of(name) == layer]
        weight = np.concatenate([after[name].ravel() for name in names])
        moved = np.concatenate([(after[name] - before[name]).ravel() for name in names])
        assert lengths["weight"] == pytest.approx(np.linalg.norm(weight), rel=1e-5)
        assert lengths["update"] == pytest.approx(np.linalg.norm(moved), rel=1e-4)
        assert lengths["update"] > 0
    whole = np.concatenate([array.ravel() for array in after.values()])
    assert found["weight_norm"] == pytest.approx(np.linalg.norm(whole), rel=1e-5)
    first = np.concatenate([array.ravel() for array in before.values()])
    assert found["weight_norm_before"] == pytest.approx(np.linalg.norm(first), rel=1e-5)
    squares = sum(lengths["update"] ** 2 for lengths in found["layers"].values())
    assert found["update_norm"] == pytest.approx(math.sqrt(squares))


def test_kernels_norms_and_biases_of_one_layer_go_together() -> None:
    names = ["block0_conv1.conv.weight", "block0_conv1.norm.bias", "tail_bias", "tail"]
    assert [layer_of(name) for name in names] == ["block0_conv1"] * 2 + ["tail"] * 2
    assert layer_of("actions") == layer_of("action_bias")


def test_the_lengths_can_be_left_out() -> None:
    assert "weight_norm" not in trained(TOWER, 1, layer_norms=False)[1][0]


class Stated:
    """What the check reads of a run."""

    def __init__(self, found: list[dict[str, Any]]) -> None:
        self.metrics = [{"iteration": i + 1, "train": train} for i, train in enumerate(found)]


def judged(found: list[dict[str, Any]]) -> Any:
    return norms.norms(Stated(found))  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [TOWER, SPARSE], ids=["residual", "sparse"])
def test_the_doctor_tells_a_usual_learning_rate_from_one_that_lets_weights_run_away(
    kind: NetworkOptions,
) -> None:
    assert judged(trained(kind, 6)[1]).verdict == HEALTHY
    finding = judged(trained(kind, 6, learning_rate=1.0)[1])
    assert finding.verdict == ILL
    assert "train.learning_rate" in finding.advice


def lengths(whole: list[float], layer: list[float] | None = None) -> list[dict[str, Any]]:
    layer = layer or [1.0] * len(whole)
    return [
        {"weight_norm": w, "weight_norm_before": 10.0, "layers": {"a": {"weight": x}}}
        for w, x in zip(whole, layer, strict=True)
    ]


def test_a_layer_that_grows_without_end_is_found_and_named() -> None:
    finding = judged(lengths([10.0] * 8, [1, 1, 1, 1.5, 2.3, 3.5, 5, 8]))
    assert finding.verdict == ILL
    assert "'a', until iteration 8" in finding.sentence


def test_a_layer_may_grow_in_the_first_iterations_and_slowly_after_that() -> None:
    assert judged(lengths([10.0] * 8, [0.01, 0.5, 1, 1.2, 1.4, 1.6, 1.8, 2.0])).verdict == HEALTHY
    slow = [10.0 * 1.15**i for i in range(30)]  # 57 fold in all, but 2 fold in five iterations
    assert judged(lengths(slow)).verdict == HEALTHY


def test_a_jump_of_the_first_iteration_stays_ill_until_the_weights_are_back() -> None:
    assert judged(lengths([45.0] * 20)).verdict == ILL
    assert judged(lengths([45.0] * 5 + [12.0] * 20)).verdict == HEALTHY


def test_nothing_is_said_without_lengths() -> None:
    assert judged([{"loss": 1.0}]).verdict == UNKNOWN
