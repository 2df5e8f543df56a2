"""One holder of a file at a time, by the system's own lock, which ends with the process.

POSIX has `flock`, which processes inherit with the descriptor. Windows has `msvcrt.locking`, which
they do not; there the locked byte lies far behind the file's end, so that others can read the file.
"""

from __future__ import annotations

import os
from typing import Any

fcntl: Any = None
msvcrt: Any = None
try:
    import fcntl
except ImportError:
    import msvcrt

FAR = 1 << 30  # bytes: no file that is locked is so long


def take(descriptor: int) -> None:
    """Locks the open file; an OSError (EAGAIN or EACCES) if somebody else holds it."""
    if fcntl is not None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    else:
        _far(descriptor, "LK_NBLCK")


def is_taken(descriptor: int) -> bool:
    """Whether somebody else holds it; it is not locked by asking."""
    try:
        if fcntl is not None:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
            fcntl.flock(descriptor, fcntl.LOCK_UN)
        else:
            _far(descriptor, "LK_NBLCK")
            _far(descriptor, "LK_UNLCK")
    except OSError:
        return True
    return False


def _far(descriptor: int, mode: str) -> None:
    before = os.lseek(descriptor, 0, os.SEEK_CUR)
    os.lseek(descriptor, FAR, os.SEEK_SET)
    try:
        msvcrt.locking(descriptor, getattr(msvcrt, mode), 1)
    finally:
        os.lseek(descriptor, before, os.SEEK_SET)
