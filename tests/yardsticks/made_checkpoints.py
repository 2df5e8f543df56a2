"""Checkpoints of small networks."""

from __future__ import annotations

from pathlib import Path

from small_networks import small_weights

from zermelo.checkpoint import Checkpoint, CheckpointStore, TrainingState


def made_checkpoints(folder: Path, count: int) -> list[Checkpoint]:
    store = CheckpointStore(folder / "checkpoints", keep=max(3, count))
    return [
        store.save(number, small_weights("tictactoe", number), TrainingState({}, {}))
        for number in range(count)
    ]
