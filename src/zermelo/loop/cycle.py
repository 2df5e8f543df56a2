"""The whole cycle: play, look back, train, save, measure, and again.

Iteration i plays with checkpoint i and makes checkpoint i + 1; checkpoint 0 knows nothing. Stages
meet in the run's directory only, and each of their files is there whole or not at all, so the run
may be killed anywhere: it goes on from its newest checkpoint and the shards that are there.

With one worker and stages that take turns a run is *repeatable*: the games under way are part of
the checkpoint, and an unfinished iteration is played again and comes out the same, bit for bit.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zermelo.checkpoint import Checkpoint, CheckpointStore
from zermelo.cores import available_cores
from zermelo.doctor.diagnose import diagnose, ill, one_line
from zermelo.errors import UserError
from zermelo.files import TEMPORARY, patiently
from zermelo.loop.shards import leaves_runtime_open, measured_runtime, spec_for
from zermelo.loop.stop import Stop, StoppedError
from zermelo.loop.tally import SelfPlayTally
from zermelo.loop.view import View
from zermelo.loop.workers import WorkerPool
from zermelo.network import Weights, architecture_for
from zermelo.network.own_search import changed_options
from zermelo.replay import BatchSampler, Damage, ReplayStore, Window
from zermelo.runs.directory import Run
from zermelo.runs.status import Status, memory_of
from zermelo.selfplay.network_reference import LocalNetwork
from zermelo.selfplay.order import Order, Spec
from zermelo.selfplay.progressive import simulations_at
from zermelo.selfplay.resign import calibrate, first_threshold
from zermelo.selfplay.worker import NO_SPACE
from zermelo.train import MetricsWriter, read_metrics
from zermelo.yardsticks.ladder import FOLDER, needed_checkpoints

if TYPE_CHECKING:
    from zermelo.config import RunConfig
    from zermelo.train import Trainer, TrainProgress

GAMES_FILE = "selfplay.bin"  # in a checkpoint: the games under way of a repeatable run
MEMORY_EVERY = 1.0  # seconds

# Figures of a checkpoint by name; `notes`, if there are any, are sentences for the person and log.
Evaluate = Callable[[Checkpoint, Run], dict[str, Any]]


class Loop:
    """One process's work on a locked run."""

    def __init__(self, run: Run, stop: Stop, view: View, evaluate: Sequence[Evaluate] = ()) -> None:
        self.run_directory = run
        self.stop = stop
        self.view = view
        self.evaluate = evaluate
        self.game = run.config.game()
        self.trainer: Trainer
        self.checkpoint: Checkpoint | None = None
        self.seconds_before = 0.0  # that earlier processes worked on the run
        self._memory_read = 0.0
        self._first_ill = ""  # check that was ill at the last look

    # ---- the cycle ------------------------------------------------------------------------------

    def run(self) -> dict[str, Any]:
        """Until all iterations are done or somebody stops it; returns a summary."""
        reason = "done"
        self.open_stores()
        try:
            self.begin()
            with self.pool:
                self.stop.on_kill = self.pool.kill
                while self.iteration < self.config.loop.iterations:
                    started = time.monotonic()
                    self.collect()  # 1. wait for new samples
                    self.fill_window()  # 2. the samples of the last iterations
                    metrics = self.train()  # 3. one pass over them
                    self.save(metrics)  # 4. checkpoint, with the new resignation threshold
                    self.measure()  # 5. yardsticks and metrics
                    self.status.iteration_seconds.append(time.monotonic() - started)
                    self.view.finished(self.status)
                    self.stop.check_time()
        except StoppedError as stopped:
            reason = str(stopped)
        finally:
            self.metrics.close()
        self.run_directory.log(f"stopped after iteration {self.iteration}: {reason}")
        return self.summary(reason)

    @property
    def config(self) -> RunConfig:
        """The run's options."""
        return self.run_directory.config

    @property
    def iteration(self) -> int:
        """The one under way; as many are finished."""
        return 0 if self.checkpoint is None else self.checkpoint.iteration

    # ---- 0. from nothing or from where an earlier process stopped -----------------------------

    def open_stores(self) -> None:
        """Files of the run; what a killed process left half done is removed."""
        run, options = self.run_directory, self.config
        self.workers = options.workers.workers or available_cores()
        self.mode = "alternate" if options.loop.mode == "auto" else options.loop.mode
        self.exact = self.workers == 1 and self.mode == "alternate" and options.search.threads == 1
        self.status = Status(
            str(run.path), self.game.name, options.loop.iterations, self.workers, self.mode
        )
        self.replay = ReplayStore(run.replay, self.game, self.hear_damage)
        self.replay.remove_temporary()
        remove_temporary(run.path, run.selfplay, run.metrics)
        self.store = CheckpointStore(
            run.checkpoints,
            options.loop.keep_checkpoints,
            options.loop.keep_every,
            report=self.note,
            needed=lambda: needed_checkpoints(run.path / FOLDER, self.config.evaluate),
        )
        self.window = Window(self.replay, options.replay)
        self.tally = SelfPlayTally(self.workers)
        self.checkpoint = self.store.newest()
        self.metrics = MetricsWriter(run.metrics, self.iteration, report=self.run_directory.log)
        self.pool = self.make_pool()

    def begin(self) -> None:
        """The trainer as the newest checkpoint has it; a new one makes checkpoint 0."""
        from zermelo.network.resnet import ResidualNetwork, new_network
        from zermelo.pretrain.pretrain import refuse_half_pretrained
        from zermelo.train import Trainer

        options = self.config
        if self.iteration == 0:
            refuse_half_pretrained(self.run_directory)
        architecture = architecture_for(self.game, options.network)
        if self.checkpoint is None:
            self.update("making a network")
            network = new_network(self.game, options.network, options.loop.seed)
            self.trainer = Trainer(network, options.train, options.loop.seed)
            self.choose_runtime(self.trainer.weights())
            self.write_checkpoint(0, {}, {"resign_threshold": self.first_threshold()})
            return
        if self.checkpoint.manifest.network() != architecture:
            raise UserError(
                f"checkpoint {self.checkpoint.name} has a network of "
                f"{self.checkpoint.manifest.network().summary()}, but the run file and the game "
                f"ask for {architecture.summary()}"
            )
        self.trainer = Trainer(ResidualNetwork(architecture), options.train)
        self.trainer.restore(self.checkpoint.training())
        self.choose_runtime(self.checkpoint.weights())
        self.seconds_before = float(self.checkpoint.manifest.extra.get("seconds", 0.0))
        self.status.metrics = dict(self.checkpoint.manifest.metrics)
        known = [entry["iteration"] for entry in read_metrics(self.run_directory.metrics)]
        if self.iteration and self.iteration not in known:  # killed between checkpoint and line
            self.measure()
        else:
            self.examine()
        self.note(f"{self.run_directory.path}: going on after iteration {self.iteration}")

    def choose_runtime(self, weights: Weights) -> None:
        """What `auto` means here is measured once and written into the run file."""
        if leaves_runtime_open(self.config):
            self.update("measuring runtimes")
            self.run_directory.change(measured_runtime(self.config, weights, self.note))

    def make_pool(self) -> WorkerPool:
        """The self-play processes, not started yet."""
        return WorkerPool(
            self.workers,
            self.spec,
            self.run_directory.replay,
            self.run_directory.lock_descriptor,
            self.run_directory.log_file,
            on_shard=self.hear_shard,
            report=self.note,
        )

    def spec(self, number: int) -> Spec:
        """What a worker is told at its start."""
        # A worker that was killed must not play its games again, unless that is the point.
        seed = self.config.loop.seed if self.exact else secrets.randbits(52)
        return spec_for(self.config, number, seed, self.exact)

    # ---- 1. new samples -------------------------------------------------------------------------

    def collect(self) -> None:
        """Waits until the iteration has its samples (T8)."""
        iteration = self.iteration
        self.tally.drop_before(iteration)
        for shard in self.replay.shards():  # of a process before this one, or made while training
            if shard.header.iteration == iteration:
                self.tally.add_shard(iteration, shard.path.name, shard.header.statistics)
        target = self.samples_wanted(iteration)
        self.status.target = target
        self.status.iteration = iteration
        if self.exact:
            self.collect_exactly(iteration, target)
            return
        if self.tally.count(iteration) < target or self.mode == "together":
            self.pool.play(self.order(iteration, target))
        while self.tally.count(iteration) < target:
            self.wait_for_workers(iteration, target)
        if self.mode == "alternate":
            self.update("waiting for workers to pause")
            self.pool.pause(self.stop.check)
        else:  # what is played while the trainer runs belongs to the next iteration
            self.pool.play(self.order(iteration + 1, target))

    def collect_exactly(self, iteration: int, target: int) -> None:
        """The same with one worker that stops by itself and saves its games."""
        games = self.games_file(iteration)
        if games.exists() and self.tally.count(iteration) >= target:
            return  # only the training was interrupted
        games.unlink(missing_ok=True)
        self.tally.forget(iteration)
        self.pool.play(self.order(iteration, target))
        while not self.pool.done:
            self.wait_for_workers(iteration, target)

    def samples_wanted(self, iteration: int) -> int:
        """T8: a fixed number, or a share of the iteration before if that is less."""
        options = self.config.loop
        wanted = int(options.samples_per_iteration)
        before = self.status.metrics.get("selfplay", {}).get("samples", 0)
        share = options.samples_share
        if share > 0 and iteration and before:
            least = int(share * wanted) if share < 1 else 0  # else each would be less than the last
            wanted = min(wanted, max(1, least, int(share * before)))
        return wanted

    def order(self, iteration: int, target: int) -> Order:
        """What to play in an iteration, with the newest network."""
        assert self.checkpoint is not None
        options = self.config
        games_from = ""
        if self.exact and GAMES_FILE in self.checkpoint.manifest.files:
            games_from = str(self.checkpoint.directory / GAMES_FILE)
        return Order(
            iteration=iteration,
            network=LocalNetwork.of(self.checkpoint),
            network_iteration=self.checkpoint.iteration,
            simulations=simulations_at(
                iteration,
                options.loop.iterations,
                int(options.selfplay.simulations),
                options.workers.progressive_fraction,
            ),
            resign_threshold=self.threshold(),
            share=-(-target // self.workers),
            quota=target if self.exact else 0,
            games_from=games_from,
            games_to=str(self.games_file(iteration)) if self.exact else "",
        )

    def games_file(self, iteration: int) -> Path:
        """Where the worker of a repeatable run leaves its games for the checkpoint."""
        return self.run_directory.selfplay / f"it{iteration:06d}.games"

    def wait_for_workers(self, iteration: int, target: int) -> None:
        """A moment of listening; the view says what is waited for."""
        self.pool.listen(0.1)
        missing = max(0, target - self.tally.count(iteration))
        self.status.waiting_for = f"{missing:,} of {target:,} samples"
        if NO_SPACE in self.pool.states:
            self.status.waiting_for = f"space on the disk of '{self.run_directory.path}'"
        self.update("self-play")
        self.stop.check_time()

    def hear_shard(self, message: dict[str, Any]) -> None:
        """A worker has finished a shard."""
        self.tally.add(message)
        self.status.total_games += int(message.get("games", 0))
        self.status.total_samples += int(message.get("samples", 0))

    # ---- 2. the window --------------------------------------------------------------------------

    def fill_window(self) -> None:
        """The last iterations' samples (T6, T7), equal positions merged (T4)."""
        self.update("window")
        self.window.update(self.iteration, lambda done, of: self.update(f"window {done}/{of}"))
        self.stop.check()

    # ---- 3. training ----------------------------------------------------------------------------

    def train(self) -> dict[str, Any]:
        """One iteration of the trainer; its metrics."""
        options, iteration = self.config, self.iteration
        started = time.monotonic()
        batches = self.sampler(self.window.merged(), iteration, most=self.most_batches())
        held_out = self.window.holdout()
        metrics = self.trainer.train_iteration(
            batches,
            iteration,
            options.loop.iterations,
            self.hear_trainer,
            self.sampler(held_out, iteration, symmetries=False) if len(held_out) else None,
        )
        self.status.step = self.status.steps = 0
        metrics["wait_seconds"] = time.monotonic() - started - metrics["seconds"]
        return dict(metrics)

    def most_batches(self) -> int | None:
        """As many as `train.reuse` asks for; None is the whole window."""
        options = self.config.train
        if not options.reuse:
            return None
        return max(1, round(options.reuse * self.tally.count(self.iteration) / options.batch))

    def sampler(
        self, merged: Any, iteration: int, symmetries: bool = True, most: int | None = None
    ) -> BatchSampler:
        """Batches in an order that the seed and the iteration give (T9)."""
        options = self.config
        return BatchSampler(
            merged,
            self.game,
            options.train.batch,
            seed=(options.loop.seed << 20) + iteration,
            symmetries=symmetries and options.replay.symmetries,
            most=most,
        )

    def hear_trainer(self, progress: TrainProgress) -> None:
        """After every step: the view, the workers, and whether to stop."""
        self.status.step, self.status.steps = progress.step, progress.steps
        self.status.loss = progress.loss
        if self.mode == "together":
            self.pool.listen(0.0)
        self.update("training")
        self.stop.check()

    # ---- 4. the checkpoint ----------------------------------------------------------------------

    def save(self, trained: dict[str, Any]) -> None:
        """Everything that the next iteration depends on, at once."""
        iteration, oldest = self.iteration, self.oldest_iteration()
        calibration = calibrate(
            (
                shard.header.statistics
                for shard in self.replay.shards()
                if oldest <= shard.header.iteration <= iteration
            ),
            self.config.workers,
        )
        threshold = self.first_threshold()
        if self.config.workers.resign_calibrated:
            threshold = calibration.threshold
        seconds = self.seconds_before + self.status.elapsed
        metrics = {
            "train": trained,
            "selfplay": self.tally.metrics(iteration),
            "window": self.window.report(),
            "resign": calibration.metrics(),
            "seconds": seconds,
            "memory": self.status.memory,
            "worker_deaths": self.pool.deaths,
        }
        self.write_checkpoint(
            iteration + 1, metrics, {"resign_threshold": threshold, "seconds": seconds}
        )
        self.status.iteration = iteration + 1
        self.status.metrics = metrics
        if self.mode == "together":  # P7: the new network at once, without stopping
            self.pool.play(self.order(iteration + 1, self.samples_wanted(iteration + 1)))

    def write_checkpoint(
        self, iteration: int, metrics: dict[str, Any], extra: dict[str, Any]
    ) -> None:
        """Saves the trainer's state as the checkpoint of that iteration; waits for a full disk."""
        self.update("saving")
        files = {}
        games = self.games_file(iteration - 1)
        if self.exact and iteration and games.exists():
            files[GAMES_FILE] = games.read_bytes()
        search = changed_options(self.config.search)
        weights = self.trainer.weights(f"checkpoint {iteration:06d}", search)
        state = self.trainer.state()

        def write() -> Checkpoint:
            return self.store.save(
                iteration,
                weights,
                state,
                window=self.window.report(),
                metrics=metrics,
                extra=extra,
                files=files,
            )

        self.checkpoint = patiently(write, self.wait_for_space)
        for path in self.run_directory.selfplay.glob("*.games"):
            path.unlink(missing_ok=True)

    def wait_for_space(self) -> bool:
        """Whether to try again to write; the view says what is waited for."""
        self.status.waiting_for = f"space on the disk of '{self.run_directory.path}'"
        self.update("saving")
        return not self.stop.asked

    def oldest_iteration(self) -> int:
        """Of the window."""
        return int(self.window.report()["oldest_iteration"] or 0)

    def threshold(self) -> float:
        """Of resignation: as the newest checkpoint has it, or as it is set now."""
        assert self.checkpoint is not None
        first = self.first_threshold()
        if not self.config.workers.resign_calibrated:
            return first
        return float(self.checkpoint.manifest.extra.get("resign_threshold", first))

    def first_threshold(self) -> float:
        """Of resignation, while nothing is known."""
        return first_threshold(self.config.workers, self.config.selfplay)

    # ---- 5. measuring ---------------------------------------------------------------------------

    def measure(self) -> None:
        """Yardsticks for the new checkpoint, and the iteration's line of metrics."""
        assert self.checkpoint is not None
        metrics = dict(self.checkpoint.manifest.metrics)
        every = self.config.evaluate.every
        if self.evaluate and every and self.iteration % every == 0:
            self.update("evaluating")
            found: dict[str, Any] = {}
            for yardstick in self.evaluate:
                found |= yardstick(self.checkpoint, self.run_directory)
                for sentence in found.pop("notes", ()):
                    self.note(sentence)
            metrics["evaluate"] = found
        patiently(lambda: self.metrics.write(self.iteration, metrics), self.wait_for_space)
        self.status.metrics = metrics
        self.examine()

    def examine(self) -> None:
        """The health in the view, and a note when another check than before is the first ill one.

        The quick checks read the run file anew, which a person may have edited: what stops them
        does not stop the run.
        """
        first = ""
        try:
            found = diagnose(self.run_directory.path, deep=False)
            self.status.health = one_line(found)
            first = next((finding.check for finding in ill(found)), "")
        except UserError as error:
            self.status.health = f"unknown: {error}"
        except Exception as error:
            self.status.health = f"unknown: {type(error).__name__}: {error}"
        if first and first != self._first_ill:
            self.note(f"health: {self.status.health}; zermelo doctor {self.run_directory.path}")
        self._first_ill = first

    # ---- telling --------------------------------------------------------------------------------

    def update(self, stage: str) -> None:
        """The view's turn."""
        status = self.status
        status.stage = stage
        if not stage.startswith(("self-play", "saving")):
            status.waiting_for = ""
        iteration = self.iteration
        status.games = self.tally.count(iteration, "games")
        status.samples = self.tally.count(iteration)
        status.rates = self.tally.rates(iteration) or status.rates
        status.seconds_limit = self.stop.seconds_left()
        if time.monotonic() - self._memory_read >= MEMORY_EVERY:
            self._memory_read = time.monotonic()
            status.memory = memory_of([os.getpid(), *self.pool.pids])
        self.view.update(status)

    def note(self, text: str) -> None:
        """A sentence for the person and the log."""
        self.run_directory.log(text)
        self.view.note(text)

    def hear_damage(self, damage: Damage) -> None:
        """A shard cannot be used; training goes on without it."""
        self.note(str(damage))

    def summary(self, reason: str) -> dict[str, Any]:
        """What was reached, for `--json`."""
        return {
            "run": str(self.run_directory.path),
            "game": self.game.name,
            "stopped": reason,
            "iteration": self.iteration,
            "iterations": self.config.loop.iterations,
            "workers": self.workers,
            "mode": self.mode,
            "repeatable": self.exact,
            "checkpoint": None if self.checkpoint is None else str(self.checkpoint.directory),
            "seconds": round(self.status.elapsed, 3),
            "games": self.status.total_games,
            "samples": self.status.total_samples,
            "worker_deaths": self.pool.deaths,
            "metrics": self.status.metrics,
        }


def remove_temporary(*directories: Path) -> None:
    """Files that a killed process was writing; the run is locked, so nobody is."""
    for directory in directories:
        for path in directory.glob(f".*{TEMPORARY}"):
            path.unlink(missing_ok=True)


def run_loop(run: Run, stop: Stop, view: View, evaluate: Sequence[Evaluate] = ()) -> dict[str, Any]:
    """Works on a run until it is done or stopped; the lock is taken and given back."""
    run.lock()
    try:
        with stop:
            stop.on_signal = lambda: view.note("stopping; again to stop at once")
            return Loop(run, stop, view, evaluate).run()
    finally:
        view.close()
        run.unlock()
