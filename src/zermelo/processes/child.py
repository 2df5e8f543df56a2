"""A process that this one starts, talks to, and ends; what it does is its module's business."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from zermelo.errors import UserError
from zermelo.processes.channel import Channel, Message

# A wait without a limit holds a lock of `subprocess`: a signal's handler that waits too, in the
# same thread, would never come back.
LONG = 1e6  # seconds
KILL_SECONDS = 2.0  # for the system to end what was killed
NOT_HERE = (
    "training and matches in several processes need Linux or macOS, as Windows has neither their "
    "pipes nor their process groups: use WSL there"
)


def module_command(module: str) -> tuple[str, ...]:
    """Runs a module of ours; -P: no file of the working directory takes another's place."""
    return (sys.executable, "-P", "-m", module)


class Child:
    """Its process and the channel to it. It gets Ctrl-C from nobody: its owner ends it.

    It is to end by itself when it is hung up on, so it also ends when its owner was killed.
    """

    def __init__(
        self,
        command: Sequence[str],
        first: Message,
        *,
        log: BinaryIO | None = None,
        inherit: Sequence[int] = (),
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Starts it with a first message. Its errors go to `log` or to our own error stream.

        `inherit` are descriptors that it keeps open, `environment` changes variables.
        """
        if os.name == "nt":
            raise UserError(NOT_HERE)
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            pass_fds=inherit,
            env=None if environment is None else os.environ | dict(environment),
            process_group=0,  # Ctrl-C of the terminal is for us alone
            bufsize=0,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self.channel = Channel(
            os.dup(self._process.stdout.fileno()), os.dup(self._process.stdin.fileno())
        )
        self._process.stdout.close()
        self._process.stdin.close()
        self.pid = self._process.pid
        self.channel.send(first)

    @property
    def stopped(self) -> bool:
        """Whether somebody halted it, as SIGSTOP does; False where the system does not tell."""
        try:
            status = Path(f"/proc/{self.pid}/stat").read_text()
        except OSError:
            return False
        return status.rpartition(")")[2].split()[:1] in (["T"], ["t"])

    def bury(self, seconds: float | None = None) -> int:
        """Hangs up and waits for its end, after the seconds not any longer; its exit code."""
        self.channel.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self._process.wait(LONG if seconds is None else seconds)
        return self.kill()

    def kill(self) -> int:
        """Ends it at once; its exit code. Also from a signal's handler, in the midst of `bury`."""
        self._process.kill()
        code = -signal.SIGKILL
        with contextlib.suppress(subprocess.TimeoutExpired):
            code = self._process.wait(KILL_SECONDS)
        self.channel.close()
        return code


def hearing(children: Iterable[Child], seconds: float) -> list[Child]:
    """Those that said something or have gone, as soon as there are any; none after the seconds."""
    descriptors = {child.channel.read_from: child for child in children}
    if not descriptors:
        time.sleep(seconds)
        return []
    ready, _, _ = select.select(list(descriptors), [], [], seconds)
    return [descriptors[descriptor] for descriptor in ready]


def how_it_ended(code: int) -> str:
    """An exit code in words."""
    return f"it was killed by signal {-code}" if code < 0 else f"it ended with code {code}"
