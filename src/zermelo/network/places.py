"""Where a reference to a network points: a file, a checkpoint, a run's newest one, a shipped name.

Owns the names of those places. Knows nothing of what is in the files; `open` opens them. A name may
be any text: `os.path` answers False where pathlib raises, as for one that is too long.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

import zermelo
from zermelo.errors import UserError, nearest
from zermelo.files import refuse_special
from zermelo.games.protocol import Game

SUFFIXES = (".onnx", ".safetensors", ".pb.gz", ".pb")
RUN_FILE = "run.toml"  # in a run's directory
CHECKPOINTS = "checkpoints"  # in a run's directory
CHECKPOINT_FILE = "weights.safetensors"  # in a checkpoint's directory
MANIFEST_FILE = "manifest.json"  # in a checkpoint's directory, written last
SHIPPED = Path(zermelo.__file__).parent / "data" / "networks"  # that come with the package
_CHECKPOINT = re.compile(r"\d{6,}")


def network_path(name: str, others: Iterable[str] = ()) -> str:
    """The file or the checkpoint's directory that `name` stands for, as it is now.

    `others` are names of no networks that may be meant as well, for the sentence about a wrong one.
    """
    place = Path(name)
    files = (name, named_heads(name)[0], place / CHECKPOINT_FILE)
    if any(os.path.isfile(file) for file in files):
        return name
    if not os.path.isdir(place):
        if (shipped := _shipped_file(name)) is not None:
            return shipped
        refuse_special(place)
        raise UserError(f"there is no network '{name}'{_neighbour(place, others)}")
    for directory in (place / CHECKPOINTS, place):
        if whole := whole_checkpoints(directory):
            return str(whole[-1])
    raise UserError(f"'{name}' is a directory without {CHECKPOINT_FILE} and without checkpoints")


def looks_like_network(name: str) -> bool:
    """Whether a name that is no player's can only be meant as a file, a directory or shipped."""
    if named_heads(name)[0].endswith(SUFFIXES) or os.sep in name:
        return True
    return os.path.exists(name) or _shipped_file(name) is not None


def named_heads(reference: str) -> tuple[str, str]:
    """The place, and which of a network's heads: `BT4.pb.gz#optimistic,q`; "" for the usual ones.

    A file that has such a mark in its name is meant itself.
    """
    place, mark, heads = reference.rpartition("#")
    return (place, heads) if mark and not os.path.exists(reference) else (reference, "")


def shipped_network(game: Game) -> str | None:
    """The network that comes with the package for this game, made by our own preset; or None."""
    return _shipped_file(game.name)


def weights_file(path: str | os.PathLike[str]) -> Path:
    """The file with the network: a checkpoint's, or the file itself."""
    place = Path(named_heads(os.fspath(path))[0])
    return place / CHECKPOINT_FILE if os.path.isdir(place) else place


def run_file(path: str | os.PathLike[str]) -> Path | None:
    """The options of the run that a checkpoint is of; None if it lies in none."""
    place = weights_file(path).resolve()
    if place.name != CHECKPOINT_FILE or place.parent.parent.name != CHECKPOINTS:
        return None
    file = place.parents[2] / RUN_FILE
    return file if os.path.isfile(file) else None


def whole_checkpoints(directory: Path) -> list[Path]:
    """Those that have a network and a manifest, which is written last; oldest first."""
    parts = (MANIFEST_FILE, CHECKPOINT_FILE)
    return [d for d in numbered_checkpoints(directory) if all((d / p).is_file() for p in parts)]


def numbered_checkpoints(directory: Path) -> list[Path]:
    """What is named as checkpoints are, by number."""
    try:
        found = [entry for entry in directory.iterdir() if _CHECKPOINT.fullmatch(entry.name)]
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted(found, key=lambda entry: int(entry.name))


def _shipped_file(name: str) -> str | None:
    """By the name of the file or of the game: `othello_size6`, `othello?size=6`."""
    plain = name.replace("?", "_").replace("&", "_").replace("=", "")
    files = [SHIPPED / f"{plain}{suffix}" for suffix in (".safetensors", ".onnx")]
    return next((str(f) for f in files if os.sep not in plain and os.path.isfile(f)), None)


def _neighbour(place: Path, others: Iterable[str]) -> str:
    """The file or name that was probably meant, as the end of the sentence."""
    try:
        names = [
            entry.name
            for entry in place.parent.iterdir()
            if entry.name.endswith(SUFFIXES) or entry.is_dir()
        ]
    except (OSError, ValueError):  # ValueError: a name with a zero byte
        return f": there is no directory '{place.parent}'"
    if os.sep not in str(place):
        names += [*others, *(file.stem for file in SHIPPED.glob("*.*"))]
    hint = nearest(place.name, names)
    return f"; {hint}" if hint.startswith("did you mean") else ""
