"""The operations of the processor network that torch has not, or not quickly: rounding that lets
gradients through, and the two layers of looked-up rows, which the core computes on processors.

Everything is in the core's units; see `fixed_point`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from zermelo import _core
from zermelo.network.sparse.fixed_point import UNITS

PROCESSOR = "cpu"  # the device whose layers the core computes
HIDDEN_MOST = UNITS["table"][0] - 1


class _Floor(torch.autograd.Function):
    """Whole numbers forward, the gradient unchanged backward."""

    @staticmethod
    def forward(_: Any, x: Tensor) -> Tensor:
        return torch.floor(x)

    @staticmethod
    def backward(_: Any, *gradients: Tensor) -> Tensor:
        return gradients[0]


class _Units(torch.autograd.Function):
    """Real numbers as whole units of which 1.0 has `one`, kept within `most`."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, one: int, most: int) -> Tensor:
        ctx.save_for_backward(x)
        ctx.sizes = one, most
        return x.mul(one).clamp_(-most, most).add_(0.5).floor_()

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        (x,) = ctx.saved_tensors
        one, most = ctx.sizes
        return (gradients[0] * one).masked_fill_(x.abs() > most / one, 0), None, None


class _HiddenLayer(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, table: Tensor, *features: Tensor) -> Tensor:
        ctx.features = tuple(part.numpy() for part in features)
        ctx.rows = len(table)
        ctx.sums, activations = _core.sparse_hidden_forward(
            ctx.features, table.detach().numpy(), torch.get_num_threads()
        )
        return torch.from_numpy(activations)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        gradient = gradients[0].contiguous().numpy()
        of_table = _core.sparse_hidden_backward(
            ctx.features, ctx.sums, gradient, ctx.rows, torch.get_num_threads()
        )
        return torch.from_numpy(of_table), *(None for _ in ctx.features)


class _PolicyLayer(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, inputs: Tensor, table: Tensor, bias: Tensor, rows: Any) -> Tensor:
        ctx.rows = rows
        inputs = inputs.contiguous()
        ctx.save_for_backward(inputs, table)
        logits = _core.sparse_policy_forward(
            rows,
            inputs.detach().numpy(),
            table.detach().numpy(),
            bias.detach().numpy(),
            torch.get_num_threads(),
        )
        return torch.from_numpy(logits)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        inputs, table = ctx.saved_tensors
        found = _core.sparse_policy_backward(
            ctx.rows,
            inputs.detach().numpy(),
            table.detach().numpy(),
            gradients[0].contiguous().numpy(),
            torch.get_num_threads(),
        )
        return *map(torch.from_numpy, found), None


def floored(x: Tensor) -> Tensor:
    """Whole numbers; the gradient passes unchanged."""
    found: Tensor = _Floor.apply(x)  # type: ignore[no-untyped-call]
    return found


def in_units(x: Tensor, name: str) -> Tensor:
    """A parameter in whole units of its array, kept in range."""
    found: Tensor = _Units.apply(x, *UNITS[name])  # type: ignore[no-untyped-call]
    return found


def hidden_layer(table: Tensor, features: tuple[Tensor, ...]) -> Tensor:
    """The activations [B, hidden] of the rows that `SparseFeatures.read` named."""
    if table.device.type == PROCESSOR:
        found: Tensor = _HiddenLayer.apply(table, *features)  # type: ignore[no-untyped-call]
        return found
    rows, offsets, scaled, scaled_offsets, factors = features
    sums = functional.embedding_bag(rows, table, offsets.to(rows.dtype), mode="sum")
    if len(scaled):
        counts = torch.diff(scaled_offsets, append=scaled_offsets.new_tensor([len(scaled)]))
        each = torch.arange(len(counts), device=counts.device)
        places = torch.repeat_interleave(each, counts)
        parts = floored(functional.embedding(scaled, table) * factors[:, None] + 0.5)
        sums = sums.index_add(0, places, parts)
    limited = sums.clamp(0, HIDDEN_MOST)
    return floored(limited * limited / 2048)


def policy_layer(
    inputs: Tensor, table: Tensor, bias: Tensor, rows: np.ndarray[Any, np.dtype[np.int32]]
) -> Tensor:
    """Logits [B, K] of inputs [B, width]; each action has the sum of its `rows` [B, K, each]."""
    if table.device.type == PROCESSOR:
        found: Tensor = _PolicyLayer.apply(inputs, table, bias, rows)  # type: ignore[no-untyped-call]
        return found
    at = torch.from_numpy(rows).to(table.device)
    sums = functional.embedding_bag(at.flatten(0, 1), table, mode="sum")
    products = torch.bmm(sums.view(*at.shape[:2], -1), inputs[:, :, None])[:, :, 0]
    return products + bias[at.to(torch.int64)].sum(-1)
