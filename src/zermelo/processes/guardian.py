"""Outlives us: ends the process groups that we started when we are killed before we could.

An engine may start processes of its own. While we live we end whole groups; a kill -9 leaves us no
time for it, so a small process waits for the end of a pipe. Run by its path, without our package.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import subprocess
import sys
import threading

_lock = threading.Lock()
_guardian: subprocess.Popen[bytes] | None = None


def guard(group: int) -> None:
    """From now on the group ends when this process does, however that happens."""
    _tell(group)


def release(group: int) -> None:
    """It has ended: its number may be another's soon."""
    _tell(-group)


def _tell(number: int) -> None:
    global _guardian  # noqa: PLW0603
    with _lock:
        if _guardian is None or _guardian.poll() is not None:
            if number < 0:
                return
            _guardian = subprocess.Popen(
                [sys.executable, "-I", "-S", __file__],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # what ends our group does not end it
            )
            atexit.register(_dismiss, _guardian)
        assert _guardian.stdin is not None
        with contextlib.suppress(OSError):
            os.write(_guardian.stdin.fileno(), b"%d\n" % number)


def _dismiss(guardian: subprocess.Popen[bytes]) -> None:
    assert guardian.stdin is not None
    guardian.stdin.close()
    guardian.wait()


def watch() -> None:
    """Until the pipe ends: then all groups that were not released are killed."""
    groups: set[int] = set()
    for line in sys.stdin.buffer:
        number = int(line)
        if number > 0:
            groups.add(number)
        else:
            groups.discard(-number)
    for group in groups:
        with contextlib.suppress(OSError):
            os.killpg(group, signal.SIGKILL)


if __name__ == "__main__":
    watch()
