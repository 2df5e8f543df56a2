"""New samples for an iteration: waits until self-play has made enough of them.

Owns the pool that plays and the tally of its shards. Does not know training: the network that plays
is that of the checkpoint it is given. One thread.
"""

from __future__ import annotations

import os
import secrets
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any

from zermelo.loop.orders import Orders, resignation
from zermelo.loop.report import Seen
from zermelo.loop.shards import leaves_runtime_open, measured_runtime, spec_for
from zermelo.loop.tally import SelfPlayTally
from zermelo.processes.memory import memory_of
from zermelo.runs.status import SELF_PLAY
from zermelo.selfplay.order import Spec
from zermelo.selfplay.pool import NO_SPACE, MakePool, PoolSetup

if TYPE_CHECKING:
    from zermelo.checkpoint import Checkpoint
    from zermelo.loop.pace import Pace
    from zermelo.loop.report import Report
    from zermelo.loop.stop import Stop
    from zermelo.network import Weights
    from zermelo.replay import ReplayStore
    from zermelo.runs.directory import Run


class Collector:
    """The samples of one iteration after the other. In a `with` its workers live.

    `exact`: one worker that plays its quota and saves its games, which makes a run repeatable.
    """

    def __init__(
        self,
        run: Run,
        replay: ReplayStore,
        stop: Stop,
        report: Report,
        pace: Pace,
        pool: MakePool,
    ) -> None:
        options = run.config
        self._pool = pool(
            PoolSetup(
                options.game(),
                options.pool.workers,
                self._spec,
                run.replay,
                run.log_file,
                run.lock_descriptor,
                on_shard=self._hear_shard,
                report=report.note,
                wait_for_space=partial(report.waiting_for_space, SELF_PLAY),
            )
        )
        self._run = run
        self.mode = self._settled_mode()
        alone = self._pool.workers == 1 and self.mode == "alternate" and options.search.threads == 1
        self.exact = alone and self._pool.repeatable
        self.orders = Orders(run, lambda: self._pool.workers, self.exact, pace.iterations)
        self._replay = replay
        self._stop = stop
        self._report = report
        self._pace = pace
        self._tally = SelfPlayTally(self._pool.workers)
        self._iteration = 0  # whose samples are counted for the view
        report.players(self._look)

    # ---- an iteration ---------------------------------------------------------------------------

    def collect(self, checkpoint: Checkpoint) -> None:
        """Waits until the iteration that begins with the checkpoint has its samples (T8)."""
        iteration = checkpoint.iteration
        self._tally.drop_before(iteration)
        for shard in self._replay.shards():  # of a process before this one, or made while training
            if shard.header.iteration == iteration:
                self._tally.add_shard(iteration, shard.path.name, shard.header.statistics)
        target = self.orders.target(checkpoint)
        self._report.collecting(iteration, target)
        self._count(iteration)
        if self.exact:
            self._collect_exactly(checkpoint, target)
            return
        if self.samples(iteration) < target or self.mode == "together":
            self._pool.play(self.orders.order(checkpoint, iteration, target))
        while self.samples(iteration) < target and not self._pace.enough(self.samples(iteration)):
            self._wait()
        self._pace.collected()
        self.mode = self._settled_mode()
        if self.mode == "alternate":
            self._report.stage("waiting for workers to pause")
            self._pool.pause(self._stop.check)
        else:  # what is played while the trainer runs belongs to the next iteration
            ahead = self._pool.apart
            self._pool.play(self.orders.order(checkpoint, iteration + 1, target, ahead))

    def _settled_mode(self) -> str:
        """Asked anew in each iteration, as machines come and go."""
        mode = self._run.config.loop.mode
        if mode != "auto":
            return mode
        return "together" if self._pool.apart else "alternate"

    def meanwhile(self) -> None:
        """Hears those who play while something else is done; called often."""
        if self.mode == "together":
            self._pool.listen(0.0)

    def change_network(self, checkpoint: Checkpoint) -> None:
        """P7: the new network at once, without stopping, if anybody plays now."""
        if self.mode == "together":
            self._count(checkpoint.iteration)
            order = self.orders.order(
                checkpoint, checkpoint.iteration, self.orders.target(checkpoint)
            )
            self._pool.play(order)

    def _collect_exactly(self, checkpoint: Checkpoint, target: int) -> None:
        """With one worker that stops by itself and saves its games."""
        iteration = checkpoint.iteration
        games = self.orders.games_file(iteration)
        if games.exists() and self.samples(iteration) >= target:
            return  # only the training was interrupted
        games.unlink(missing_ok=True)
        self._tally.forget(iteration)
        self._count(iteration)
        self._pool.play(self.orders.order(checkpoint, iteration, target))
        while not self._pool.done:
            self._wait()
        self._pace.collected()

    def _wait(self) -> None:
        """A moment of listening; the view says how far it is."""
        self._pool.listen(0.1)
        if NO_SPACE in self._pool.states:
            self._report.waiting_for_space(SELF_PLAY)
        else:
            self._report.moves(self._pool.moves.get(self._iteration, 0))
            self._report.stage(SELF_PLAY)
        if self._pace.must_finish and not self.exact:  # an exact quota cannot be cut short
            self._stop.check()
        else:
            self._stop.check_time()

    def choose_runtime(self, weights: Weights) -> None:
        """What `auto` means here is measured once and written into the run file."""
        if leaves_runtime_open(self._run.config):
            self._report.stage("measuring runtimes")
            self._run.change(measured_runtime(self._run.config, weights, self._report.note))

    def _spec(self, number: int) -> Spec:
        # A worker that was killed must not play its games again, unless that is the point.
        options = self._run.config
        seed = options.loop.seed if self.exact else secrets.randbits(52)
        return spec_for(options, number, seed, self.exact)

    # ---- figures --------------------------------------------------------------------------------

    def samples(self, iteration: int) -> int:
        """New ones that the iteration has so far."""
        return self._tally.count(iteration)

    def metrics(self, iteration: int) -> dict[str, Any]:
        """Figures of the iteration's self-play, and of the machines it was on if there are any."""
        found = self._pool.figures()
        return self._tally.metrics(iteration) | ({"cluster": found} if found else {})

    def resignation(self, oldest: int, newest: int) -> tuple[float, dict[str, float]]:
        """P2: the threshold after these iterations, and what their games say about it."""
        return resignation(self._run.config, self._replay, oldest, newest)

    @property
    def deaths(self) -> int:
        """Of workers, in all."""
        return self._pool.deaths

    def _hear_shard(self, message: dict[str, Any]) -> None:
        self._tally.add(message)
        self._report.shard(int(message.get("games", 0)), int(message.get("samples", 0)))
        self._count(self._iteration)

    def _count(self, iteration: int) -> None:
        self._iteration = iteration
        self._tally.workers = self._pool.workers
        self._report.collected(
            self._tally.count(iteration, "games"),
            self._tally.count(iteration),
            self._tally.rates(iteration),
        )

    def _look(self) -> Seen:
        pool = self._pool
        memory = memory_of([os.getpid()]) + pool.memory
        return Seen(
            pool.workers, self.mode, memory, pool.states, pool.places, dashboard=pool.dashboard
        )

    # ---- its workers' life ----------------------------------------------------------------------

    def __enter__(self) -> Collector:
        self._pool.__enter__()
        self._stop.on_kill = self._pool.strike
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._pool.__exit__(kind, error, trace)
