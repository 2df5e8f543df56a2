"""Checkpoints: a network, its training state and a manifest that vouches for every byte.

Knows files and arrays, no torch. `CheckpointStore(run / "checkpoints")` writes and reads them.
"""

from zermelo.checkpoint.manifest import CheckpointError, Manifest
from zermelo.checkpoint.state import TrainingState
from zermelo.checkpoint.store import Checkpoint, CheckpointStore

__all__ = [
    "Checkpoint",
    "CheckpointError",
    "CheckpointStore",
    "Manifest",
    "TrainingState",
]
