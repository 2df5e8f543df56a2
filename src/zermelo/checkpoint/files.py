"""Files that are on the disk when a call returns."""

from __future__ import annotations

import os
from pathlib import Path

from zermelo.checkpoint.manifest import CheckpointError
from zermelo.files import open_plain


def write_synced(path: Path, data: bytes) -> None:
    """A new file, fsynced."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(handle, view) :]
        os.fsync(handle)
    finally:
        os.close(handle)


def read_all(path: Path, limit: int, words: str) -> bytes:
    """The file, or at most a byte more than `limit`; `words` name it in a CheckpointError."""
    try:
        with open_plain(path) as file:
            return file.read(limit + 1)
    except FileNotFoundError:
        raise CheckpointError(f"{words} is missing") from None
    except OSError as error:
        raise CheckpointError(f"{words} cannot be read: {error.strerror}") from None
