"""Locks by either system's means, and the commands that need nothing else of Linux."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from zermelo.errors import UserError
from zermelo.processes import child, file_lock

# What Windows lacks is taken away once the standard library has what it needs of it.
ELSEWHERE = """
import asyncio, getpass, multiprocessing.connection, os, platform, shutil, signal, subprocess
import sys, tempfile, uuid

for name in ("fcntl", "resource", "pwd", "grp", "termios"):
    sys.modules[name] = None
for name in ("O_NONBLOCK", "O_CLOEXEC", "O_NOFOLLOW", "O_DIRECTORY", "pwrite", "pread", "killpg",
             "sched_getaffinity", "sysconf", "fork", "setsid", "getuid", "mkfifo"):
    if hasattr(os, name):
        delattr(os, name)
for name in ("SIGKILL", "SIGSTOP", "SIGCONT", "SIGHUP", "SIGUSR1", "SIGPIPE", "SIGALRM"):
    delattr(signal, name)
sys.path.insert(0, sys.argv[1])
import windows_locks

sys.modules["msvcrt"] = windows_locks.Locks()
from zermelo.cli import main

codes = [
    main(["match", "search?simulations=2", "random", "--game", "tictactoe", "--games", "2",
          "--out", "match"]),
    main(["analyse", "connect4", "--simulations", "20"]),
    main(["play", "tictactoe"]),
    main(["runs", "."]),
    main(["check", "tictactoe", "--games", "1"]),
]
print("codes", codes)
"""
LOCKS = """
import os


class Locks:
    LK_NBLCK, LK_UNLCK = 2, 0

    def __init__(self):
        self.held = {}

    def locking(self, descriptor, mode, count):
        byte = os.fstat(descriptor).st_ino, os.lseek(descriptor, 0, os.SEEK_CUR), count
        if self.held.setdefault(byte, descriptor) != descriptor:
            raise PermissionError(13, "Permission denied")
        if mode == self.LK_UNLCK:
            del self.held[byte]
"""


def windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """The other system's module, as far as one process can tell."""
    made: dict[str, type] = {}
    exec(LOCKS, made)
    monkeypatch.setattr(file_lock, "fcntl", None)
    monkeypatch.setattr(file_lock, "msvcrt", made["Locks"]())


@pytest.mark.parametrize("system", ["posix", "windows"])
def test_a_file_has_one_holder_and_stays_readable(
    system: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if system == "windows":
        windows(monkeypatch)
    path = tmp_path / "lock"
    path.write_text("7\n")
    with path.open("r+b") as ours, path.open("r+b") as others:
        assert not file_lock.is_taken(others.fileno())
        file_lock.take(ours.fileno())
        assert file_lock.is_taken(others.fileno())
        with pytest.raises((BlockingIOError, PermissionError)):
            file_lock.take(others.fileno())
        assert others.read() == b"7\n"
        assert os.fstat(ours.fileno()).st_size == 2


def test_commands_without_processes_of_their_own_need_nothing_else_of_linux(
    tmp_path: Path,
) -> None:
    (tmp_path / "windows_locks.py").write_text(LOCKS)
    done = subprocess.run(
        [sys.executable, "-c", ELSEWHERE, str(tmp_path)],
        input="quit\n", capture_output=True, text=True, check=False, cwd=tmp_path, timeout=120,
    )  # fmt: skip
    assert "codes [0, 0, 0, 0, 0]" in done.stdout, done.stdout + done.stderr
    assert (tmp_path / "match" / "result.json").is_file()


def test_what_needs_processes_is_refused_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "os", SimpleNamespace(name="nt"))
    with pytest.raises(UserError, match="use WSL"):
        child.Child([sys.executable, "-c", ""], {})
