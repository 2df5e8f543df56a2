"""The self-play processes of this machine: started, ordered, listened to, replaced when they die.

They write their shards themselves. What a process does is in `worker.py`.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import signal
import time
from collections.abc import Callable
from typing import BinaryIO

from zermelo.cores import available_cores
from zermelo.errors import UserError
from zermelo.files import append_plain
from zermelo.processes.child import Child, hearing, how_it_ended, module_command
from zermelo.processes.memory import memory_of
from zermelo.processes.pulse import ALIVE
from zermelo.selfplay.order import Order
from zermelo.selfplay.pool import MOVES, NO_SPACE, PoolSetup, SelfPlayPool
from zermelo.selfplay.worker import first_message, play_message

DEATHS_ON_END = 5  # of one worker without a shard between them: then the run stops
END_SECONDS = 8.0  # for workers to write what they have
HALTED_SECONDS = 2.0  # ... if somebody stopped all that have not
STOPPED_SECONDS = 10.0  # without a sign of life of a process that somebody stopped: it is replaced
SILENT_SECONDS = 300.0  # ... of one that runs; on a busy machine a start may take long
STUCK_SECONDS = 30.0  # without a step of its games: said once
COMMAND = module_command("zermelo.selfplay.worker")
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


@dataclasses.dataclass
class _Worker:
    """One process as the loop sees it."""

    number: int
    child: Child
    state: str = "starting"  # playing, pausing, paused, done, waiting for disk space
    error: str = ""  # the last thing it said before it died
    by_user: bool = False
    heard: float = dataclasses.field(default_factory=time.monotonic)  # the last time
    moves: tuple[int, int] = (-1, 0)  # an iteration, and those made for it
    stuck: bool = False  # its games stand still, which was said

    def order(self, order: Order) -> None:
        """It plays this from now on."""
        self.state = "playing"
        self.child.channel.send(play_message(order))


class LocalPool(SelfPlayPool):
    """As many processes as are asked for, or one for each core."""

    repeatable = True

    def __init__(self, setup: PoolSetup) -> None:
        self.workers = setup.workers or available_cores()
        self.deaths = 0
        self._setup = setup
        self._order: Order | None = None
        self._team: list[_Worker] = []
        self._deaths_on_end = [0] * self.workers
        self._ending = False
        self._log: BinaryIO | None = None

    # ---- orders ---------------------------------------------------------------------------------

    def play(self, order: Order) -> None:
        """To all workers, which are started by the first order."""
        if order == self._order:
            return
        self._order = order
        if not self._team:
            self._team = [self._start(number) for number in range(self.workers)]
        for worker in self._team:
            worker.order(order)

    def pause(self, check: Callable[[], None]) -> None:
        """Those that stand still already are left alone."""
        self._order = None
        for worker in self._team:
            if worker.state != "paused":
                worker.state = "pausing"
                worker.child.channel.send({"do": "pause"})
        while "pausing" in self.states:
            self.listen(0.1)
            check()

    def close(self) -> None:
        """Workers that do not end in time are killed."""
        self._ending = True
        for worker in self._team:
            worker.child.channel.send({"do": "end"})
        began = time.monotonic()
        while self._team and time.monotonic() < began + END_SECONDS:
            self.listen(0.05)
            if time.monotonic() > began + HALTED_SECONDS and self._all_stopped():
                break
        self.kill()

    def _all_stopped(self) -> bool:
        """Whether somebody halted all that are left: they will write nothing."""
        return all(worker.child.stopped for worker in self._team)

    def kill(self) -> None:
        """What a worker has not written is lost."""
        for worker in self._team:
            worker.child.kill()
        self._team = []
        if self._log is not None:
            self._log.close()
            self._log = None

    def strike(self) -> None:
        """Only signals are sent."""
        for worker in list(self._team):
            with contextlib.suppress(OSError):
                os.kill(worker.child.pid, signal.SIGKILL)

    # ---- listening ------------------------------------------------------------------------------

    def listen(self, seconds: float) -> None:
        """Waits on all pipes at once."""
        team = {worker.child: worker for worker in self._team}
        for child in hearing(team, seconds):
            self._hear(team[child])
        if not self._ending:
            for worker in team.values():
                self._replace_silent(worker)

    @property
    def states(self) -> list[str]:
        """By number."""
        return [worker.state for worker in self._team]

    @property
    def moves(self) -> dict[int, int]:
        """Those of workers that died are forgotten."""
        told = [worker.moves for worker in self._team]
        return {each: sum(made for at, made in told if at == each) for each, _ in told}

    @property
    def done(self) -> bool:
        """Not before there are any."""
        return bool(self._team) and all(state == "done" for state in self.states)

    @property
    def memory(self) -> int:
        """Of the processes that live."""
        return memory_of(worker.child.pid for worker in self._team)

    def _hear(self, worker: _Worker) -> None:
        channel = worker.child.channel
        while (message := channel.receive(0.0)) is not None:
            worker.heard = time.monotonic()
            if ALIVE in message:
                self._note_stuck(worker, float(message[ALIVE]))
            elif MOVES in message:
                worker.moves = int(message["iteration"]), int(message[MOVES])
            elif "shard" in message:
                self._deaths_on_end[worker.number] = 0
                self._setup.on_shard(message)
            elif "state" in message:
                if message["state"] == NO_SPACE:
                    self._setup.report(f"the disk is full; self-play worker {worker.number} waits")
                if worker.state != "pausing" or message["state"] == "paused":
                    worker.state = str(message["state"])
            elif "note" in message:
                self._setup.report(str(message["note"]))
            elif "error" in message:
                worker.error, worker.by_user = str(message["error"]), bool(message["by_user"])
        if channel.closed:
            self._bury(worker)

    def _note_stuck(self, worker: _Worker, seconds: float) -> None:
        """A network that does not answer is said, not ended: it may only be slow."""
        if seconds < STUCK_SECONDS:
            worker.stuck = False
        elif not worker.stuck:
            worker.stuck = True
            self._setup.report(
                f"self-play worker {worker.number} has stood still for {seconds:.0f} s: its "
                "network does not answer"
            )

    def _replace_silent(self, worker: _Worker) -> None:
        """Signs of life that came meanwhile were heard before."""
        silent = time.monotonic() - worker.heard
        if silent < STOPPED_SECONDS or worker not in self._team:
            return
        if silent > SILENT_SECONDS or worker.child.stopped:
            worker.error = f"it gave no sign of life for {silent:.0f} s"
            worker.child.kill()
            self._bury(worker)

    def _bury(self, worker: _Worker) -> None:
        """A worker has gone: it was told to, or it is replaced."""
        code = worker.child.bury()
        index = self._team.index(worker)
        if worker.by_user:
            self._team.pop(index)
            raise UserError(worker.error)
        if self._ending:
            self._team.pop(index)
            return
        self.deaths += 1
        self._deaths_on_end[worker.number] += 1
        reason = worker.error or how_it_ended(code)
        if self._deaths_on_end[worker.number] >= DEATHS_ON_END:
            self._team.pop(index)
            kind = RuntimeError if worker.error else UserError  # a fault of ours, or it was killed
            raise kind(
                f"self-play worker {worker.number} died {DEATHS_ON_END} times without a shard: "
                f"{reason}; see '{self._setup.log_file}'"
            )
        self._setup.report(f"self-play worker {worker.number} died ({reason}) and is started again")
        self._team[index] = self._start(worker.number)
        if self._order is not None:
            self._team[index].order(self._order)
        else:
            self._team[index].state = "paused"

    def _start(self, number: int) -> _Worker:
        if self._log is None:
            self._log = append_plain(self._setup.log_file)
        child = Child(
            COMMAND,
            first_message(self._setup.spec(number), self._setup.replay),
            log=self._log,
            inherit=(self._setup.lock_descriptor,),
            environment=ONE_THREAD,
        )
        return _Worker(number, child)
