"""Layers of an lc0 file as float32 arrays under our names, every size checked.

A layer is stored as bytes without a shape; the sizes follow from the layers before it. Knows no
network: `network` says which layers there are.
"""

from __future__ import annotations

import numpy as np

from zermelo.errors import UserError
from zermelo.network.weights import NORM_EPSILON, Array
from zermelo.network.wire import Message

LINEAR16, FLOAT16, BFLOAT16, FLOAT32 = 1, 2, 3, 4  # lc0's `Layer.Encoding`
_TYPES = {LINEAR16: "<u2", FLOAT16: "<f2", BFLOAT16: "<u2", FLOAT32: "<f4"}


class LayerReader:
    """Collects arrays. `name` is the file's, for sentences."""

    planes = 112  # of a position

    def __init__(self, name: str) -> None:
        self.name = name
        self.arrays: dict[str, Array] = {}

    def dense(
        self, layer: str, m: Message, fields: tuple[int, int], inputs: int, outputs: int = 0
    ) -> int:
        """Weights [outputs, inputs] and biases; returns the outputs."""
        weight, bias = (m.message(number) for number in fields)
        return self.dense_of(layer, weight, bias, inputs, outputs)

    def dense_of(
        self, layer: str, weights: Message, biases: Message, inputs: int, outputs: int = 0
    ) -> int:
        """`dense` of two messages."""
        weight, bias = self.values(weights, layer), self.values(biases, layer)
        self.expect(layer, weight, bias.size * inputs)
        if outputs:
            self.expect(layer, bias, outputs)
        self.arrays[f"{layer}.weight"] = weight.reshape(-1, inputs)
        self.arrays[f"{layer}.bias"] = bias
        return int(bias.size)

    def matrix(self, layer: str, m: Message, inputs: int, outputs: int = 0) -> int:
        """A dense layer that has no biases; returns the outputs."""
        weight = self.values(m, layer)
        outputs = outputs or weight.size // inputs
        self.expect(layer, weight, outputs * inputs)
        self.arrays[f"{layer}.weight"] = weight.reshape(-1, inputs)
        self.arrays[f"{layer}.bias"] = np.zeros(outputs, np.float32)
        return outputs

    def norm(self, layer: str, m: Message, fields: tuple[int, int], channels: int) -> None:
        """Factors and shifts of a layer norm."""
        for part, number in zip(("weight", "bias"), fields, strict=True):
            values = self.values(m.message(number), layer)
            self.expect(layer, values, channels)
            self.arrays[f"{layer}.{part}"] = values

    def scale(self, layer: str, factor: float) -> None:
        """Multiplies what a layer puts out."""
        for part in ("weight", "bias"):
            with np.errstate(all="ignore"):
                self.arrays[f"{layer}.{part}"] = self.arrays[f"{layer}.{part}"] * np.float32(factor)

    def conv(self, layer: str, m: Message, inputs: int, kernel: int, outputs: int = 0) -> int:
        """A convolution with its batch normalisation folded in; returns the outputs."""
        weight, bias, mean, variance, gamma, beta = (
            self.values(m.message(number), layer) for number in range(1, 7)
        )
        found = bias.size or mean.size
        if outputs:
            self.expect(layer, bias if bias.size else mean, outputs)
        self.expect(layer, weight, found * inputs * kernel * kernel)
        weight = weight.reshape(-1, inputs, kernel, kernel)
        if not bias.size:
            bias = np.zeros(found, np.float32)
        if mean.size:
            gamma = gamma if gamma.size else np.ones(found, np.float32)
            beta = beta if beta.size else np.zeros(found, np.float32)
            for part in (mean, variance, gamma, beta):
                self.expect(layer, part, found)
            with np.errstate(all="ignore"):  # what is not finite is refused afterwards
                scale = gamma / np.sqrt(variance + np.float32(NORM_EPSILON))
                weight = weight * scale[:, None, None, None]
                bias = beta + (bias - mean) * scale
        self.arrays[f"{layer}.weight"] = weight.astype(np.float32)
        self.arrays[f"{layer}.bias"] = bias.astype(np.float32)
        return int(found)

    def values(self, m: Message, layer: str) -> Array:
        """The numbers of a layer, in whichever encoding; none if it is absent."""
        encoding, params = m.integer(4, LINEAR16), m.view(3)
        if encoding not in _TYPES:
            raise UserError(f"{self.name}: the weights '{layer}' have the encoding {encoding}")
        if len(params) % np.dtype(_TYPES[encoding]).itemsize:
            raise UserError(f"{self.name}: the weights '{layer}' end in the middle of a number")
        stored = np.frombuffer(params, _TYPES[encoding])
        if encoding == BFLOAT16:  # the upper half of a float32
            return (stored.astype(np.uint32) << 16).view(np.float32)
        if encoding != LINEAR16:
            return stored.astype(np.float32)
        low, high = np.float32(m.real(1)), np.float32(m.real(2))
        share = stored.astype(np.float32) / np.float32(0xFFFF)  # of the way from low to high
        with np.errstate(all="ignore"):
            return np.asarray(low * (1 - share) + high * share, np.float32)

    def expect(self, layer: str, values: Array, size: int) -> None:
        """Refuses a layer of another size; 0 means that it is missing."""
        if values.size != size or size == 0:
            raise UserError(
                f"{self.name}: the weights '{layer}' have {values.size} numbers, not {size}"
                if values.size
                else f"{self.name}: the weights '{layer}' are missing"
            )
