"""T15: heads that only training has shape the body, and nobody plays with them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sample_batches import sample_batches

import zermelo
from zermelo.network import NetworkOptions, save_network
from zermelo.replay import Batch
from zermelo.replay.futures import HORIZONS
from zermelo.replay.sampler import FutureBatch

torch: Any = pytest.importorskip("torch", reason="torch is not installed")

from zermelo.network.trained import new_network  # noqa: E402
from zermelo.train import Trainer, TrainOptions  # noqa: E402
from zermelo.train.loader import to_tensors  # noqa: E402
from zermelo.train.losses import extra_losses, softened  # noqa: E402

KINDS = {
    "tower": NetworkOptions(blocks=1, filters=8, value_hidden=16),
    "processor network": NetworkOptions(
        kind="sparse", hidden=64, policy_hidden=32, value_hidden=32
    ),
}
WEIGHTS = ("reply_weight", "soft_policy_weight", "future_weight")


def batches(count: int = 2, known: bool = True) -> list[Batch]:
    game: Any = zermelo.game("connect4")
    rng = np.random.default_rng(1)
    found = []
    for batch in sample_batches(game, count, 32):
        wdl = rng.dirichlet((1, 1, 1), (32, len(HORIZONS))).astype(np.float32)
        shares = rng.dirichlet((1, 1, 1), 32).astype(np.float32)
        futures = FutureBatch(
            np.tile(np.array([0, 2, 5]), (32, 1)),
            shares,
            np.full(32, float(known), np.float32),
            wdl,
            np.full((32, len(HORIZONS)), float(known), np.float32),
        )
        found.append(dataclasses.replace(batch, futures=futures))
    return found


def trainer(kind: str, **chosen: Any) -> Trainer:
    network = new_network(zermelo.game("connect4"), KINDS[kind], seed=4)
    return Trainer(network, TrainOptions(threads=1, precision="f32", **chosen), seed=7)


@pytest.mark.technique("T15")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weight", WEIGHTS)
def test_each_head_changes_the_bodys_gradients(kind: str, weight: str) -> None:
    first = "input.conv.weight" if kind == "tower" else "table"

    def gradient(**chosen: float) -> Any:
        learner = trainer(kind, **chosen)
        batch = to_tensors(batches(1)[0], learner.network.prepare)
        torch.autograd.backward(learner._losses(batch, 0.0).total)
        found = learner.network.get_parameter(first).grad
        assert found is not None
        return found.clone()

    plain = gradient()
    assert not torch.allclose(gradient(**{weight: 1.0}), plain)


@pytest.mark.technique("T15")
@pytest.mark.parametrize("kind", KINDS)
def test_what_plays_is_shaped_as_without_them(kind: str, tmp_path: Path) -> None:
    sizes: list[Any] = []
    for chosen in ({}, dict.fromkeys(WEIGHTS, 0.5)):
        learner = trainer(kind, **chosen)
        figures = learner.train_iteration(batches(), 0, 10)
        assert ("reply_loss" in figures["training"]) == bool(chosen)
        weights = learner.weights()
        shapes = {name: (array.shape, array.dtype) for name, array in weights.arrays.items()}
        path = tmp_path / f"{len(sizes)}.safetensors"
        save_network(weights, path)
        sizes.append((shapes, path.stat().st_size))
    assert sizes[0] == sizes[1]


@pytest.mark.technique("T15")
@pytest.mark.parametrize("kind", KINDS)
def test_rows_without_targets_teach_the_heads_nothing(kind: str) -> None:
    learner = trainer(kind, **dict.fromkeys(WEIGHTS, 1.0))
    batch = to_tensors(batches(1, known=False)[0], learner.network.prepare)
    losses = learner._losses(batch, 0.0)
    assert not losses.extra["reply"].any() and not losses.extra["future"].any()
    assert not losses.extra["soft_policy"][batch.policy_weight == 0].any()
    assert losses.extra["soft_policy"].any()


@pytest.mark.technique("T15")
def test_the_losses_are_cross_entropies_with_the_targets() -> None:
    learner = trainer("tower", **dict.fromkeys(WEIGHTS, 1.0))
    learner.network.eval()
    batch = to_tensors(batches(1)[0], learner.network.prepare)
    assert batch.futures is not None and learner.network.extra is not None
    body = learner.network.body(batch.inputs)
    heads = learner.network.extra(body, batch.actions, batch.futures.reply_actions)
    found = extra_losses(heads, batch)
    row = int(torch.nonzero(batch.policy_weight)[0])
    logits = heads.reply[row].detach().numpy().astype(np.float64)
    probabilities = np.exp(logits) / np.exp(logits).sum()
    shares = batch.futures.reply_shares[row].numpy()
    assert found["reply"][row].item() == pytest.approx(
        -(shares * np.log(probabilities)).sum(), rel=1e-4
    )
    legal = batch.shares[row] >= 0
    powers = batch.shares[row][legal].numpy() ** 0.25
    np.testing.assert_allclose(
        softened(batch.shares, 4.0)[row][legal].numpy(), powers / powers.sum(), rtol=1e-5
    )
    logits = heads.futures[row].detach().numpy().astype(np.float64)
    logs = logits - np.log(np.exp(logits).sum(1, keepdims=True))
    expected = -(batch.futures.wdl[row].numpy() * logs).sum(1).mean()
    assert found["future"][row].item() == pytest.approx(expected, rel=1e-4)


@pytest.mark.technique("T15", "T14")
def test_a_run_goes_on_with_its_heads_and_may_get_new_ones() -> None:
    def states(learner: Trainer) -> Mapping[str, Any]:
        return learner.state().arrays

    chosen = dict.fromkeys(WEIGHTS, 0.5)
    whole = trainer("tower", **chosen)
    whole.train_iteration(batches(), 0, 10)
    halfway = whole.state()
    whole.train_iteration(batches(), 1, 10)
    resumed = trainer("tower", **chosen)
    resumed.restore(halfway)
    resumed.train_iteration(batches(), 1, 10)
    for name, array in states(whole).items():
        np.testing.assert_array_equal(array, states(resumed)[name], err_msg=name)

    plain = trainer("tower")
    plain.train_iteration(batches(), 0, 10)
    later = trainer("tower", **chosen)
    later.restore(plain.state())
    assert np.isfinite(later.train_iteration(batches(), 1, 10)["training"]["reply_loss"])
    without = trainer("tower")
    without.restore(halfway)
    without.train_iteration(batches(), 1, 10)
