"""Files that are there whole or not at all, and names that last through a loss of power."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

TEMPORARY = ".tmp"  # how the hidden name of a file ends that is being written


def write_whole(path: Path, *blocks: bytes) -> None:
    """Replaces a file: a reader or a kill never sees half of it. Aside, synchronised, renamed."""
    aside = path.with_name(f".{path.name}.{os.getpid()}{TEMPORARY}")
    try:
        with aside.open("wb") as file:
            file.writelines(blocks)
            file.flush()
            os.fsync(file.fileno())
        os.replace(aside, path)
    except BaseException:
        with contextlib.suppress(OSError):
            aside.unlink(missing_ok=True)
        raise


def sync_directory(directory: Path) -> None:
    """Makes the names in it last; a system that cannot open directories needs it not."""
    if os.name == "nt":
        return
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
