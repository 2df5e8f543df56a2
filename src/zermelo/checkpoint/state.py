"""The state of a training run as arrays and plain numbers, and its safetensors file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from zermelo.checkpoint.manifest import CheckpointError
from zermelo.errors import UserError

TRAINING_FILE = "training.safetensors"
ArrayMap: TypeAlias = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class TrainingState:
    """All that a trainer needs to go on as if it had never stopped."""

    arrays: ArrayMap  # network, optimiser and random generator, by name
    numbers: Mapping[str, Any]  # JSON's types: iterations and steps done, samples seen

    def to_bytes(self) -> bytes:
        """The arrays as a safetensors file; the numbers stand in the manifest."""
        from safetensors.numpy import save

        data: bytes = save({name: np.asarray(a, order="C") for name, a in self.arrays.items()})
        return data


def read_training_arrays(data: bytes) -> dict[str, NDArray[Any]]:
    """The arrays of such a file. Nothing in it is executed."""
    try:
        from safetensors import SafetensorError
        from safetensors.numpy import load
    except ImportError:  # networks are read without it
        raise UserError(
            f"{TRAINING_FILE} needs the package 'safetensors': install zermelo[train]"
        ) from None

    try:
        found: dict[str, NDArray[Any]] = load(data)
    except (SafetensorError, ValueError, TypeError, KeyError) as error:
        raise CheckpointError(f"{TRAINING_FILE} cannot be read: {error}") from None
    return found
