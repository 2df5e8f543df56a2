"""The network of somebody else that a new run begins with: where it is from, and as it is trained.

A checkpoint has the numbers as they are trained; of a file for playing a processor network's come
back exactly, a tower's do not. The optimiser's state is never taken over. Loads torch in `network`
only.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zermelo.checkpoint import Checkpoint
from zermelo.checkpoint.state import TRAINING_FILE
from zermelo.errors import UserError
from zermelo.games.protocol import Game
from zermelo.network.files import load_network
from zermelo.network.places import MANIFEST_FILE, network_path, run_file, weights_file

if TYPE_CHECKING:
    from zermelo.network import Weights
    from zermelo.network.trained import TrainedNetwork

# Keys of a run file's head.
PATH, TITLE, SHA256, SECONDS = (
    "begun_from", "begun_from_title", "begun_from_sha256", "begun_from_seconds",
)  # fmt: skip
HEAD_KEYS = (PATH, TITLE, SHA256, SECONDS)
EARLIER = "earlier_seconds"  # in a checkpoint's manifest: of the networks that its run began with


@dataclass(frozen=True)
class Origin:
    """One network, as it was when the run was made."""

    path: str  # absolute: of the file, or of the checkpoint's directory
    title: str  # for people
    sha256: str  # of the file with the weights
    seconds: float = 0.0  # that it was trained for, as far as that is known

    @classmethod
    def find(cls, reference: str, game: Game) -> tuple[Origin, Weights]:
        """What a person names, if it is for this game; a UserError of one sentence if not."""
        place = Path(network_path(reference))
        weights = load_network(place, game)
        size = weights.architecture.size
        seconds = 0.0
        if (place / MANIFEST_FILE).is_file():
            extra = Checkpoint.at(place).manifest.extra
            seconds = float(extra.get("seconds", 0.0)) + float(extra.get(EARLIER, 0.0))
        title = f"{_name_of(place)} ({size})"
        return cls(str(place.resolve()), title, digest(place), seconds), weights

    @classmethod
    def of_head(cls, head: Mapping[str, Any]) -> Origin | None:
        """What a run file says; None if the run began from nothing."""
        if PATH not in head:
            return None
        return cls(
            str(head[PATH]),
            str(head.get(TITLE, head[PATH])),
            str(head.get(SHA256, "")),
            _seconds(head.get(SECONDS, 0.0)),
        )

    def head(self) -> dict[str, Any]:
        """For the run file."""
        return dict(zip(HEAD_KEYS, (self.path, self.title, self.sha256, self.seconds), strict=True))

    def is_meant_by(self, reference: str) -> bool:
        """Whether a person may mean this network: the same place, its run, or the same bytes."""
        place, own = Path(reference).resolve(), Path(self.path)
        if place == own or place in own.parents:
            return True
        return digest(Path(network_path(reference))) == self.sha256

    def network(self, game: Game) -> TrainedNetwork:
        """As it is trained on; a UserError if it is not there any more, or another one."""
        from zermelo.network.trained import network_of
        from zermelo.train.optimiser import copy_into
        from zermelo.train.trainer import NETWORK

        place = Path(self.path)
        if not weights_file(place).is_file() or digest(place) != self.sha256:
            raise UserError(
                f"the network '{self.path}' that the run should begin with is gone or is another "
                "one now: begin a new run"
            )
        weights = load_network(place, game)
        network = network_of(replace(weights.architecture, game=game.name))
        if not (place / TRAINING_FILE).is_file() or not (place / MANIFEST_FILE).is_file():
            network.adopt(weights)
            return network
        arrays = Checkpoint.at(place).training().arrays
        for name, tensor in network.state_dict().items():
            copy_into(tensor, arrays, NETWORK + name)
        return network


def digest(place: Path) -> str:
    """Sha256 of the file with the weights."""
    with weights_file(place).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _seconds(found: Any) -> float:
    if type(found) not in (int, float) or not 0 <= found < math.inf:
        raise UserError(f"{SECONDS} is a number of seconds, not {found!r}")
    return float(found)


def _name_of(place: Path) -> str:
    """`RUN, iteration 12`, or the file's name."""
    run = run_file(place)
    if run is None:
        return place.name
    return f"{run.parent.name}, iteration {int(place.name)}"
