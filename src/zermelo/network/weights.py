"""The numbers of a network, apart from every runtime: arrays by name.

A tower's are float32; batch normalisation is folded in, so it is convolutions and dense layers
only. A processor network's are the integers that it computes with.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zermelo.errors import UserError
from zermelo.network.architecture import Architecture
from zermelo.network.kinds import AnyArchitecture
from zermelo.network.sparse.architecture import SparseArchitecture

Array = NDArray[np.float32]
NORM_EPSILON = 1e-5
NORM_PARTS = ("weight", "bias", "running_mean", "running_var")


@dataclass(frozen=True)
class Weights:
    """An architecture and its arrays, `architecture.shapes()` by name. Not changed after making."""

    architecture: AnyArchitecture
    arrays: Mapping[str, NDArray[Any]]
    name: str = "network"  # for messages: usually the file it came from
    # How to search with it, as `own_search.changed_options` gives it; empty if that is not known.
    search: Mapping[str, Any] = field(default_factory=dict)

    def check(self) -> Weights:
        """Itself, after making sure that it is what it says it is."""
        shapes, kinds = self.architecture.shapes(), self.architecture.dtypes()
        for name in shapes.keys() | self.arrays.keys():
            if name not in self.arrays:
                raise UserError(f"{self.name}: the weights '{name}' are missing")
            if name not in shapes:
                raise UserError(f"{self.name}: it has weights '{name}' that its shape does not")
            found = self.arrays[name]
            if found.shape != shapes[name]:
                raise UserError(
                    f"{self.name}: the weights '{name}' have shape {found.shape}, "
                    f"not {shapes[name]}"
                )
            if found.dtype != kinds[name]:
                raise UserError(
                    f"{self.name}: the weights '{name}' are {found.dtype}, not {kinds[name]}"
                )
            if not np.isfinite(found).all():
                raise UserError(f"{self.name}: the weights '{name}' are not all finite")
        self.architecture.check_arrays(self.arrays, self.name)
        return self

    @property
    def tower(self) -> Architecture:
        """The architecture of a tower; a UserError if it is a network of another kind."""
        if isinstance(self.architecture, Architecture):
            return self.architecture
        raise UserError(f"{self.name}: it is a {self.architecture.kind} network, not a tower")


def random_weights(architecture: AnyArchitecture, seed: int = 0) -> Weights:
    """A network that has learned nothing: values near even, a policy close to uniform."""
    rng = np.random.default_rng(seed)
    if isinstance(architecture, SparseArchitecture):
        from zermelo.network.sparse.fixed_point import random_integers

        return Weights(architecture, random_integers(architecture, rng), "a new network")
    arrays: dict[str, Array] = {}
    for name, layer in architecture.layers().items():
        fan_in = int(np.prod(layer.weight_shape[1:]))
        deviation = initial_gain(name, architecture) / np.sqrt(fan_in)
        drawn = rng.standard_normal(layer.weight_shape, np.float32)
        arrays[f"{name}.weight"] = drawn * np.float32(deviation)
        arrays[f"{name}.bias"] = np.zeros(layer.bias_shape, np.float32)
    return Weights(architecture, arrays, "a new network")


def initial_gain(name: str, architecture: Architecture) -> float:
    """Spread of a layer's outputs at the start, per unit of its inputs.

    A block's second convolution is scaled down so that deep towers begin no louder than shallow
    ones; the outputs begin small so that the first games are played by a nearly uniform policy.
    """
    if name.endswith("_out"):
        return 0.1
    if name.endswith("_conv2"):
        return float(np.sqrt(2.0 / max(1, architecture.blocks)))
    if name.endswith("_excite"):
        return 0.1
    return float(np.sqrt(2.0))


def state_shapes(architecture: Architecture) -> dict[str, tuple[int, ...]]:
    """The arrays of a training state, where `layer.conv` and `layer.norm` stand apart."""
    found: dict[str, tuple[int, ...]] = {}
    for name, layer in architecture.layers().items():
        if not layer.norm:
            found |= {f"{name}.weight": layer.weight_shape, f"{name}.bias": layer.bias_shape}
            continue
        found[f"{name}.conv.weight"] = layer.weight_shape
        found |= {f"{name}.norm.{part}": (layer.outputs,) for part in NORM_PARTS}
    return found


def fold_norms(
    architecture: Architecture,
    state: Mapping[str, Array],
    name: str = "network",
    search: Mapping[str, Any] | None = None,
) -> Weights:
    """The network of a training state."""
    parts = {
        key: _part(state, key, shape, name) for key, shape in state_shapes(architecture).items()
    }
    arrays: dict[str, Array] = {}
    for layer_name, layer in architecture.layers().items():
        if not layer.norm:
            for part in ("weight", "bias"):
                arrays[f"{layer_name}.{part}"] = parts[f"{layer_name}.{part}"]
            continue
        kernel = parts[f"{layer_name}.conv.weight"]
        gamma, beta, mean, variance = (parts[f"{layer_name}.norm.{part}"] for part in NORM_PARTS)
        with np.errstate(invalid="ignore", over="ignore"):
            scale = (gamma.astype(np.float64) / np.sqrt(variance + NORM_EPSILON))[
                :, None, None, None
            ]
            arrays[f"{layer_name}.weight"] = (kernel * scale).astype(np.float32)
            shift = beta - mean * scale[:, 0, 0, 0]
        arrays[f"{layer_name}.bias"] = shift.astype(np.float32)
    return Weights(architecture, arrays, name, search or {}).check()


def _part(state: Mapping[str, Array], key: str, shape: tuple[int, ...], name: str) -> Array:
    if key not in state:
        raise UserError(f"{name}: the weights '{key}' are missing")
    if state[key].shape != shape:
        raise UserError(f"{name}: the weights '{key}' have shape {state[key].shape}, not {shape}")
    return np.asarray(state[key], np.float32)
