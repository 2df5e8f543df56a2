"""Files that are there whole or not at all, names that last through a loss of power, full disks.

Also reads TOML, so that each layer may look at a run file.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from zermelo.errors import UserError

TEMPORARY = ".tmp"  # how the hidden name of a file ends that is being written
PAUSE = 1.0  # seconds between two attempts to write to a full disk
MAX_TOML_LINE = 20_000  # characters; a key of as many parts takes the parser minutes
# Of a file that is read: a pipe does not wait, no child inherits it, bytes stay as they are.
PLAIN = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
FULL = (errno.ENOSPC, errno.EDQUOT)

Written = TypeVar("Written")


def write_whole(path: Path, *blocks: bytes, lasting: bool = True) -> None:
    """Replaces a file: a reader or a kill never sees half of it. Aside, synchronised, renamed.

    So is the name. What need not last through a loss of power is not, which may take long.
    """
    aside = path.with_name(f".{path.name}.{os.getpid()}{TEMPORARY}")
    try:
        with aside.open("wb") as file:
            file.writelines(blocks)
            file.flush()
            if lasting:
                os.fsync(file.fileno())
        os.replace(aside, path)
        if lasting:
            sync_directory(path.parent)
    except BaseException:
        with contextlib.suppress(OSError):
            aside.unlink(missing_ok=True)
        raise


def refuse_special(path: Path) -> None:
    """A pipe or a device, of which there may be no end; what is not there is others' to say."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise UserError(f"'{path}' is a pipe or a device, not a file")


def open_plain(path: str | os.PathLike[str], buffering: int = -1) -> BinaryIO:
    """A file to be read; an OSError for a pipe or a device, of which there may be no end.

    For files that come with a run: whoever made them may have made anything of that name.
    """
    opened = os.open(path, os.O_RDONLY | PLAIN)
    try:
        mode = os.fstat(opened).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "it is a pipe or a device, not a file", str(path))
        return open(opened, "rb", buffering)
    except BaseException:
        os.close(opened)
        raise


def append_plain(path: Path) -> BinaryIO:
    """A file to be added to, unbuffered; an OSError for a link, a pipe or a device.

    For files that come with a run, as `open_plain`; a link may lead out of it.
    """
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | PLAIN
    opened = os.open(path, flags, 0o666)
    try:
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            raise OSError(errno.EINVAL, "it is a pipe or a device, not a file", str(path))
        return open(opened, "ab", 0)
    except BaseException:
        os.close(opened)
        raise


def read_plain(path: Path) -> bytes:
    """The content of such a file."""
    with open_plain(path) as file:
        return file.read()


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
    refuse_special(path)
    try:
        return parse_toml(read_plain(path).decode(), path)
    except FileNotFoundError:
        raise UserError(f"there is no file '{path}'") from None
    except IsADirectoryError:
        raise UserError(f"'{path}' is a directory, not a run file") from None
    except OSError as error:
        raise UserError(f"'{path}' cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UserError(f"{path} is not text in UTF-8, so it is no run file") from None


def parse_toml(text: str, path: Path) -> dict[str, Any]:
    """A stranger's text, quickly refused where it is none; `path` names it."""
    if any(len(line) > MAX_TOML_LINE for line in text.splitlines()):
        raise UserError(f"{path} is no run file: a line of it has too many characters")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise UserError(f"{path} is no run file: it is nested too deeply") from None
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{path} is not valid TOML: {error}") from None
