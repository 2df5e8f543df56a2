"""One process per run: a lock on a file, held until the last process that inherited it ends.

Self-play workers inherit the descriptor, so a run whose loop was killed stays locked for the moment
that its workers need to notice. The directory is locked too: a person may delete the file.
"""

from __future__ import annotations

import errno
import os
import time
from pathlib import Path

from zermelo.errors import UserError
from zermelo.files import open_plain, read_plain, refuse_special
from zermelo.processes import file_lock

PATIENCE = 20.0  # seconds to wait for orphaned workers of a loop that has gone


class RunLock:
    """Holds the lock from its making until `release` or the end of the process."""

    def __init__(self, path: Path, patience: float = PATIENCE) -> None:
        """A UserError that names the other process if there is one."""
        self.path = path
        self.descriptor = self._directory = -1
        until = time.monotonic() + patience
        try:
            if os.name != "nt":  # where directories cannot be opened
                self._directory = os.open(path.parent, os.O_RDONLY)
                self._take(self._directory, until)
            refuse_special(path)
            flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
            self.descriptor = os.open(path, flags, 0o666)
            self._take(self.descriptor, until)
        except OSError as error:
            self.release()
            raise UserError(f"'{path}' cannot be opened: {error.strerror}") from None
        except BaseException:
            self.release()
            raise
        os.truncate(self.descriptor, 0)
        os.lseek(self.descriptor, 0, os.SEEK_SET)
        os.write(self.descriptor, f"{os.getpid()}\n".encode())

    @property
    def ours(self) -> bool:
        """Whether the run that is at this place now is still the one that was locked."""
        try:
            there, locked = os.stat(self.path, follow_symlinks=False), os.fstat(self.descriptor)
        except OSError:
            return False
        return os.path.samestat(there, locked)

    def release(self) -> None:
        """Lets others in; workers that still have the descriptor keep them out."""
        for descriptor in (self.descriptor, self._directory):
            if descriptor >= 0:
                os.close(descriptor)
        self.descriptor = self._directory = -1

    def _take(self, descriptor: int, until: float) -> None:
        while True:
            try:
                file_lock.take(descriptor)
                return
            except OSError as error:
                if error.errno not in (errno.EAGAIN, errno.EACCES):
                    return  # a system that locks no directories
                holder = holder_of(self.path)
            if is_alive(holder) or time.monotonic() > until:
                who = f"process {holder}" if holder else "another process"
                raise UserError(f"the run '{self.path.parent}' is in use by {who}") from None
            time.sleep(0.05)


def holder_of(path: Path) -> int:
    """The process that took the lock last; 0 if the file does not say."""
    try:
        return int(read_plain(path).split()[0])
    except (OSError, ValueError, IndexError):
        return 0


def running_process(path: Path) -> int:
    """The process that holds the lock now; 0 if nobody does."""
    try:
        file = open_plain(path)
    except OSError:
        return 0
    with file:
        return holder_of(path) if file_lock.is_taken(file.fileno()) else 0


def is_alive(process: int) -> bool:
    """Whether there is a process of that number, ours or not."""
    if process <= 0:
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return not _is_zombie(process)


def _is_zombie(process: int) -> bool:
    try:
        status = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[:1] == ["Z"]
