"""A network as an OpenVINO model, made node by node: no file and no converter in between."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import openvino as ov
from numpy.typing import NDArray
from openvino import opset13 as op

from zermelo.network.graph import any_ops, evaluate
from zermelo.network.weights import Weights

Node = Any  # openvino nodes have no usable types
Quantise = Callable[[Node, str, str], Node]  # (node, layer, "input" or "weight") -> node


SELU = (np.float32(1.6732632423543772), np.float32(1.0507009873554805))  # slope of exp, factor
_ACTIVATIONS: dict[str, Callable[[Node], Node]] = {
    "relu": op.relu,
    "mish": op.mish,
    "swish": op.swish,
    "selu": lambda x: op.selu(x, *map(op.constant, SELU)),
    "sigmoid": op.sigmoid,
    "tanh": op.tanh,
    "none": lambda x: x,
}


class OpenVinoOps:
    """`graph.Ops` on OpenVINO nodes. `quantise` may wrap what goes into a convolution."""

    def __init__(self, weights: Weights, quantise: Quantise | None = None) -> None:
        self.arrays = weights.arrays
        self.quantise = quantise

    def conv(self, x: Node, layer: str) -> Node:
        """See `graph.Ops`."""
        kernel = self.arrays[f"{layer}.weight"]
        weight = op.constant(kernel)
        if self.quantise is not None:
            x = self.quantise(x, layer, "input")
            weight = self.quantise(weight, layer, "weight")
        edge = [kernel.shape[2] // 2] * 2
        y = op.convolution(x, weight, [1, 1], edge, edge, [1, 1])
        return op.add(y, op.constant(self.arrays[f"{layer}.bias"].reshape(1, -1, 1, 1)))

    def dense(self, x: Node, layer: str) -> Node:
        """See `graph.Ops`."""
        weight = op.constant(self.arrays[f"{layer}.weight"])
        y = op.matmul(x, weight, False, True)
        return op.add(y, op.constant(self.arrays[f"{layer}.bias"][None]))

    def activate(self, x: Node, kind: str) -> Node:
        """See `graph.Ops`."""
        if kind == "softmax":
            return op.softmax(x, -1)
        if kind == "relu2":
            y = op.relu(x)
            return op.multiply(y, y)
        return _ACTIVATIONS[kind](x)

    def cell_mean(self, x: Node) -> Node:
        """See `graph.Ops`."""
        return op.reduce_mean(x, op.constant([2, 3]), False)

    def gates(self, x: Node, start: int, stop: int) -> Node:
        """See `graph.Ops`."""
        ends = [op.constant([n]) for n in (start, stop, 1, 1)]
        return op.reshape(op.slice(x, *ends), op.constant([0, stop - start, 1, 1]), True)

    def flatten(self, x: Node) -> Node:
        """See `graph.Ops`."""
        return op.reshape(x, op.constant([0, -1]), True)

    def take(self, x: Node, indices: NDArray[np.int64]) -> Node:
        """See `graph.Ops`."""
        return op.gather(x, op.constant(indices.astype(np.int32)), op.constant(1))

    def constant(self, values: NDArray[np.float32]) -> Node:
        """See `graph.Ops`."""
        return op.constant(values)

    def multiply(self, x: Node, y: Node) -> Node:
        """See `graph.Ops`."""
        return op.multiply(x, y)

    def add(self, x: Node, y: Node) -> Node:
        """See `graph.Ops`."""
        return op.add(x, y)

    # For attention; see `attention_graph.AttentionOps`.

    linear = dense

    def layer_norm(self, x: Node, layer: str, epsilon: float) -> Node:
        """See `AttentionOps`."""
        return self.gate(op.mvn(x, op.constant([-1]), True, epsilon, "inside_sqrt"), layer)

    def gate(self, x: Node, layer: str) -> Node:
        """See `AttentionOps`."""
        weight, bias = (op.constant(self.arrays[f"{layer}.{part}"]) for part in ("weight", "bias"))
        return op.add(op.multiply(x, weight), bias)

    def reshape(self, x: Node, *sizes: int) -> Node:
        """See `AttentionOps`."""
        return op.reshape(x, op.constant([0, *sizes]), True)

    def transpose(self, x: Node, *axes: int) -> Node:
        """See `AttentionOps`."""
        return op.transpose(x, op.constant(list(axes)))

    def matmul(self, x: Node, y: Node) -> Node:
        """See `AttentionOps`."""
        return op.matmul(x, y, False, False)


def openvino_model(
    weights: Weights, batch: int = -1, quantise: Quantise | None = None, taps: bool = False
) -> Any:
    """A model for one batch size, or for any with -1. `taps` adds every convolution's input."""
    architecture = weights.tower
    observations = op.parameter([batch, *architecture.observation_shape], np.float32)
    tapped: list[tuple[str, Node]] = []

    def tap(node: Node, layer: str, part: str) -> Node:
        if part == "input":
            tapped.append((layer, node))
        return node

    ops = OpenVinoOps(weights, tap if taps else quantise)
    heads = evaluate(architecture, any_ops(ops), observations)
    results = []
    for name, node in [*heads.outputs().items(), *tapped]:
        result = op.result(node)
        result.set_friendly_name(name)
        results.append(result)
    return ov.Model(results, [observations], "zermelo")
