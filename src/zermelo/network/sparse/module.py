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
from zermelo.network.sparse.layers import floored, hidden_layer, in_units, policy_layer
from zermelo.network.trained import EXTRA, TrainedNetwork
from zermelo.network.training_heads import TrainingHeads
from zermelo.network.weights import Weights

PLIES = 32.0  # an output of 1.0 is so many plies
FEW_ACTIONS = 256  # up to so many, the policy is one matrix product


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
        return tuple(
            map(torch.from_numpy, (*features.read(observations), observations.view(np.int64)))
        )

    def body(self, inputs: tuple[Tensor, ...]) -> Tensor:
        """The hidden layer; see `TrainedNetwork`."""
        with torch.autocast(inputs[0].device.type, enabled=False):
            return hidden_layer(self._units("table"), inputs[:-1])

    def training_heads(self, horizons: int) -> TrainingHeads:
        """See `TrainedNetwork`."""
        a = self.architecture
        return TrainingHeads(_InParts(), a.hidden, a.num_actions, horizons)

    def heads(self, body: Tensor, inputs: tuple[Tensor, ...], actions: Tensor) -> Heads[Tensor]:
        """See `TrainedNetwork`."""
        with torch.autocast(actions.device.type, enabled=False):
            hidden, observations = body, inputs[-1]
            tails = _clipped(self._dense(hidden, "tail"), UNITS["tail"][0])
            split = self.architecture.policy_hidden
            policy = tails[:, :split] if split else hidden
            logits = self._logits(policy, actions, observations) / UNITS["action_bias"][0]
            value = _clipped(self._dense(tails[:, split:], "value1"), UNITS["value1"][0])
            value = self._dense(value, "value2") / UNITS["value2_bias"][0]
            return Heads(logits, value[:, :3], functional.relu(value[:, 3:]) * PLIES)

    def _logits(self, policy: Tensor, actions: Tensor, observations: Tensor) -> Tensor:
        table, bias = self._units("actions"), self._units("action_bias")
        if len(table) <= FEW_ACTIONS:
            return functional.linear(policy, table, bias).gather(1, actions)
        rows = self.architecture.features.read_actions(
            observations.cpu().numpy().view(np.uint64),
            actions.contiguous().cpu().numpy(),
            self.architecture.num_actions,
        )
        return policy_layer(policy, table, bias, rows)

    def _units(self, name: str) -> Tensor:
        return in_units(self.get_parameter(name), name)

    def _dense(self, x: Tensor, name: str) -> Tensor:
        return functional.linear(x, self._units(name), self._units(f"{name}_bias"))

    # ---- the network for playing ----------------------------------------------------------------

    @torch.no_grad()
    def adopt(self, weights: Weights) -> None:
        """Its integers in real units, each exactly."""
        for name, parameter in self.named_parameters():
            if name.startswith(EXTRA):
                continue
            units = np.asarray(weights.arrays[name], np.float32) / np.float32(UNITS[name][0])
            parameter.copy_(torch.from_numpy(units))

    def weights(self, name: str = "network", search: Mapping[str, Any] | None = None) -> Weights:
        """The integers."""
        numbers = {k: p.detach().cpu().numpy() for k, p in self.parameters_to_play().items()}
        return Weights(
            self.architecture, to_integers(self.architecture, numbers), name, search or {}
        ).check()


class _InParts(nn.Module):
    """Activations as parts of the largest one."""

    def forward(self, x: Tensor) -> Tensor:
        return x / ACTIVATION_ONE


def _clipped(sums: Tensor, one: int) -> Tensor:
    """Activations 0 to 127 of sums of products with weights of which `one` is 1.0."""
    return floored((sums / one).clamp(0, ACTIVATION_ONE - 1))
