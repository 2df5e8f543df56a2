"""Network files of every kind, recognised by their content's form and read as untrusted data."""

from __future__ import annotations

import mmap
import os
from pathlib import Path

from zermelo.errors import UserError
from zermelo.files import write_whole
from zermelo.games.protocol import Game
from zermelo.network.build_onnx import onnx_bytes, read_onnx
from zermelo.network.lc0 import GZIP, LC0_HEAD, chosen_heads, read_lc0
from zermelo.network.places import CHECKPOINT_FILE, named_heads
from zermelo.network.safetensors_file import read_safetensors, safetensors_bytes
from zermelo.network.weights import Weights

KINDS = ".pb.gz and .pb (lc0), .onnx and .safetensors"
MAX_FILE = 4 << 30


def load_network(path: str | os.PathLike[str], game: Game | None = None) -> Weights:
    """The network of a file or of a checkpoint's directory; with `game`, only if it fits.

    What is wrong with a file is said in one sentence, a UserError. No code in it is ever run.
    An lc0 file's heads may be named after it: `BT4.pb.gz#optimistic,q`.
    """
    text, heads = named_heads(os.fspath(path))
    place = Path(text)
    if os.path.isdir(place):
        place = place / CHECKPOINT_FILE
        if not os.path.isfile(place):
            raise UserError(f"'{path}' is a directory without {CHECKPOINT_FILE}")
    name = place.name
    if not os.path.isfile(place):
        raise UserError(f"there is no network file '{path}'")
    if place.stat().st_size > MAX_FILE:
        raise UserError(f"{name}: it is larger than any network")
    with place.open("rb") as file:
        head = file.read(16)
    if not head:
        raise UserError(f"{name}: it is empty")
    if _is_pickle(head):
        raise UserError(f"{name}: it is a pickle, which could run code; networks are {KINDS}")
    if head.startswith((GZIP, LC0_HEAD)) or name.endswith((".pb.gz", ".pb")):
        weights = read_lc0(place, *chosen_heads(heads))
    elif heads:
        raise UserError(
            f"{name}: only networks of lc0 have heads to choose from, such as '{heads}'"
        )
    elif name.endswith(".onnx"):
        weights = read_onnx(_mapped(place), name)
    elif name.endswith(".safetensors"):
        weights = read_safetensors(_mapped(place), name)
    else:
        raise UserError(f"{name}: it is no network file; networks are {KINDS}")
    if game is not None:
        require_fit(weights, game)
    return weights


def require_fit(weights: Weights, game: Game) -> None:
    """Refuses a network that was made for another game, by its name."""
    try:
        weights.architecture.check_fits(game)
    except UserError as error:
        raise UserError(f"{weights.name}: {error}") from None


def _is_pickle(head: bytes) -> bool:
    """Torch's files are a zip archive of a pickle, or a pickle itself."""
    if head[8:9] == b"{" and not any(head[4:8]):  # a safetensors header, whatever its length
        return False
    return head[:2] == b"PK" or (head[0] == 0x80 and head[1:2] in b"\x02\x03\x04\x05")


def _mapped(place: Path) -> memoryview:
    """The file's bytes, read from the disk where they are looked at only."""
    with place.open("rb") as file:
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


def save_network(weights: Weights, path: str | os.PathLike[str]) -> None:
    """Writes .onnx or .safetensors, whole or not at all."""
    from importlib import metadata  # takes a while, and readers need it not

    place = Path(path)
    version = metadata.version("zermelo")
    if place.suffix == ".onnx":
        data = onnx_bytes(weights, version)
    elif place.suffix == ".safetensors":
        data = safetensors_bytes(weights.architecture, weights.arrays, version, weights.search)
    else:
        raise UserError(f"'{place.name}' should end in .onnx or .safetensors")
    try:
        write_whole(place, data)
    except OSError as error:
        raise UserError(f"'{place}' cannot be written: {error.strerror}") from None
