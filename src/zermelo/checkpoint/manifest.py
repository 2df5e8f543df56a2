"""The manifest of a checkpoint: what it holds, and the size and sha256 of each of its files.

It is written last, so a directory without one is no checkpoint. It vouches for itself as well:
its bytes must be exactly those that its own content and checksum give, so no bit of it can change
unseen.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from zermelo.errors import UserError
from zermelo.network.kinds import AnyArchitecture, architecture_from_dict
from zermelo.network.places import MANIFEST_FILE

FORMAT = 1
MAX_MANIFEST = 16 << 20  # bytes
_CHECKSUM = "manifest_sha256"


class CheckpointError(UserError):
    """A checkpoint that cannot be used or written; the message is one sentence."""


@dataclass(frozen=True)
class FileEntry:
    """What a file must be."""

    size: int  # bytes
    sha256: str

    @classmethod
    def of(cls, data: bytes) -> FileEntry:
        """The entry that these bytes need."""
        return cls(len(data), hashlib.sha256(data).hexdigest())

    def fault(self, data: bytes) -> str:
        """What is wrong with a file's bytes; empty if nothing is."""
        if len(data) != self.size:
            return f"has {len(data)} bytes instead of {self.size}"
        if hashlib.sha256(data).hexdigest() != self.sha256:
            return "does not have the sha256 that the manifest gives"
        return ""


@dataclass(frozen=True)
class Manifest:
    """One checkpoint in plain values. `files` does not list the manifest itself."""

    iteration: int  # of the loop, finished when the checkpoint was written
    game: str  # full name, settings included
    architecture: dict[str, Any]
    files: dict[str, FileEntry]
    version: str  # of the package that wrote it
    training: dict[str, Any] = field(default_factory=dict)  # numbers of the trainer: schedule, ...
    window: dict[str, Any] = field(default_factory=dict)  # of the replay, as the loop describes it
    metrics: dict[str, Any] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)  # the loop's own
    format: int = FORMAT

    def to_bytes(self) -> bytes:
        """The file; the same manifest always gives the same bytes."""
        body = plain(asdict(self))
        return _text(body | {_CHECKSUM: _checksum(body)})

    @classmethod
    def from_bytes(cls, data: bytes) -> Manifest:
        """Read back; a CheckpointError that says what is wrong if a single bit differs."""
        body = _parsed(data)
        checksum = body.pop(_CHECKSUM, None)
        if checksum != _checksum(body) or _text(body | {_CHECKSUM: checksum}) != data:
            raise CheckpointError(f"{MANIFEST_FILE} does not have its own checksum")
        if body.get("format") != FORMAT:
            raise CheckpointError(
                f"{MANIFEST_FILE} is of format {body.get('format')}; this version reads {FORMAT}"
            )
        if set(body) != {entry.name for entry in fields(cls)}:
            raise CheckpointError(f"{MANIFEST_FILE} does not have the keys of a checkpoint")
        return cls(**body | {"files": _file_entries(body["files"])})

    def network(self) -> AnyArchitecture:
        """What the network looks like."""
        return architecture_from_dict(self.architecture)


def plain(value: Any) -> Any:
    """The value in JSON's types: NumPy's numbers as Python's, what is not finite as None."""
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if hasattr(value, "tolist"):  # NumPy
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _text(body: dict[str, Any]) -> bytes:
    text = json.dumps(body, indent=1, sort_keys=True, allow_nan=False, ensure_ascii=True)
    return (text + "\n").encode()


def _checksum(body: dict[str, Any]) -> str:
    """Of the content on one line."""
    text = json.dumps(body, sort_keys=True, allow_nan=False, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _parsed(data: bytes) -> dict[str, Any]:
    if len(data) > MAX_MANIFEST:
        raise CheckpointError(f"{MANIFEST_FILE} is larger than any manifest")
    try:
        body = json.loads(data, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        raise CheckpointError(f"{MANIFEST_FILE} is damaged")
    return body


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no number")


def _file_entries(entries: Any) -> dict[str, FileEntry]:
    try:
        found = {name: FileEntry(**entry) for name, entry in entries.items()}
        good = all(is_file_name(name) and type(e.size) is int for name, e in found.items())
    except (AttributeError, TypeError):
        good = False
    if not good:
        raise CheckpointError(f"{MANIFEST_FILE} has a list of files that cannot be read")
    return found


def is_file_name(name: str) -> bool:
    """Whether it names a visible file of the checkpoint's own directory."""
    return bool(name) and not name.startswith(".") and "/" not in name and "\\" not in name
