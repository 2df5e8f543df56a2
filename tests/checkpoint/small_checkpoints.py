"""Small checkpoints, different in every iteration."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

import zermelo
from zermelo.checkpoint import Checkpoint, CheckpointStore, TrainingState
from zermelo.network import NetworkOptions, Weights, architecture_for, random_weights


@cache
def small_weights(seed: int) -> Weights:
    options = NetworkOptions(blocks=1, filters=2, policy_filters=1, value_filters=1, value_hidden=4)
    return random_weights(architecture_for(zermelo.game("tictactoe"), options), seed)


def small_training(seed: int) -> TrainingState:
    rng = np.random.default_rng(seed)
    arrays: dict[str, NDArray[Any]] = {
        "network.input.conv.weight": rng.standard_normal((4, 3)).astype(np.float32),
        "network.input.norm.num_batches_tracked": np.array(seed, np.int64),
        "optimiser.input.conv.weight.step": np.array(seed, np.float32),
        "torch_generator": rng.integers(0, 256, 40).astype(np.uint8),
    }
    return TrainingState(arrays, {"iterations": seed + 1, "steps": 10 * seed, "samples": 7})


def save(store: CheckpointStore, iteration: int) -> Checkpoint:
    return store.save(
        iteration,
        small_weights(iteration),
        small_training(iteration),
        window={"first": 0, "last": iteration},
        metrics={"loss": 1.0 / (iteration + 1)},
        extra={"seed": 5},
        files={"games.bin": bytes(range(16)) * 4},
    )


def is_whole(checkpoint: Checkpoint) -> bool:
    """Whether everything comes back as it was written."""
    iteration = checkpoint.iteration
    wanted, found = small_training(iteration), checkpoint.training()
    weights, loaded = small_weights(iteration).arrays, checkpoint.weights().arrays
    return (
        found.numbers == wanted.numbers
        and found.arrays.keys() == wanted.arrays.keys()
        and all(
            np.array_equal(found.arrays[name], array)
            and found.arrays[name].dtype == array.dtype
            and found.arrays[name].shape == array.shape
            for name, array in wanted.arrays.items()
        )
        and all(np.array_equal(loaded[name], array) for name, array in weights.items())
        and checkpoint.file("games.bin") == bytes(range(16)) * 4
        and checkpoint.manifest.window == {"first": 0, "last": iteration}
        and checkpoint.manifest.extra == {"seed": 5}
    )
