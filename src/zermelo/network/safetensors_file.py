"""Network files in the safetensors format: a JSON header, then the numbers. Nothing is executed.

The header's metadata holds our description. A file holds either a finished network or a training
state with its norms apart; both can be evaluated.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np

from zermelo.errors import UserError
from zermelo.network.architecture import Architecture
from zermelo.network.build_onnx import FORMAT, METADATA_KEY, described_architecture
from zermelo.network.weights import Array, Weights, fold_norms

MAX_HEADER = 16 << 20
_TYPES: dict[str, np.dtype[Any]] = {
    "F32": np.dtype("<f4"),
    "F16": np.dtype("<f2"),
    "F64": np.dtype("<f8"),
}


def safetensors_bytes(
    architecture: Architecture, arrays: Mapping[str, Array], version: str = ""
) -> bytes:
    """The whole file. `arrays` are a network's, or the floating-point part of a training state."""
    described = {"format": FORMAT, "version": version, "architecture": architecture.to_dict()}
    header: dict[str, Any] = {"__metadata__": {METADATA_KEY: json.dumps(described)}}
    blocks, position = [], 0
    for name, values in sorted(arrays.items()):
        block = np.ascontiguousarray(values, "<f4").tobytes()
        ends = [position, position + len(block)]
        header[name] = {"dtype": "F32", "shape": list(values.shape), "data_offsets": ends}
        blocks.append(block)
        position = ends[1]
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return b"".join((struct.pack("<Q", len(text)), text, *blocks))


def read_safetensors(data: bytes, name: str) -> Weights:
    """The network, folded if the file holds a training state."""
    header, body = _split(data, name)
    metadata = header.pop("__metadata__", None)
    if not isinstance(metadata, dict) or not isinstance(metadata.get(METADATA_KEY), str):
        raise UserError(f"{name}: it does not say that it is a zermelo network")
    architecture = described_architecture(metadata[METADATA_KEY], name)
    is_state = any(key.endswith(".norm.weight") for key in header)
    shapes = architecture.shapes()
    wanted = header if is_state else {key: header[key] for key in header if key in shapes}
    arrays = {
        key: found
        for key, entry in wanted.items()
        if (found := _array(key, entry, body, name)) is not None
    }
    if is_state:
        return fold_norms(architecture, arrays, name)
    return Weights(architecture, arrays, name).check()


def _split(data: bytes, name: str) -> tuple[dict[str, Any], memoryview]:
    size = int.from_bytes(data[:8], "little")
    if len(data) < 8 or size > min(MAX_HEADER, len(data) - 8):
        raise UserError(f"{name}: it is damaged or not a safetensors file")
    try:
        header = json.loads(data[8 : 8 + size])
    except (ValueError, RecursionError):
        header = None
    if not isinstance(header, dict):
        raise UserError(f"{name}: it is damaged or not a safetensors file")
    return header, memoryview(data)[8 + size :]


def _array(key: str, entry: Any, body: memoryview, name: str) -> Array | None:
    """None for what is not floating point, such as a counter of batches."""
    try:
        kind, shape, (start, stop) = entry["dtype"], entry["shape"], entry["data_offsets"]
        numbers = [*shape, start, stop]
        whole = all(type(n) is int and n >= 0 for n in numbers) and len(shape) <= 4
    except (TypeError, KeyError, ValueError):
        whole = False
    if not whole:
        raise UserError(f"{name}: its entry '{key}' cannot be read")
    if kind not in _TYPES:
        return None
    size = _TYPES[kind].itemsize
    for n in shape:
        size *= n
    if stop - start != size or stop > len(body):
        raise UserError(f"{name}: its entry '{key}' does not lie within the file")
    with np.errstate(over="ignore"):
        values = np.frombuffer(body[start:stop], _TYPES[kind]).astype(np.float32)
    return np.asarray(values.reshape(shape))
