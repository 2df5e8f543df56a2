"""The loss of a batch, and what it is made of. Shapes: B rows, K legal actions at most."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from zermelo.network.graph import Heads
from zermelo.network.training_heads import ExtraHeads
from zermelo.train.loader import TensorBatch
from zermelo.train.options import TrainOptions
from zermelo.train.targets import smoothed_policy, value_target

# A padded action's logit: its probability is exactly 0, and its gradient is finite.
PADDED = -1e30
# Plies left are compared in units of this many plies, quadratically below DELTA units.
MOVES_LEFT_UNIT = 20.0
MOVES_LEFT_DELTA = 0.5
SOFT_TEMPERATURE = 4.0  # T15


class Losses(NamedTuple):
    """`total` is minimised; the others are per row [B] and not weighted."""

    total: Tensor  # scalar
    policy: Tensor  # cross-entropy over the legal actions
    policy_entropy: Tensor  # of the target: what the cross-entropy cannot go below
    policy_agrees: Tensor  # 1 where the most probable action is (one of) the target's
    value: Tensor  # cross-entropy over win, draw, loss
    value_entropy: Tensor
    predicted_value: Tensor  # win - loss, in [-1, 1]
    moves_left: Tensor | None  # Huber; 0 in rows whose plies left are not known
    extra: dict[str, Tensor]  # T15: those of the heads for training, 0 where there is no target


def batch_losses(
    heads: Heads[Tensor],
    batch: TensorBatch,
    blend: float,
    options: TrainOptions,
    extra: ExtraHeads | None = None,
) -> Losses:
    """Cross-entropies and the weighted mean over the rows that is minimised.

    The policy's logits are those of `batch.actions`.

    total = sum_rows weight * (policy_weight * policy + value_weight * value + moves_left_weight *
    moves_left + those of the heads for training) / sum_rows weight
    """
    legal = batch.shares >= 0
    logits = heads.policy.float().masked_fill(~legal, PADDED)
    target = smoothed_policy(batch.shares, legal, options.policy_smoothing)
    policy = _cross_entropy(logits, target, legal)

    value_logits = heads.value.float()
    wdl = value_target(batch.result_wdl, batch.root_wdl, blend)
    value = -(wdl * value_logits.log_softmax(1)).sum(1)

    each = batch.policy_weight * policy + options.value_weight * value
    moves_left = None
    if heads.moves_left is not None:
        moves_left = _moves_left_loss(heads.moves_left.float().flatten(), batch.plies_left)
        each = each + options.moves_left_weight * moves_left
    more = {} if extra is None else extra_losses(extra, batch)
    for name, loss in more.items():
        each = each + getattr(options, f"{name}_weight") * loss
    total = (batch.weight * each).sum() / batch.weight.sum().clamp(min=1e-12)

    with torch.no_grad():
        chosen = target.gather(1, logits.argmax(1, keepdim=True)).flatten()
        probabilities = value_logits.softmax(1)
        return Losses(
            total,
            policy.detach(),
            _entropy(target),
            (chosen == target.amax(1)).float(),
            value.detach(),
            _entropy(wdl),
            probabilities[:, 0] - probabilities[:, 2],
            None if moves_left is None else moves_left.detach(),
            {name: loss.detach() for name, loss in more.items()},
        )


def extra_losses(heads: ExtraHeads, batch: TensorBatch) -> dict[str, Tensor]:
    """T15: per row [B], by the name of the weight; cross-entropies, and 0 without a target."""
    legal = batch.shares >= 0
    soft = _cross_entropy(heads.soft, softened(batch.shares, SOFT_TEMPERATURE), legal)
    found = {"soft_policy": batch.policy_weight * soft}
    later = batch.futures
    if later is None:
        return found
    legal = later.reply_shares >= 0
    reply = _cross_entropy(heads.reply, later.reply_shares.clamp(min=0.0), legal)
    future = -(later.wdl * heads.futures.log_softmax(2)).sum(2)
    found["reply"] = later.reply_weight * reply
    found["future"] = (later.known * future).sum(1) / future.shape[1]
    return found


def softened(shares: Tensor, temperature: float) -> Tensor:
    """Shares to the power 1 / temperature, which again add up to 1; 0 where padded."""
    powers = shares.clamp(min=0.0) ** (1.0 / temperature)
    return powers / powers.sum(1, keepdim=True).clamp(min=1e-12)


def _cross_entropy(logits: Tensor, target: Tensor, legal: Tensor) -> Tensor:
    logits = logits.masked_fill(~legal, PADDED)
    return -(target * logits.log_softmax(1).masked_fill(~legal, 0.0)).sum(1)


def _moves_left_loss(predicted: Tensor, plies: Tensor) -> Tensor:
    each = functional.huber_loss(
        predicted / MOVES_LEFT_UNIT,
        plies / MOVES_LEFT_UNIT,
        reduction="none",
        delta=MOVES_LEFT_DELTA,
    )
    return each * (plies > 0)


def _entropy(shares: Tensor) -> Tensor:
    return -torch.xlogy(shares, shares).sum(1)
