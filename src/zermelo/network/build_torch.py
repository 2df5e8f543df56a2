"""A network as torch operations; the fallback runtime on CPUs and the one for GPUs."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from zermelo.network.graph import Heads, evaluate
from zermelo.network.weights import Weights


class TorchActivations:
    """The part of `graph.Ops` that has no weights, for training and for evaluating."""

    def activate(self, x: Tensor, kind: str) -> Tensor:
        """See `graph.Ops`."""
        if kind == "softmax":
            return x.softmax(-1)
        if kind == "mish":
            return functional.mish(x)
        return {"relu": torch.relu, "sigmoid": torch.sigmoid, "tanh": torch.tanh}[kind](x)

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
        return super().constant(values).to(self.get_buffer("input_weight"))

    def dense(self, x: Tensor, layer: str) -> Tensor:
        """See `graph.Ops`."""
        weight, bias = self.get_buffer(f"{layer}_weight"), self.get_buffer(f"{layer}_bias")
        return functional.linear(x, weight, bias)

    def forward(self, observations: Tensor) -> Heads[Tensor]:
        """Policy logits and the finished value."""
        return evaluate(self.architecture, self, observations)
