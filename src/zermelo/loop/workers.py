"""The self-play processes of a run: started, ordered, listened to, replaced when they die."""

from __future__ import annotations

import dataclasses
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from zermelo.errors import UserError
from zermelo.selfplay.channel import Channel, Message
from zermelo.selfplay.order import Order, Spec
from zermelo.selfplay.worker import NO_SPACE, first_message, play_message

DEATHS_ON_END = 5  # of one worker without a shard between them: then the run stops
END_SECONDS = 15.0  # for workers to write what they have
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclasses.dataclass
class _Process:
    """One worker as the loop sees it."""

    number: int
    process: subprocess.Popen[bytes]
    channel: Channel
    state: str = "starting"  # playing, paused, done, waiting for disk space
    error: str = ""  # the last thing it said before it died
    by_user: bool = False


class WorkerPool:
    """A fixed number of workers, all of which do the same thing. Used by one thread.

    `on_shard` hears of every finished shard, `report` takes sentences.
    """

    def __init__(
        self,
        count: int,
        make_spec: Callable[[int], Spec],
        replay: Path,
        lock_descriptor: int,
        log_file: Path,
        *,
        on_shard: Callable[[Message], None],
        report: Callable[[str], None],
    ) -> None:
        self.count = count
        self.deaths = 0  # in all
        self._make_spec = make_spec
        self._replay = replay  # where shards go
        self._lock_descriptor = lock_descriptor
        self._log_file = log_file
        self._on_shard = on_shard
        self._report = report
        self._order: Order | None = None
        self._processes: list[_Process] = []
        self._deaths_on_end = [0] * count
        self._ending = False
        self._log: BinaryIO | None = None

    # ---- orders ---------------------------------------------------------------------------------

    def play(self, order: Order) -> None:
        """All workers play this from now on; those that play something else change over."""
        if order == self._order:
            return
        self._order = order
        if not self._processes:
            self._processes = [self._start(number) for number in range(self.count)]
        for worker in self._processes:
            worker.state = "playing"
            worker.channel.send(play_message(order))

    def pause(self, check: Callable[[], None]) -> None:
        """Lets all workers write what they have and stand still; returns when they do.

        `check` is called meanwhile and may raise.
        """
        self._order = None
        waiting = [worker for worker in self._processes if worker.state != "paused"]
        for worker in waiting:
            worker.state = "pausing"
            worker.channel.send({"do": "pause"})
        while any(worker.state == "pausing" for worker in self._processes):
            self.listen(0.1)
            check()

    def end(self) -> None:
        """All workers write what they have and end."""
        self._ending = True
        for worker in self._processes:
            worker.channel.send({"do": "end"})
        until = time.monotonic() + END_SECONDS
        while self._processes and time.monotonic() < until:
            self.listen(0.05)
        self.kill()

    def kill(self) -> None:
        """Ends all workers at once."""
        for worker in self._processes:
            worker.process.kill()
            worker.process.wait()
            worker.channel.close()
        self._processes = []

    # ---- listening ------------------------------------------------------------------------------

    def listen(self, seconds: float) -> None:
        """Handles what workers say within the seconds; returns early after something was said."""
        descriptors = {worker.channel.read_from: worker for worker in self._processes}
        if not descriptors:
            time.sleep(seconds)
            return
        ready, _, _ = select.select(list(descriptors), [], [], seconds)
        for descriptor in ready:
            self._hear(descriptors[descriptor])

    @property
    def states(self) -> list[str]:
        """What each worker does."""
        return [worker.state for worker in self._processes]

    @property
    def done(self) -> bool:
        """Whether all have played their quota."""
        return bool(self._processes) and all(state == "done" for state in self.states)

    @property
    def pids(self) -> list[int]:
        """Of the processes that live."""
        return [worker.process.pid for worker in self._processes]

    def _hear(self, worker: _Process) -> None:
        while (message := worker.channel.receive(0.0)) is not None:
            if "shard" in message:
                self._deaths_on_end[worker.number] = 0
                self._on_shard(message)
            elif "state" in message:
                if message["state"] == NO_SPACE:
                    self._report(f"the disk is full; self-play worker {worker.number} waits")
                if worker.state != "pausing" or message["state"] == "paused":
                    worker.state = str(message["state"])
            elif "note" in message:
                self._report(str(message["note"]))
            elif "error" in message:
                worker.error, worker.by_user = str(message["error"]), bool(message["by_user"])
        if worker.channel.closed:
            self._bury(worker)

    def _bury(self, worker: _Process) -> None:
        """A worker has gone: it was told to, or it is replaced."""
        code = worker.process.wait()
        worker.channel.close()
        index = self._processes.index(worker)
        if worker.by_user:
            self._processes.pop(index)
            raise UserError(worker.error)
        if self._ending:
            self._processes.pop(index)
            return
        self.deaths += 1
        self._deaths_on_end[worker.number] += 1
        reason = worker.error or (
            f"it was killed by signal {-code}" if code < 0 else f"it ended with code {code}"
        )
        if self._deaths_on_end[worker.number] >= DEATHS_ON_END:
            self._processes.pop(index)
            raise UserError(
                f"self-play worker {worker.number} died {DEATHS_ON_END} times without a shard: "
                f"{reason}; see '{self._log_file}'"
            )
        self._report(f"self-play worker {worker.number} died ({reason}) and is started again")
        self._processes[index] = self._start(worker.number)
        if self._order is not None:
            self._processes[index].state = "playing"
            self._processes[index].channel.send(play_message(self._order))
        else:
            self._processes[index].state = "paused"

    def _start(self, number: int) -> _Process:
        if self._log is None:
            self._log = self._log_file.open("ab")
        process = subprocess.Popen(
            [sys.executable, "-m", "zermelo.selfplay.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            pass_fds=(self._lock_descriptor,),
            env=os.environ | dict.fromkeys(THREADS, "1"),
            process_group=0,  # Ctrl-C of the terminal is for the loop alone
            bufsize=0,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        channel = Channel(os.dup(process.stdout.fileno()), os.dup(process.stdin.fileno()))
        process.stdout.close()
        process.stdin.close()
        channel.send(first_message(self._make_spec(number), self._replay))
        return _Process(number, process, channel)

    def __enter__(self) -> WorkerPool:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if kind is None or issubclass(kind, Exception):
                self.end()
        finally:
            self.kill()
            if self._log is not None:
                self._log.close()
                self._log = None
