"""Where a network lies: in a file, in a checkpoint, or in a run as its newest checkpoint."""

from __future__ import annotations

import os
from pathlib import Path

import zermelo
from zermelo.errors import UserError
from zermelo.games.parameters import nearest
from zermelo.games.protocol import Game
from zermelo.network.files import CHECKPOINT_FILE

SUFFIXES = (".onnx", ".safetensors", ".pb.gz", ".pb")
MANIFEST = "manifest.json"  # the last file of a checkpoint to be written
CHECKPOINTS = "checkpoints"  # in a run's directory


def shipped_network(game: Game) -> str | None:
    """The network that comes with the package for this game, made by our own preset; or None."""
    name = game.name.replace("?", "_").replace("&", "_").replace("=", "")
    file = Path(zermelo.__file__).parent / "data" / "networks" / f"{name}.onnx"
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
        whole = [d for d in _numbered(directory) if (d / MANIFEST).is_file()]
        if whole:
            return str(max(whole, key=lambda found: int(found.name)))
    raise UserError(f"'{name}' is a directory without {CHECKPOINT_FILE} and without checkpoints")


def _numbered(directory: Path) -> list[Path]:
    """The checkpoints of a directory: sub-directories whose names are numbers."""
    if not directory.is_dir():
        return []
    found = (entry for entry in directory.iterdir() if entry.name.isdecimal())
    return [entry for entry in found if (entry / CHECKPOINT_FILE).is_file()]


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
