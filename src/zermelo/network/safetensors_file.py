"""Network files in the safetensors format: a JSON header, then the numbers. Nothing is executed.

The header's metadata holds our description. A file holds either a finished network or a training
state with its norms apart; both can be evaluated.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zermelo.errors import UserError
from zermelo.network.architecture import Architecture
from zermelo.network.build_onnx import METADATA_KEY, description, read_description
from zermelo.network.kinds import AnyArchitecture
from zermelo.network.weights import Weights, fold_norms, state_shapes

FLOAT = np.dtype(np.float32)
MAX_HEADER = 1 << 20  # five times that of the longest training state
_TYPES: dict[str, np.dtype[Any]] = {
    "F32": np.dtype("<f4"),
    "F16": np.dtype("<f2"),
    "F64": np.dtype("<f8"),
    "I8": np.dtype("<i1"),
    "I16": np.dtype("<i2"),
    "I32": np.dtype("<i4"),
}
_NAMES = {kind.newbyteorder("="): name for name, kind in _TYPES.items() if name[0] == "I"}


def safetensors_bytes(
    architecture: AnyArchitecture,
    arrays: Mapping[str, NDArray[Any]],
    version: str = "",
    search: Mapping[str, Any] | None = None,
) -> bytes:
    """The whole file. `arrays` are a network's, or the floating-point part of a training state."""
    described = description(architecture, search or {}, version)
    header: dict[str, Any] = {"__metadata__": {METADATA_KEY: described}}
    blocks, position = [], 0
    for name, values in sorted(arrays.items()):
        kind = _NAMES.get(values.dtype, "F32")
        block = np.ascontiguousarray(values, _TYPES[kind]).tobytes()
        ends = [position, position + len(block)]
        header[name] = {"dtype": kind, "shape": list(values.shape), "data_offsets": ends}
        blocks.append(block)
        position = ends[1]
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return b"".join((struct.pack("<Q", len(text)), text, *blocks))


def read_safetensors(data: bytes | memoryview, name: str) -> Weights:
    """The network, folded if the file holds a training state.

    Only arrays that the network has are read, each after its shape was compared, and no byte twice:
    a file cannot ask for more memory than its own size.
    """
    header, body = _split(memoryview(data), name)
    metadata = header.pop("__metadata__", None)
    if not isinstance(metadata, dict) or not isinstance(metadata.get(METADATA_KEY), str):
        raise UserError(f"{name}: it does not say that it is a zermelo network")
    architecture, search = read_description(metadata[METADATA_KEY], name)
    state_of = None  # the tower whose training state it is
    if isinstance(architecture, Architecture) and "input.norm.weight" in header:
        state_of = architecture
    shapes = state_shapes(state_of) if state_of else architecture.shapes()
    kinds = {} if state_of else architecture.dtypes()
    places = {
        key: _place(header[key], shape, f"{name}: its entry '{key}'")
        for key, shape in shapes.items()
        if key in header
    }
    _check_apart(places, len(body), name)
    if _end(header) < len(body):
        raise UserError(f"{name}: it goes on after its last entry")
    arrays = {
        key: _array(place, shapes[key], body, kinds.get(key, FLOAT))
        for key, place in places.items()
    }
    if state_of:
        return fold_norms(state_of, arrays, name, search)
    return Weights(architecture, arrays, name, search).check()


def _split(data: memoryview, name: str) -> tuple[dict[str, Any], memoryview]:
    size = int.from_bytes(data[:8], "little")
    if len(data) < 8 or size > min(MAX_HEADER, len(data) - 8):
        raise UserError(f"{name}: it is damaged or not a safetensors file")
    try:
        header = json.loads(bytes(data[8 : 8 + size]))
    except (ValueError, RecursionError):
        header = None
    if not isinstance(header, dict):
        raise UserError(f"{name}: it is damaged or not a safetensors file")
    return header, data[8 + size :]


class _Place(NamedTuple):
    """Where an array lies after the header, and as what."""

    start: int
    stop: int
    kind: np.dtype[Any]


def _place(entry: Any, shape: tuple[int, ...], what: str) -> _Place:
    """Of an entry that has this shape; anything else is refused."""
    try:
        kind, found, (start, stop) = entry["dtype"], entry["shape"], entry["data_offsets"]
    except (TypeError, KeyError, ValueError):
        raise UserError(f"{what} cannot be read") from None
    if found != list(shape):
        raise UserError(f"{what} does not have the shape {shape}")
    if not isinstance(kind, str) or kind not in _TYPES:
        raise UserError(f"{what} is not {', '.join(_TYPES)}")
    whole = type(start) is int and type(stop) is int and start >= 0
    if not whole or stop - start != math.prod(shape) * _TYPES[kind].itemsize:
        raise UserError(f"{what} does not lie where its size fits")
    return _Place(start, stop, _TYPES[kind])


def _check_apart(places: Mapping[str, _Place], size: int, name: str) -> None:
    """Refuses entries that share bytes or reach beyond the file."""
    end = 0
    for key, place in sorted(places.items(), key=lambda item: item[1][:2]):
        if place.start < end:
            raise UserError(f"{name}: its entry '{key}' overlaps another")
        if place.stop > size:
            raise UserError(f"{name}: its entry '{key}' does not lie within the file")
        end = place.stop


def _end(header: Mapping[str, Any]) -> int:
    """Where the last entry says that it ends, the ones that we do not read among them."""
    offsets = (e.get("data_offsets") for e in header.values() if isinstance(e, dict))
    ends = (pair[1] for pair in offsets if isinstance(pair, list) and len(pair) == 2)
    return max((end for end in ends if type(end) is int), default=0)


def _array(
    place: _Place, shape: tuple[int, ...], body: memoryview, kind: np.dtype[Any]
) -> NDArray[Any]:
    """Floats become float32; integers stay as they are, for `Weights.check` to judge."""
    values = np.frombuffer(body[place.start : place.stop], place.kind)
    with np.errstate(over="ignore"):
        values = values.astype(FLOAT if kind == FLOAT else place.kind.newbyteorder("="))
    return np.asarray(values.reshape(shape))
