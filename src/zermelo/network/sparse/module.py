"""The processor network as it is trained: the core's integers, followed by gradients. Needs torch.

The forward pass computes what the core computes, exactly: every number is a whole number of units
that a float32 holds. Rounding lets gradients through as if it were not there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from zermelo.network.graph import Heads
from zermelo.network.sparse.architecture import SparseArchitecture
from zermelo.network.sparse.fixed_point import (
    ACTIVATION_ONE,
    UNITS,
    first_mean,
    first_spread,
    to_integers,
)
from zermelo.network.trained import TrainedNetwork
from zermelo.network.weights import Weights

HIDDEN_MOST = UNITS["table"][0] - 1
PLIES = 32.0  # an output of 1.0 is so many plies
FEW_ACTIONS = 256  # up to so many, the policy is one matrix product


class _Floor(torch.autograd.Function):
    """Whole numbers forward, the gradient unchanged backward."""

    @staticmethod
    def forward(_: Any, x: Tensor) -> Tensor:
        return torch.floor(x)

    @staticmethod
    def backward(_: Any, *gradients: Tensor) -> Tensor:
        return gradients[0]


def _floor(x: Tensor) -> Tensor:
    rounded: Tensor = _Floor.apply(x)  # type: ignore[no-untyped-call]
    return rounded


class SparseModule(TrainedNetwork):
    """Its parameters are the architecture's arrays by name, in real units."""

    architecture: SparseArchitecture
    packed = True

    def __init__(self, architecture: SparseArchitecture) -> None:
        super().__init__()
        self.architecture = architecture
        for name, shape in architecture.shapes().items():
            self.register_parameter(name, nn.Parameter(torch.empty(shape)))
        self._begin()

    @torch.no_grad()
    def _begin(self) -> None:
        for name, parameter in self.named_parameters():
            parameter.normal_(first_mean(name), first_spread(self.architecture, name))

    # ---- from positions to logits ---------------------------------------------------------------

    def prepare(self, observations: NDArray[Any]) -> tuple[Tensor, ...]:
        """Packed observations [B, words], or planes, as rows of the table."""
        features = self.architecture.features
        if observations.dtype != np.uint64:
            observations = features.pack(np.ascontiguousarray(observations, np.float32))
        return tuple(map(torch.from_numpy, features.read(observations)))

    def legal_heads(self, inputs: tuple[Tensor, ...], actions: Tensor) -> Heads[Tensor]:
        """See `TrainedNetwork`."""
        with torch.autocast(actions.device.type, enabled=False):
            hidden = self._hidden(*inputs)
            tails = _clipped(functional.linear(hidden, self._units("tail"), self._bias("tail")), 64)
            split = self.architecture.policy_hidden
            policy = tails[:, :split] if split else hidden
            logits = self._logits(policy, actions) / UNITS["action_bias"][0]
            value = functional.linear(tails[:, split:], self._units("value1"), self._bias("value1"))
            value = functional.linear(
                _clipped(value, 32), self._units("value2"), self._bias("value2")
            )
            value = value / UNITS["value2_bias"][0]
            return Heads(logits, value[:, :3], functional.relu(value[:, 3:]) * PLIES)

    def _hidden(
        self, rows: Tensor, offsets: Tensor, scaled: Tensor, scaled_offsets: Tensor, factors: Tensor
    ) -> Tensor:
        table = self._units("table")
        sums = functional.embedding_bag(rows, table, offsets.to(rows.dtype), mode="sum")
        if len(scaled):
            counts = torch.diff(scaled_offsets, append=scaled_offsets.new_tensor([len(scaled)]))
            places = torch.repeat_interleave(torch.arange(len(counts)), counts)
            parts = _floor(functional.embedding(scaled, table) * factors[:, None] + 0.5)
            sums = sums.index_add(0, places, parts)
        limited = sums.clamp(0, HIDDEN_MOST)
        return _floor(limited * limited / 2048)

    def _logits(self, policy: Tensor, actions: Tensor) -> Tensor:
        table, bias = self._units("actions"), self._bias("action")
        if len(table) <= FEW_ACTIONS:
            return functional.linear(policy, table, bias).gather(1, actions)
        rows = functional.embedding(actions, table)
        return torch.bmm(rows, policy[:, :, None])[:, :, 0] + bias[actions]

    def _units(self, name: str) -> Tensor:
        """A parameter in whole units, kept in range."""
        one, most = UNITS[name]
        return _floor((self.get_parameter(name) * one).clamp(-most, most) + 0.5)

    def _bias(self, name: str) -> Tensor:
        return self._units(f"{name}_bias")

    # ---- the network for playing ----------------------------------------------------------------

    def weights(self, name: str = "network", search: Mapping[str, Any] | None = None) -> Weights:
        """The integers."""
        numbers = {key: p.detach().cpu().numpy() for key, p in self.named_parameters()}
        return Weights(
            self.architecture, to_integers(self.architecture, numbers), name, search or {}
        ).check()


def _clipped(sums: Tensor, one: int) -> Tensor:
    """Activations 0 to 127 of sums of products with weights of which `one` is 1.0."""
    return _floor((sums / one).clamp(0, ACTIVATION_ONE - 1))
