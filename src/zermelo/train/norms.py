"""T16: how long each layer's weights are, and how far an iteration moves them.

A layer is what shares a name: a kernel with its norm and its bias. Lengths are Euclidean, over all
numbers of the layer. Needs torch.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn


def layer_of(parameter: str) -> str:
    """`block0_conv1.norm.bias` -> `block0_conv1`; `tail_bias` -> `tail`."""
    layer = parameter.split(".", maxsplit=1)[0].removesuffix("_bias")
    return "actions" if layer == "action" else layer  # the processor network's rows of actions


class LayerNorms:
    """Remembers a network's parameters as they are now; one copy of them, once an iteration."""

    def __init__(self, network: nn.Module) -> None:
        self._network = network
        self._before = {name: p.detach().clone() for name, p in network.named_parameters()}

    @torch.no_grad()
    def metrics(self) -> dict[str, Any]:
        """`weight_norm` now and `update_norm` since then, of the whole network and by layer."""
        weights: dict[str, list[Tensor]] = defaultdict(list)
        updates: dict[str, list[Tensor]] = defaultdict(list)
        for name, parameter in self._network.named_parameters():
            weights[layer_of(name)].append(parameter)
            updates[layer_of(name)].append(parameter - self._before[name])
        layers = {
            layer: {"weight": _length(weights[layer]), "update": _length(updates[layer])}
            for layer in weights
        }
        return {
            "weight_norm_before": _length(list(self._before.values())),
            "weight_norm": _together(found["weight"] for found in layers.values()),
            "update_norm": _together(found["update"] for found in layers.values()),
            "layers": layers,
        }


def _length(tensors: list[Tensor]) -> float:
    return _together(float(tensor.double().norm()) for tensor in tensors)


def _together(lengths: Iterable[float]) -> float:
    """Of the parts put side by side."""
    return float(sum(length**2 for length in lengths) ** 0.5)
