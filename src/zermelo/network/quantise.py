"""int8 for the tower's convolutions, by ranges measured on example positions.

The input layer, squeeze-and-excitation and the heads stay in floats (bf16 where the processor has
it): with input and policy in int8 too, chess was 30 Elo weaker (docs/log.md). Weights have a range
per output channel, activations one per layer.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from openvino import opset13 as op

from zermelo.games.protocol import Game
from zermelo.games.registry import named_game
from zermelo.network.build_openvino import Quantise, openvino_model
from zermelo.network.openvino_core import openvino_core
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
    ranges = activation_ranges(weights, calibration)

    def quantise(node: Any, layer: str, part: str) -> Any:
        if layer not in ranges:
            return node
        if part == "weight":
            kernel = weights.arrays[f"{layer}.weight"]
            bound = np.abs(kernel).max(axis=(1, 2, 3), keepdims=True)
            return _fake_quantise(node, -bound, bound, 255)
        low, high = ranges[layer]
        return _fake_quantise(node, np.float32(low), np.float32(high), 256)

    return quantise


def activation_ranges(weights: Weights, observations: Array) -> dict[str, tuple[float, float]]:
    """Smallest and largest input of each of the tower's convolutions; 0 is always inside."""
    model = openvino_model(weights, -1, taps=True)
    settings = {"INFERENCE_PRECISION_HINT": "f32", "SNIPPETS_MODE": "DISABLE"}
    compiled = openvino_core().compile_model(model, "CPU", settings)
    names = [result.get_friendly_name() for result in model.get_results()]
    ranges: dict[str, tuple[float, float]] = {}
    for start in range(0, len(observations), 64):
        answers = compiled(observations[start : start + 64])
        for index, name in enumerate(names):
            if not name.startswith("block"):
                continue
            low, high = ranges.get(name, (0.0, 0.0))
            found = answers[index]
            ranges[name] = (min(low, float(found.min())), max(high, float(found.max())))
    return ranges


def _fake_quantise(node: Any, low: Any, high: Any, levels: int) -> Any:
    smallest, largest = op.constant(np.asarray(low)), op.constant(np.asarray(high))
    return op.fake_quantize(node, smallest, largest, smallest, largest, levels)
