"""The whole cycle: play, look back, train, save, measure, and again.

Iteration i plays with checkpoint i and makes checkpoint i + 1; checkpoint 0 knows nothing, or is
the network that the run began with, and then iteration 0 fills the whole window. Stages
meet in the run's directory only, and each of their files is there whole or not at all, so the run
may be killed anywhere: it goes on from its newest checkpoint and the shards that are there.

With one worker and stages that take turns a run is *repeatable*: the games under way are part of
the checkpoint, and an unfinished iteration is played again and comes out the same, bit for bit.

How samples are collected, learned from, measured and told of is not known here.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from zermelo.checkpoint import Checkpoint
from zermelo.files import remove_temporary
from zermelo.loop.collect import Collector
from zermelo.loop.measure import Evaluate, Measurer
from zermelo.loop.pace import Pace
from zermelo.loop.report import Report
from zermelo.loop.stop import TIME_OVER, Stop, StoppedError
from zermelo.loop.view import View
from zermelo.pretrain.pretrain import refuse_half_pretrained
from zermelo.replay import ReplayStore
from zermelo.runs.directory import Run
from zermelo.runs.learning import open_learner
from zermelo.selfplay.local_pool import LocalPool
from zermelo.selfplay.pool import MakePool
from zermelo.selfplay.resign import first_threshold
from zermelo.train.origin import EARLIER

if TYPE_CHECKING:
    from zermelo.train import TrainProgress


class Loop:
    """One process's work on a locked run. What a killed process left half done is removed."""

    def __init__(
        self,
        run: Run,
        stop: Stop,
        view: View,
        evaluate: Sequence[Evaluate] = (),
        pool: MakePool = LocalPool,
    ) -> None:
        remove_temporary(run.path, run.selfplay, run.metrics)  # locked, so nobody is writing them
        self.run_directory = run
        self.stop = stop
        self.report = Report(run, stop, view)
        replay = ReplayStore(run.replay, run.config.game(), self.report.damaged)
        replay.remove_temporary()
        self.pace = Pace(stop, run.config.loop.iterations)
        self.collector = Collector(run, replay, stop, self.report, self.pace, pool)
        self.learner = open_learner(run, replay, wait=self.wait_to_save, note=self.report.note)
        self.measurer = Measurer(run, evaluate, self.learner.record, self.report)

    def run(self) -> dict[str, Any]:
        """Until all iterations are done or somebody stops it; returns a summary."""
        reason = "broken off"
        try:
            self.begin()
            with self.collector, self.measurer:
                while self.iteration < self.run_directory.config.loop.iterations:
                    self.run_directory.check_lock()
                    self.plan()
                    self.collector.collect(self.checkpoint)  # 1. wait for new samples
                    self.fill_window()  # 2. the samples of the last iterations
                    trained = self.train()  # 3. one pass over them
                    self.save(trained)  # 4. checkpoint, with the new resignation threshold
                    last = self.pace.is_last(self.iteration)
                    self.measurer.measure(self.checkpoint, last)  # 5. metrics, yardsticks, health
                    self.pace.finished()
                    self.report.planned(self.pace.planned(self.iteration))
                    self.report.finished()  # 6. a line for the person
                    self.stop.check_time()
                    if not self.pace.fits():
                        self.stop.request(TIME_OVER)
                        self.stop.check()
            reason = "done"
        except StoppedError as stopped:
            reason = str(stopped)
        except BrokenPipeError:
            reason = "nobody reads what it says any more"
            raise
        except Exception as error:
            reason = str(error) or type(error).__name__
            raise
        finally:
            self.learner.close()
            self.report.ended(reason)
        return self.report.summary() | {
            "repeatable": self.collector.exact,
            "checkpoint": None if self.newest is None else str(self.newest.directory),
            "worker_deaths": self.collector.deaths,
        }

    @property
    def newest(self) -> Checkpoint | None:
        """None until checkpoint 0 is there."""
        return self.learner.newest

    @property
    def checkpoint(self) -> Checkpoint:
        """The newest."""
        assert self.newest is not None, "not begun"
        return self.newest

    @property
    def iteration(self) -> int:
        """The one under way; as many are finished."""
        return 0 if self.newest is None else self.newest.iteration

    @property
    def earlier(self) -> dict[str, float]:
        """Seconds that the network which the run began with was trained for."""
        origin = self.run_directory.origin
        return {} if origin is None else {EARLIER: origin.seconds}

    def begin(self) -> None:
        """From where an earlier process stopped, or with a network: new, or of somebody else."""
        options = self.run_directory.config
        if self.iteration == 0:
            refuse_half_pretrained(self.run_directory)
        if self.newest is not None:
            self.resume(self.newest)
            return
        self.report.stage("making a network")
        self.learner.begin(options.network, self.run_directory.origin)
        self.collector.choose_runtime(self.learner.trainer.weights())
        first = first_threshold(options.pool, options.selfplay)
        self.write_checkpoint(0, {}, {"resign_threshold": first} | self.earlier)

    def resume(self, checkpoint: Checkpoint) -> None:
        """As the checkpoint has it; what a killed process did not come to measure is measured."""
        run = self.run_directory
        self.learner.resume(checkpoint, run.config.network)
        self.collector.choose_runtime(checkpoint.weights())
        self.report.resumed(checkpoint)
        self.measurer.catch_up(checkpoint)
        self.report.note(f"{run.path}: going on after iteration {checkpoint.iteration}")

    def plan(self) -> None:
        """Schedules run over the iterations that fit into the time, as it looks now."""
        self.pace.begin()
        self.learner.iterations = self.pace.iterations(self.iteration)
        self.report.planned(self.pace.planned(self.iteration))

    def fill_window(self) -> None:
        """The last iterations' samples (T6, T7), equal positions merged (T4)."""
        self.measurer.take_in()
        self.report.stage("window")
        self.learner.window.update(
            self.iteration, lambda done, of: self.report.stage(f"window {done}/{of}")
        )
        self.stop.check()

    def train(self) -> dict[str, Any]:
        """One iteration of the trainer; its metrics."""
        started = time.monotonic()
        new_samples = self.collector.samples(self.iteration)
        metrics = self.learner.train(self.iteration, self.hear_trainer, new_samples=new_samples)
        metrics["wait_seconds"] = time.monotonic() - started - metrics["seconds"]
        return metrics

    def hear_trainer(self, progress: TrainProgress) -> None:
        """After every step: the workers, the view, and whether to stop."""
        self.collector.meanwhile()
        self.measurer.take_in()
        self.report.step(progress)
        self.stop.check()

    def save(self, trained: dict[str, Any]) -> None:
        """Everything that the next iteration depends on, at once."""
        iteration, window = self.iteration, self.learner.window.report()
        threshold, resign = self.collector.resignation(
            int(window["oldest_iteration"] or 0), iteration
        )
        seconds = self.report.seconds
        metrics = {
            "train": trained,
            "selfplay": self.collector.metrics(iteration),
            "window": window,
            "resign": resign,
            "seconds": seconds,
            "memory": self.report.status.memory,
            "worker_deaths": self.collector.deaths,
        }
        extra = {"resign_threshold": threshold, "seconds": seconds} | self.earlier
        self.write_checkpoint(iteration + 1, metrics, extra)
        self.report.saved(iteration + 1, metrics)
        self.collector.change_network(self.checkpoint)

    def wait_to_save(self) -> bool:
        """While the disk is full, which is said once each time; whether to go on waiting."""
        if not self.report.status.waiting_for:
            self.report.note("the disk is full: saving waits until there is room")
        return self.report.waiting_for_space("saving")

    def write_checkpoint(
        self, iteration: int, metrics: dict[str, Any], extra: dict[str, Any]
    ) -> None:
        """With the games under way of a repeatable run."""
        self.report.stage("saving")
        self.run_directory.check_lock()
        if self.run_directory.keep_file():
            self.report.note("the run file had gone and was written again")
        games = self.collector.orders.games_under_way(iteration - 1)
        self.learner.save(iteration, metrics, extra, games)
        self.collector.orders.drop_games()


def run_loop(
    run: Run,
    stop: Stop,
    view: View,
    evaluate: Sequence[Evaluate] = (),
    pool: MakePool = LocalPool,
) -> dict[str, Any]:
    """Works on a run, locked, until it is done or stopped; `pool` makes what plays, anywhere."""
    run.lock()
    try:
        with stop:
            stop.on_signal = lambda: view.note("stopping; again to stop at once")
            return Loop(run, stop, view, evaluate, pool).run()
    finally:
        view.close()
        run.unlock()
