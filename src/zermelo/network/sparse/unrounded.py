"""The processor network with real numbers in place of its integers: what rounding takes away.

For measurements only; needs torch. Limits of activations and weights are the network's own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from zermelo.network.sparse.fixed_point import ACTIVATION_ONE, UNITS
from zermelo.network.sparse.layers import HIDDEN_MOST, policy_layer
from zermelo.network.sparse.module import SparseModule


class Unrounded:
    """`unrounded(observations)` -> policy logits [B, actions] and WDL [B, 3], as evaluators do."""

    def __init__(self, module: SparseModule) -> None:
        self._module = module

    @torch.no_grad()
    def __call__(self, observations: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """For the player to move."""
        *features, packed = self._module.prepare(observations)
        a = self._module.architecture
        hidden = self._hidden(*features)
        tails = self._limited(self._dense(hidden, "tail"), "tail")
        policy = tails[:, : a.policy_hidden] if a.policy_hidden else hidden
        actions = np.broadcast_to(np.arange(a.num_actions), (len(packed), a.num_actions))
        rows = a.features.read_actions(
            packed.numpy().view(np.uint64), np.ascontiguousarray(actions), a.num_actions
        )
        logits = policy_layer(policy, self._units("actions"), self._units("action_bias"), rows)
        value = self._limited(self._dense(tails[:, a.policy_hidden :], "value1"), "value1")
        value = self._dense(value, "value2")[:, :3] / UNITS["value2_bias"][0]
        return (logits / UNITS["action_bias"][0]).numpy(), value.softmax(1).numpy()

    def _hidden(
        self,
        rows: Tensor,
        offsets: Tensor,
        scaled: Tensor,
        scaled_offsets: Tensor,
        factors: Tensor,
    ) -> Tensor:
        """Activations below 128."""
        table = self._units("table")
        sums = functional.embedding_bag(rows, table, offsets.to(rows.dtype), mode="sum")
        if len(scaled):
            sums += functional.embedding_bag(
                scaled, table, scaled_offsets.to(scaled.dtype), mode="sum",
                per_sample_weights=factors,
            )  # fmt: skip
        return sums.clamp(0, HIDDEN_MOST).square() / 2048

    def _units(self, name: str) -> Tensor:
        """A parameter in the core's units, not rounded."""
        one, most = UNITS[name]
        return (self._module.get_parameter(name) * one).clamp(-most, most).contiguous()

    def _dense(self, x: Tensor, name: str) -> Tensor:
        return functional.linear(x, self._units(name), self._units(f"{name}_bias"))

    def _limited(self, sums: Tensor, name: str) -> Tensor:
        return (sums / UNITS[name][0]).clamp(0, ACTIVATION_ONE - 1)
