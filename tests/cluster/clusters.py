"""Clusters of processes on the loopback, for tests: a head and nodes that can be killed."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from zermelo.cluster.node_command import command, head_arguments, join_arguments
from zermelo.cluster.token import new_token, settings

START_SECONDS = 240.0


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def family(pid: int) -> list[int]:
    """A process and all below it."""
    found = [pid]
    for parent in found:
        for task in Path(f"/proc/{parent}/task").glob("*/children"):
            with contextlib.suppress(OSError):
                found += [int(word) for word in task.read_text().split()]
    return found


def kill_family(pid: int) -> None:
    for member in reversed(family(pid)):
        with contextlib.suppress(OSError):
            os.kill(member, signal.SIGKILL)


class Machines:
    """Each node is a family of processes, as a machine would be."""

    def __init__(self) -> None:
        self.port = free_port()
        self.address = f"127.0.0.1:{self.port}"
        self.environment = os.environ | settings(new_token())
        self.temporary = tempfile.mkdtemp(prefix="zr-")
        self.log = os.open(f"{self.temporary}/log.txt", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
        self.nodes: list[subprocess.Popen[bytes]] = []

    def head(self, cpus: int = 1) -> subprocess.Popen[bytes]:
        words = head_arguments("127.0.0.1", self.port, cpus, 100)
        return self.start([*words, f"--temp-dir={self.temporary}"])

    def join(self, cpus: int = 1) -> subprocess.Popen[bytes]:
        return self.start(join_arguments(self.address, "127.0.0.1", cpus, 100))

    def start(self, arguments: list[str]) -> subprocess.Popen[bytes]:
        made = subprocess.Popen(
            command(arguments), env=self.environment, stdout=self.log, stderr=self.log
        )
        self.nodes.append(made)
        return made

    def listens(self) -> bool:
        """Whether the head does."""
        try:
            socket.create_connection(("127.0.0.1", self.port), 1.0).close()
        except OSError:
            return False
        return True

    def wait(self) -> None:
        """Until the head listens."""
        until = time.monotonic() + START_SECONDS
        while not self.listens():
            if time.monotonic() > until:
                raise TimeoutError("no head")
            time.sleep(0.1)

    def end(self) -> None:
        for node in self.nodes:
            kill_family(node.pid)
            node.wait()
        os.close(self.log)


@contextlib.contextmanager
def machines(*cpus: int) -> Iterator[Machines]:
    """A head and nodes with so many cores each."""
    made = Machines()
    try:
        made.head(cpus[0])
        made.wait()
        for more in cpus[1:]:
            made.join(more)
        yield made
    finally:
        made.end()
        subprocess.run(["rm", "-rf", made.temporary], check=False)


def train_command(run: Path, address: str, *more: str) -> list[str]:
    """A run of seconds on a cluster."""
    return [
        sys.executable, "-m", "zermelo", "train", str(run), "--cluster", address, "--json", *more,
    ]  # fmt: skip
