"""The loss of a batch against a slow computation, and the metrics made of it."""

from __future__ import annotations

import math
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest

import zermelo
from zermelo.replay import Batch

torch: Any = pytest.importorskip("torch", reason="torch is not installed")

from sample_batches import sample_batches  # noqa: E402

from zermelo.network.graph import Heads  # noqa: E402
from zermelo.train.loader import TensorBatch, to_tensors  # noqa: E402
from zermelo.train.losses import Losses, batch_losses  # noqa: E402
from zermelo.train.options import TrainOptions  # noqa: E402
from zermelo.train.tally import Tally  # noqa: E402

OPTIONS = TrainOptions(value_weight=0.7, moves_left_weight=0.2)


def losses_of(
    heads: Heads[torch.Tensor], batch: TensorBatch, blend: float, options: TrainOptions
) -> Losses:
    """Of heads with logits of all actions."""
    legal = heads.policy.gather(1, batch.actions)
    return batch_losses(Heads(legal, heads.value, heads.moves_left), batch, blend, options)


def made_heads(batch: Batch, num_actions: int, left: bool = True) -> Heads[Any]:
    generator = torch.Generator().manual_seed(1)
    rows = len(batch.weight)
    policy, value, plies = (
        torch.randn(rows, size, generator=generator) for size in (num_actions, 3, 1)
    )
    return Heads(
        policy.requires_grad_(), value.requires_grad_(), 30 * plies.abs() if left else None
    )


def backward(loss: Any) -> None:  # which torch does not annotate
    loss.backward()


def cross_entropy(shares: list[float], logits: list[float]) -> float:
    highest = max(logits)
    log_sum = highest + math.log(sum(math.exp(x - highest) for x in logits))
    return sum(s * (log_sum - x) for s, x in zip(shares, logits, strict=True))


def slow_loss(batch: Batch, heads: Heads[Any], blend: float, o: TrainOptions) -> float:
    """Row by row, with the legal actions listed."""
    total = 0.0
    for row, weight in enumerate(batch.weight.tolist()):
        legal = [k for k in range(batch.shares.shape[1]) if batch.shares[row, k] >= 0]
        shares = [float(batch.shares[row, k]) for k in legal]
        logits = [heads.policy[row, int(batch.actions[row, k])].item() for k in legal]
        policy = cross_entropy(shares, logits) if batch.policy_weight[row] else 0.0
        target = [
            (1 - blend) * float(r) + blend * float(s)
            for r, s in zip(batch.result_wdl[row], batch.root_wdl[row], strict=True)
        ]
        value = cross_entropy(target, heads.value[row].tolist())
        left = 0.0
        if heads.moves_left is not None:
            error = abs(heads.moves_left[row, 0].item() - float(batch.plies_left[row])) / 20
            left = 0.5 * error**2 if error < 0.5 else 0.5 * (error - 0.25)
        total += weight * (policy + o.value_weight * value + o.moves_left_weight * left)
    return total / float(batch.weight.sum())


@pytest.mark.parametrize("game", ["tictactoe", "connect4", "chess"])
@pytest.mark.parametrize("left", [True, False])
def test_the_loss_equals_a_slow_computation(game: str, left: bool) -> None:
    rules = zermelo.game(game)
    [batch] = sample_batches(rules, 1, 16)
    heads = made_heads(batch, rules.num_actions, left)
    losses = losses_of(heads, to_tensors(batch), 0.3, OPTIONS)
    assert losses.total.item() == pytest.approx(slow_loss(batch, heads, 0.3, OPTIONS), rel=1e-5)
    assert (losses.moves_left is None) is not left


def test_rows_whose_plies_left_are_not_known_teach_the_others_only() -> None:
    rules = zermelo.game("connect4")
    [batch] = sample_batches(rules, 1, 8)
    batch.plies_left[:4] = 0
    heads = made_heads(batch, rules.num_actions)
    assert heads.moves_left is not None
    plies = heads.moves_left.detach().requires_grad_()
    losses = losses_of(Heads(heads.policy, heads.value, plies), to_tensors(batch), 0.3, OPTIONS)
    backward(losses.total)
    assert (plies.grad.flatten() != 0).tolist() == [False] * 4 + [True] * 4
    assert losses.moves_left is not None
    assert losses.moves_left.tolist()[:4] == [0.0] * 4


def test_only_legal_actions_of_rows_with_a_policy_target_move_the_policy() -> None:
    rules = zermelo.game("connect4")
    [batch] = sample_batches(rules, 1, 32)
    batch.actions[0, :] = 0
    batch.shares[0, :] = -1
    batch.shares[0, :2] = 0.5
    batch.actions[0, :2] = (2, 4)
    batch.policy_weight[0] = 1
    heads = made_heads(batch, rules.num_actions)
    backward(losses_of(heads, to_tensors(batch), 0.3, OPTIONS).total)
    gradient = heads.policy.grad.numpy()
    assert np.isfinite(gradient).all()
    assert np.flatnonzero(gradient[0]).tolist() == [2, 4]
    assert (np.abs(gradient).sum(1) > 0).tolist() == (batch.policy_weight > 0).tolist()


