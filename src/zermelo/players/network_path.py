"""Where a network lies: in a file, in a checkpoint, or in a run as its newest checkpoint."""

from __future__ import annotations

import os
from pathlib import Path

import zermelo
from zermelo.checkpoint import whole_checkpoints
from zermelo.errors import UserError, nearest
from zermelo.games.protocol import Game
from zermelo.network.files import CHECKPOINT_FILE

SUFFIXES = (".onnx", ".safetensors", ".pb.gz", ".pb")
CHECKPOINTS = "checkpoints"  # in a run's directory
SHIPPED = Path(zermelo.__file__).parent / "data" / "networks"  # that come with the package


def shipped_network(game: Game) -> str | None:
    """The network that comes with the package for this game, made by our own preset; or None."""
    name = game.name.replace("?", "_").replace("&", "_").replace("=", "")
    file = SHIPPED / f"{name}.onnx"
    return str(file) if file.is_file() else None


def looks_like_network(name: str) -> bool:
    """Whether a player's name can only be meant as a file or directory."""
    return name.endswith(SUFFIXES) or os.sep in name or os.path.exists(name)


def network_path(name: str) -> str:
    """The file or the checkpoint's directory that `name` stands for, as it is now."""
    place = Path(name)
    if place.is_file() or (place / CHECKPOINT_FILE).is_file():
        return name
    if not place.is_dir():
        raise UserError(f"there is no network '{name}'{_neighbour(place)}")
    for directory in (place / CHECKPOINTS, place):
        if whole := whole_checkpoints(directory):
            return str(whole[-1])
    raise UserError(f"'{name}' is a directory without {CHECKPOINT_FILE} and without checkpoints")


def _neighbour(place: Path) -> str:
    """The file that was probably meant, as the end of the sentence."""
    try:
        names = [
            entry.name
            for entry in place.parent.iterdir()
            if entry.name.endswith(SUFFIXES) or entry.is_dir()
        ]
    except OSError:
        return f": there is no directory '{place.parent}'"
    hint = nearest(place.name, names)
    return f"; {hint}" if hint.startswith("did you mean") else ""
