"""A network as torch operations; the fallback runtime on CPUs and the one for GPUs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from zermelo.network.graph import Heads, evaluate
from zermelo.network.weights import Weights

_ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": torch.relu,
    "mish": functional.mish,
    "swish": functional.silu,
    "selu": torch.selu,
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
    "none": lambda x: x,
}


class TorchActivations:
    """The part of `graph.Ops` that has no weights, for training and for evaluating."""

    def activate(self, x: Tensor, kind: str) -> Tensor:
        """See `graph.Ops`."""
        if kind == "softmax":
            return x.softmax(-1)
        if kind == "relu2":
            return torch.relu(x).square()
        return _ACTIVATIONS[kind](x)

    def cell_mean(self, x: Tensor) -> Tensor:
        """See `graph.Ops`."""
        return x.mean((2, 3))

    def gates(self, x: Tensor, start: int, stop: int) -> Tensor:
        """See `graph.Ops`."""
        return x[:, start:stop, None, None]

    def flatten(self, x: Tensor) -> Tensor:
        """See `graph.Ops`."""
        return x.flatten(1)

    def take(self, x: Tensor, indices: NDArray[np.int64]) -> Tensor:
        """See `graph.Ops`."""
        return x[:, torch.tensor(indices, device=x.device)]

    def constant(self, values: NDArray[np.float32]) -> Tensor:
        """See `graph.Ops`."""
        return torch.tensor(values)

    def multiply(self, x: Tensor, y: Tensor) -> Tensor:
        """See `graph.Ops`."""
        return x * y.to(x.device)

    def add(self, x: Tensor, y: Tensor) -> Tensor:
        """See `graph.Ops`."""
        return x + y


class FoldedNetwork(TorchActivations, nn.Module):
    """The network of `Weights` for evaluating; not for training."""

    def __init__(self, weights: Weights) -> None:
        super().__init__()
        self.architecture = weights.tower
        for name, array in weights.arrays.items():
            self.register_buffer(name.replace(".", "_"), torch.tensor(array))

    def conv(self, x: Tensor, layer: str) -> Tensor:
        """See `graph.Ops`."""
        weight = self.get_buffer(f"{layer}_weight")
        return functional.conv2d(x, weight, self.get_buffer(f"{layer}_bias"), padding="same")

    def constant(self, values: NDArray[np.float32]) -> Tensor:
        """See `graph.Ops`; in the precision of the weights, since torch mixes none."""
        return super().constant(values).to(next(self.buffers()))

    def dense(self, x: Tensor, layer: str) -> Tensor:
        """See `graph.Ops`."""
        weight, bias = self.get_buffer(f"{layer}_weight"), self.get_buffer(f"{layer}_bias")
        return (
            functional.linear(x, weight) + bias
            if bias.ndim > 1
            else functional.linear(x, weight, bias)
        )

    # For attention; see `attention_graph.AttentionOps`.

    linear = dense

    def layer_norm(self, x: Tensor, layer: str, epsilon: float) -> Tensor:
        """See `AttentionOps`."""
        weight, bias = self.get_buffer(f"{layer}_weight"), self.get_buffer(f"{layer}_bias")
        return functional.layer_norm(x, weight.shape, weight, bias, epsilon)

    def gate(self, x: Tensor, layer: str) -> Tensor:
        """See `AttentionOps`."""
        return x * self.get_buffer(f"{layer}_weight") + self.get_buffer(f"{layer}_bias")

    def reshape(self, x: Tensor, *sizes: int) -> Tensor:
        """See `AttentionOps`."""
        return x.reshape(-1, *sizes)

    def transpose(self, x: Tensor, *axes: int) -> Tensor:
        """See `AttentionOps`."""
        return x.permute(axes)

    def matmul(self, x: Tensor, y: Tensor) -> Tensor:
        """See `AttentionOps`."""
        return x @ y

    def forward(self, observations: Tensor) -> Heads[Tensor]:
        """Policy logits and the finished value."""
        return evaluate(self.architecture, self, observations)
