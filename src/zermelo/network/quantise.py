"""int8 for the large convolutions, by ranges measured on example positions.

Squeeze-and-excitation and small layers stay in floats (bf16 where the processor has it): they cost
little time and most of the precision. Weights have a range per output channel, activations one per
layer. Observations are first scaled to one range, plane by plane, and the weights back.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import openvino as ov
from openvino import opset13 as op

from zermelo.games.protocol import Game
from zermelo.games.registry import named_game
from zermelo.network.build_openvino import Quantise, openvino_model
from zermelo.network.positions import sample_observations
from zermelo.network.weights import Array, Weights

CALIBRATION_POSITIONS = 256


def quantiser(
    weights: Weights, calibration: Array | None = None, game: Game | None = None
) -> Quantise:
    """What `openvino_model` needs for int8; without observations, those of random games serve."""
    if calibration is None:
        rules = game if game is not None else named_game(weights.architecture.game)
        calibration = sample_observations(rules, CALIBRATION_POSITIONS)
    planes = plane_bounds(calibration)
    ranges = activation_ranges(weights, calibration)
    ranges["input"] = (-1.0 if calibration.min() < 0 else 0.0, 1.0)
    large = large_convolutions(weights)

    def quantise(node: Any, layer: str, part: str) -> Any:
        if layer not in large:
            return node
        if part == "weight":
            kernel = weights.arrays[f"{layer}.weight"]
            if layer == "input":
                kernel = kernel * planes
            bound = np.abs(kernel).max(axis=(1, 2, 3), keepdims=True)
            return _fake_quantise(op.constant(kernel), -bound, bound, 255)
        if layer == "input":
            node = op.multiply(node, op.constant(1.0 / planes))
        low, high = ranges[layer]
        return _fake_quantise(node, np.float32(low), np.float32(high), 256)

    return quantise


def large_convolutions(weights: Weights) -> set[str]:
    """Layers of at least half the work of one of the tower's."""
    filters = weights.architecture.filters
    return {
        name.removesuffix(".weight")
        for name, array in weights.arrays.items()
        if array.ndim == 4 and 2 * array.size >= 9 * filters * filters
    }


def plane_bounds(observations: Array) -> Array:
    """The largest value that each plane may have, [1, planes, 1, 1].

    Most planes are ones and zeros. A plane that was seen above 1 counts something, and twice what
    was seen is allowed for.
    """
    seen = np.abs(observations).max(axis=(0, 2, 3), keepdims=True)
    bounds: Array = np.where(seen > 1.0, 2.0 * seen, 1.0).astype(np.float32)
    return bounds


def activation_ranges(weights: Weights, observations: Array) -> dict[str, tuple[float, float]]:
    """Smallest and largest input of each convolution; 0 is always inside."""
    model = openvino_model(weights, -1, taps=True)
    settings = {"INFERENCE_PRECISION_HINT": "f32", "SNIPPETS_MODE": "DISABLE"}
    compiled = ov.Core().compile_model(model, "CPU", settings)
    names = [result.get_friendly_name() for result in model.get_results()]
    ranges: dict[str, tuple[float, float]] = {}
    for start in range(0, len(observations), 64):
        answers = compiled(observations[start : start + 64])
        for index, name in enumerate(names):
            low, high = ranges.get(name, (0.0, 0.0))
            found = answers[index]
            ranges[name] = (min(low, float(found.min())), max(high, float(found.max())))
    return ranges


def _fake_quantise(node: Any, low: Any, high: Any, levels: int) -> Any:
    smallest, largest = op.constant(np.asarray(low)), op.constant(np.asarray(high))
    return op.fake_quantize(node, smallest, largest, smallest, largest, levels)
