"""One layer with weights, whatever the network: its kind, its sizes, the shapes of its arrays."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Layer:
    """`weight` [outputs, inputs(, kernel, kernel)] and `bias` [outputs], but for some kinds.

    conv and dense see a whole board; token is a dense layer over the channels of every cell by
    itself. norm has a factor and a shift per channel; gate has them per cell and channel.
    """

    kind: str  # "conv", "dense", "token", "norm" or "gate"
    inputs: int
    outputs: int
    kernel: int = 1
    norm: bool = False  # trained with batch normalisation, which is folded into it afterwards
    cells: int = 0  # of a gate; a token layer with cells has a bias for each of them
    uses: int = 1  # how often a position goes through it; a convolution's cells not counted

    @property
    def weight_shape(self) -> tuple[int, ...]:
        """Outputs first."""
        if self.kind == "norm":
            return (self.outputs,)
        if self.kind == "gate":
            return (self.cells, self.outputs)
        square = (self.kernel, self.kernel) if self.kind == "conv" else ()
        return (self.outputs, self.inputs, *square)

    @property
    def bias_shape(self) -> tuple[int, ...]:
        """A number for each output."""
        return (self.cells, self.outputs) if self.cells else (self.outputs,)

    def multiply_adds(self, cells: int) -> int:
        """Multiplications for one position on a board of so many cells."""
        return math.prod(self.weight_shape) * (cells if self.kind == "conv" else self.uses)
