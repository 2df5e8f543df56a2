"""The network that is trained: the same layers, with batch normalisation apart from them.

Needs torch. `weights()` folds it into what every runtime evaluates.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from zermelo.errors import UserError
from zermelo.network.architecture import Architecture
from zermelo.network.board_conv import board_conv, supports
from zermelo.network.build_torch import TorchActivations
from zermelo.network.graph import Heads, forward, heads_of, tower
from zermelo.network.layer import Layer
from zermelo.network.trained import TrainedNetwork, planes_last
from zermelo.network.training_heads import STEM_FILTERS, TrainingHeads, board_stem
from zermelo.network.weights import NORM_EPSILON, Weights, fold_norms, initial_gain


class NormedConv(nn.Module):
    """A convolution without bias and its batch normalisation."""

    def __init__(self, layer: Layer) -> None:
        super().__init__()
        self.conv = nn.Conv2d(
            layer.inputs, layer.outputs, layer.kernel, padding=layer.kernel // 2, bias=False
        )
        self.norm = nn.BatchNorm2d(layer.outputs, eps=NORM_EPSILON)

    def forward(self, x: Tensor) -> Tensor:
        """[B, inputs, H, W] -> [B, outputs, H, W]."""
        kernel = self.conv.weight
        fast = self.training and supports(x, kernel)
        normed: Tensor = self.norm(board_conv(x, kernel) if fast else self.conv(x))
        return normed


class ResidualNetwork(TorchActivations, TrainedNetwork):
    """Observations -> policy logits [B, actions], value logits [B, 3] (and moves left [B, 1]).

    Everything is for the player to move. A layer's state is `NAME.weight` and `NAME.bias`, or
    `NAME.conv.weight` and `NAME.norm.*` (see `fold_norms`).
    """

    architecture: Architecture
    packed = False

    def __init__(self, architecture: Architecture) -> None:
        super().__init__()
        self.architecture = architecture
        for name, layer in architecture.layers().items():
            self.add_module(name, _module(layer))
            self._begin(name, layer)

    def _begin(self, name: str, layer: Layer) -> None:
        module = self.get_submodule(name)
        kernel = module.conv.weight if isinstance(module, NormedConv) else module.weight
        assert isinstance(kernel, Tensor)
        gain = initial_gain(name, self.architecture)
        nn.init.normal_(kernel, std=gain / float(np.sqrt(np.prod(layer.weight_shape[1:]))))
        if isinstance(module, NormedConv):
            # The norm undoes the scale of the kernel, so a block's own scale stands here.
            loudness = gain / np.sqrt(2.0) if name.endswith("_conv2") else 1.0
            nn.init.constant_(module.norm.weight, float(loudness))
        else:
            assert isinstance(module.bias, Tensor)
            nn.init.zeros_(module.bias)

    def conv(self, x: Tensor, layer: str) -> Tensor:
        """See `graph.Ops`."""
        y: Tensor = self.get_submodule(layer)(x)
        return y

    def dense(self, x: Tensor, layer: str) -> Tensor:
        """See `graph.Ops`."""
        y: Tensor = self.get_submodule(layer)(x)
        return y

    def forward(self, observations: Tensor) -> Heads[Tensor]:
        """Logits; the loss takes the softmax."""
        return forward(self.architecture, self, observations)

    def prepare(self, observations: NDArray[Any]) -> tuple[Tensor, ...]:
        """Planes, with channels last in memory."""
        return planes_last(observations)

    def body(self, inputs: tuple[Tensor, ...]) -> Tensor:
        """See `TrainedNetwork`."""
        return tower(self.architecture, self, inputs[0])

    def training_heads(self, horizons: int) -> TrainingHeads:
        """See `TrainedNetwork`."""
        a = self.architecture
        return TrainingHeads(board_stem(a.filters), STEM_FILTERS * a.cells, a.num_actions, horizons)

    def heads(self, body: Tensor, inputs: tuple[Tensor, ...], actions: Tensor) -> Heads[Tensor]:  # noqa: ARG002
        """See `TrainedNetwork`."""
        heads = heads_of(self.architecture, self, body)
        return Heads(heads.policy.float().gather(1, actions), heads.value, heads.moves_left)

    def adopt(self, weights: Weights) -> None:
        """Refused: what batch normalisation learned cannot be told from the folded kernels."""
        raise UserError(
            f"{weights.name}: a tower's file is for playing, with its normalisation folded in; "
            "to train on, name the run or one of its checkpoints instead"
        )

    def weights(self, name: str = "network", search: Mapping[str, Any] | None = None) -> Weights:
        """A copy with the norms folded in, as evaluated after training; see `Weights.search`."""
        state = {
            key: tensor.detach().float().cpu().numpy()
            for key, tensor in self.parameters_to_play().items()
        }
        return fold_norms(self.architecture, state, name, search)


def _module(layer: Layer) -> nn.Module:
    if layer.norm:
        return NormedConv(layer)
    if layer.kind == "dense":
        return nn.Linear(layer.inputs, layer.outputs)
    return nn.Conv2d(layer.inputs, layer.outputs, layer.kernel, padding=layer.kernel // 2)
