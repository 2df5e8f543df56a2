"""How the processor network's integers stand for numbers: the units that the core uses too.

A weight of 1.0 is the layer's `ONE`; an activation of 1.0 would be 128, and 127 is the largest.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zermelo.network.sparse.architecture import MOST_BIAS, MOST_WEIGHT, SparseArchitecture

ACTIVATION_ONE = 128
# Name: what 1.0 is as an integer, and the largest one.
UNITS = {
    "table": (512, MOST_WEIGHT),
    "tail": (64, 127),
    "tail_bias": (ACTIVATION_ONE * 64, MOST_BIAS),
    "actions": (16, 127),
    "action_bias": (ACTIVATION_ONE * 16, MOST_BIAS),
    "value1": (32, 127),
    "value1_bias": (ACTIVATION_ONE * 32, MOST_BIAS),
    "value2": (32, 127),
    "value2_bias": (ACTIVATION_ONE * 32, MOST_BIAS),
}


def to_integers(
    architecture: SparseArchitecture, numbers: Mapping[str, NDArray[np.float32]]
) -> dict[str, NDArray[Any]]:
    """The arrays of the core, each number rounded to the nearest and kept in range."""
    found = {}
    for name, kind in architecture.dtypes().items():
        one, most = UNITS[name]
        rounded = np.floor(numbers[name] * np.float32(one) + np.float32(0.5))
        found[name] = np.ascontiguousarray(np.clip(rounded, -most, most).astype(kind))
    return found


def random_integers(
    architecture: SparseArchitecture, rng: np.random.Generator
) -> dict[str, NDArray[Any]]:
    """Arrays of a network that has learned nothing."""
    numbers = {}
    for name, shape in architecture.shapes().items():
        spread, mean = np.float32(first_spread(architecture, name)), np.float32(first_mean(name))
        numbers[name] = rng.standard_normal(shape, np.float32) * spread + mean
    return to_integers(architecture, numbers)


def first_spread(architecture: SparseArchitecture, name: str) -> float:
    """Standard deviation of an array's numbers in the beginning.

    The policy begins close to uniform, the value close to even.
    """
    spreads: dict[str, float] = {
        "table": 0.08,
        "tail": architecture.hidden**-0.5,
        "actions": 0.02,
        "value1": (2.0 / architecture.value_hidden) ** 0.5,
        "value2": 0.05,
    }
    return spreads.get(name, 0.0)


def first_mean(name: str) -> float:
    """Of an array's numbers in the beginning: units are neither all on nor all off."""
    return {"tail_bias": 0.1, "value1_bias": 0.1}.get(name, 0.0)