def test_smoothing_spreads_a_share_over_the_legal_actions_alone() -> None:
    rules = zermelo.game("connect4")
    [batch] = sample_batches(rules, 1, 8)
    heads = made_heads(batch, rules.num_actions)
    plain, smooth, sharper = (
        losses_of(heads, to_tensors(batch), 0.0, TrainOptions(policy_smoothing=share))
        for share in (0.0, 0.2, 0.1)
    )
    legal = batch.shares >= 0
    even = legal / legal.sum(1, keepdims=True)
    logits = np.take_along_axis(heads.policy.detach().numpy(), batch.actions, 1)
    uniform = [
        cross_entropy(e[m].tolist(), x[m].tolist())
        for e, x, m in zip(even, logits, legal, strict=True)
    ]
    wanted = 0.8 * plain.policy.numpy() + 0.2 * np.array(uniform)
    np.testing.assert_allclose(smooth.policy.numpy(), wanted, rtol=1e-5)
    assert (smooth.policy_entropy > sharper.policy_entropy).all()


def test_a_row_counts_as_often_as_its_weight_says() -> None:
    rules = zermelo.game("tictactoe")
    [batch] = sample_batches(rules, 1, 6)
    weight = np.array([1, 2, 1, 3, 1, 1], np.float32)
    rows = np.repeat(np.arange(6), weight.astype(int))
    heads = made_heads(batch, rules.num_actions)
    assert heads.moves_left is not None
    copied = Heads(heads.policy[rows], heads.value[rows], heads.moves_left[rows])
    columns = asdict(batch)
    del columns["futures"]
    copies = {name: array[rows] for name, array in columns.items()}
    repeated = Batch(**copies | {"weight": np.ones(len(rows), np.float32)})
    batch = replace(batch, weight=weight)
    one, other = Tally(), Tally()
    for tally, b, h in ((one, batch, heads), (other, repeated, copied)):
        tensors = to_tensors(b)
        tally.add(tensors, losses_of(h, tensors, 0.3, OPTIONS))
    metrics, wanted = one.metrics(), other.metrics()
    for name in wanted.keys() - {"samples", "calibration"}:
        assert metrics[name] == pytest.approx(wanted[name], rel=1e-5), name


def test_metrics_are_right_on_a_batch_worked_out_by_hand() -> None:
    batch = Batch(
        observations=np.zeros((3, 1, 1, 1), np.float32),
        actions=np.array([[0, 1], [2, 0], [0, 2]]),
        shares=np.array([[0.75, 0.25], [1.0, -1.0], [0.0, 0.0]], np.float32),
        policy_weight=np.array([1, 1, 0], np.float32),
        result_wdl=np.array([[1, 0, 0], [0, 0, 1], [0, 1, 0]], np.float32),
        root_wdl=np.array([[0, 0, 1], [1, 0, 0], [0, 0, 1]], np.float32),
        plies_left=np.zeros(3, np.float32),
        weight=np.ones(3, np.float32),
    )
    even_value = torch.log(torch.tensor([[0.8, 0.1, 0.1], [0.8, 0.1, 0.1], [0.25, 0.5, 0.25]]))
    policy = torch.log(torch.tensor([[0.2, 0.6, 9.0], [5.0, 1.0, 0.1], [1.0, 1.0, 1.0]]))
    tally = Tally()
    tensors = to_tensors(batch)
    tally.add(tensors, losses_of(Heads(policy, even_value, None), tensors, 0.0, OPTIONS))
    found = tally.metrics()
    # Row 0 has probabilities 1/4 and 3/4 on its two actions; row 1 has one action only.
    row0 = -(0.75 * math.log(0.25) + 0.25 * math.log(0.75))
    entropy0 = -(0.75 * math.log(0.75) + 0.25 * math.log(0.25))
    assert found["policy_loss"] == pytest.approx(row0 / 2)
    assert found["policy_entropy"] == pytest.approx(entropy0 / 2)
    assert found["policy_kl"] == pytest.approx((row0 - entropy0) / 2)
    assert found["policy_accuracy"] == 0.5
    value = (-math.log(0.8) - math.log(0.1) - math.log(0.5)) / 3
    assert found["value_loss"] == pytest.approx(value, rel=1e-5)
    # Predicted 0.7, 0.7 and 0; outcomes 1, -1 and 0: the bin of 0.7 is off by 0.7.
    assert found["value_squared_error"] == pytest.approx((0.09 + 2.89) / 3, rel=1e-5)
    assert found["value_calibration_error"] == pytest.approx(0.7 * 2 / 3, rel=1e-5)
    table = [entry for entry in found["calibration"] if entry["share"]]
    assert [entry["low"] for entry in table] == pytest.approx([0.0, 0.6])
    assert [entry["predicted"] for entry in table] == pytest.approx([0.0, 0.7], abs=1e-6)
    assert [entry["outcome"] for entry in table] == pytest.approx([0.0, 0.0])
    assert found["moves_left_loss"] is None
    assert found["samples"] == 3
