"""Directories for the files of local clusters, which go away even if their owner was killed.

The owner holds a lock on a file in it, which the system takes back however it ends. Whoever makes
the next one removes those that nobody holds. Knows no Ray.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

PREFIX = "zermelo-ray-"  # short: sockets lie in it
LOCK = "owner"


@contextlib.contextmanager
def own_directory() -> Iterator[str]:
    """Locked as long as it is used, and gone at the end."""
    sweep(Path(tempfile.gettempdir()))
    place = tempfile.mkdtemp(prefix=PREFIX)
    lock = os.open(os.path.join(place, LOCK), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)
        os.close(lock)


def sweep(parent: Path) -> None:
    """Removes what owners left that were killed. One without the file is being made just now."""
    for place in parent.glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):  # in use, another user's, or gone meanwhile
            if place.lstat().st_uid != os.getuid():
                continue
            lock = os.open(place / LOCK, os.O_RDWR | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(place, ignore_errors=True)
            finally:
                os.close(lock)
