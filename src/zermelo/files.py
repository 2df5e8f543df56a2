"""Files that are there whole or not at all, names that last through a loss of power, full disks.

Also reads TOML, so that each layer may look at a run file.
"""

from __future__ import annotations

import contextlib
import errno
import os
import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from zermelo.errors import UserError

TEMPORARY = ".tmp"  # how the hidden name of a file ends that is being written
PAUSE = 1.0  # seconds between two attempts to write to a full disk
FULL = (errno.ENOSPC, errno.EDQUOT)

Written = TypeVar("Written")


def write_whole(path: Path, *blocks: bytes, lasting: bool = True) -> None:
    """Replaces a file: a reader or a kill never sees half of it. Aside, synchronised, renamed.

    What need not last through a loss of power is not synchronised, which may take long.
    """
    aside = path.with_name(f".{path.name}.{os.getpid()}{TEMPORARY}")
    try:
        with aside.open("wb") as file:
            file.writelines(blocks)
            file.flush()
            if lasting:
                os.fsync(file.fileno())
        os.replace(aside, path)
    except BaseException:
        with contextlib.suppress(OSError):
            aside.unlink(missing_ok=True)
        raise


def remove_temporary(*directories: Path) -> None:
    """What killed processes were writing whole; for whoever knows that nobody is at it now."""
    for directory in directories:
        for path in directory.glob(f".*{TEMPORARY}"):
            path.unlink(missing_ok=True)


def sync_directory(directory: Path) -> None:
    """Makes the names in it last; a system that cannot open directories needs it not."""
    if os.name == "nt":
        return
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def patiently(write: Callable[[], Written], wait: Callable[[], bool] | None) -> Written:
    """Calls `write` until the disk is not full; `wait` says whether to go on trying."""
    while True:
        try:
            return write()
        except (UserError, OSError) as error:
            if not is_disk_full(error) or wait is None or not wait():
                raise
        time.sleep(PAUSE)


def is_disk_full(error: BaseException) -> bool:
    """Whether an error, or the one behind it, says that there is no room."""
    found: BaseException | None = error
    while found is not None:
        if isinstance(found, OSError) and found.errno in FULL:
            return True
        found = found.__cause__
    return False


def read_toml(path: Path) -> dict[str, Any]:
    """The file's content; what is wrong with it is one sentence."""
    try:
        return tomllib.loads(path.read_bytes().decode())
    except FileNotFoundError:
        raise UserError(f"there is no file '{path}'") from None
    except IsADirectoryError:
        raise UserError(f"'{path}' is a directory, not a run file") from None
    except OSError as error:
        raise UserError(f"'{path}' cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UserError(f"{path} is not text in UTF-8, so it is no run file") from None
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{path} is not valid TOML: {error}") from None
