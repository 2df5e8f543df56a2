"""Which network an order means, and how whoever plays it gets verified weights.

Knows checkpoints and network files of this machine. Another kind of pool names networks in another
way: a `NetworkReference` of its own, which can be compared and loads.
"""

from __future__ import annotations

import dataclasses
import hashlib
import re
from pathlib import Path
from typing import Protocol

from zermelo.checkpoint import Checkpoint, CheckpointStore
from zermelo.errors import UserError
from zermelo.games.protocol import Game
from zermelo.network import Weights, load_network
from zermelo.network.places import CHECKPOINT_FILE, MANIFEST_FILE, weights_file

CHECKPOINT, FILE = "checkpoint", "file"


class NetworkReference(Protocol):
    """Equal references are the same weights, so a player that has them need not load again."""

    def load(self, game: Game) -> Weights:
        """The weights that are meant and no others; a UserError says why not."""


@dataclasses.dataclass(frozen=True)
class LocalNetwork:
    """A network on a disk of this machine; plain data, so that a pipe can carry it."""

    kind: str  # CHECKPOINT or FILE
    path: str  # a checkpoint's directory, or a network file or a directory with one
    iteration: int  # of a checkpoint; 0 for a file
    digest: str  # sha256 of the network's file; empty if it could not be read

    @classmethod
    def of(cls, checkpoint: Checkpoint) -> LocalNetwork:
        """Of a checkpoint, whose manifest vouches for it."""
        digest = checkpoint.manifest.files[CHECKPOINT_FILE].sha256
        return cls(CHECKPOINT, str(checkpoint.directory), checkpoint.iteration, digest)

    @classmethod
    def at(cls, path: Path) -> LocalNetwork:
        """What lies there: a checkpoint, a copy of one under another name, or a network file."""
        numbered = re.fullmatch("[0-9]{6,}", path.name)  # else a copy, which no store would find
        if numbered and (path / MANIFEST_FILE).exists():
            store = CheckpointStore(path.parent, read_only=True)
            return cls.of(store.open(int(path.name)))
        return cls(FILE, str(path), 0, _digest(path))

    def load(self, game: Game) -> Weights:
        """A checkpoint's file is verified against its manifest, and each against the digest."""
        path = Path(self.path)
        if self.kind == FILE:
            weights = load_network(path, game)
            if self.digest and _digest(path) != self.digest:
                raise UserError(f"'{path}' is no longer the network to be played")
            return weights
        found = CheckpointStore(path.parent, read_only=True).open(self.iteration)
        if LocalNetwork.of(found) != self:
            raise UserError(f"'{path}' is no longer the checkpoint to be played")
        weights = found.weights()
        weights.architecture.check_fits(game)
        return weights


def _digest(path: Path) -> str:
    """Of a network's file, or of the one in a directory; empty if there is none."""
    try:
        with weights_file(path).open("rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError:
        return ""
