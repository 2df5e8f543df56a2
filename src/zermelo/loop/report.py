"""What a run tells: events come in; a status for the view and status.json, and lines go out.

Owns the status; nobody else writes to it. Does not know who plays, learns or measures, or how a
view shows it. One thread.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from zermelo.config import duration_text
from zermelo.loop import rising
from zermelo.loop.newest_game import NewestGame
from zermelo.runs.status import Status, StatusFile
from zermelo.train.metrics import LATE, read_metrics
from zermelo.yardsticks.measure import headline

if TYPE_CHECKING:
    from zermelo.checkpoint import Checkpoint
    from zermelo.loop.stop import Stop
    from zermelo.loop.view import View
    from zermelo.replay import Damage
    from zermelo.runs.directory import Run
    from zermelo.train import TrainProgress

LOOK_EVERY = 1.0  # seconds
TRAINING = "training"


class Seen(NamedTuple):
    """What a look at those who play finds."""

    workers: int
    mode: str  # whether they play while the trainer trains
    memory: int  # bytes of all processes on this machine
    states: list[str]  # what each worker does
    nodes: list[dict[str, Any]]  # the machines of a cluster
    dashboard: str = ""  # the address of a page about them


Look = Callable[[], Seen]


class Report:
    """Each method is an event, in the order of an iteration."""

    def __init__(self, run: Run, stop: Stop, view: View) -> None:
        config = run.config
        most = config.loop.iterations if stop.seconds_left() is None else 0
        self.status = Status(str(run.path), config.game().name, most)
        self._run = run
        self._stop = stop
        self._view = view
        self._file = StatusFile(run.path)
        self._look: Look = lambda: Seen(0, "", 0, [], [])
        self._looked = 0.0
        self._seconds_before = 0.0  # that earlier processes worked on the run
        self._iteration_began = time.monotonic()
        view.watch(NewestGame(run.replay, config.game()).frame)

    def players(self, look: Look) -> None:
        """Who will play; `look` is asked about them now and then."""
        self.status.workers, self.status.mode = look()[:2]
        self._look = look

    def resumed(self, checkpoint: Checkpoint) -> None:
        """The run goes on from there."""
        self.status.iteration = checkpoint.iteration
        self.status.metrics = dict(checkpoint.manifest.metrics)
        self._seconds_before = float(checkpoint.manifest.extra.get("seconds", 0.0))
        for entry in read_metrics(self._run.metrics):
            rising.add(self.status.rising, entry, entry.get(LATE))

    def stage(self, stage: str, waiting_for: str = "") -> None:
        """What is done now; also said again while it lasts, so that the view stays fresh."""
        self.status.stage, self.status.waiting_for = stage, waiting_for
        if stage != TRAINING:
            self.status.step = self.status.steps = 0
        self._show()

    def waiting_for_space(self, stage: str) -> bool:
        """The same, held up by a full disk; whether to go on waiting."""
        self.stage(stage, f"space on the disk of '{self._run.path}'")
        return not self._stop.asked

    def collecting(self, iteration: int, target: int) -> None:
        """An iteration begins, and waits for so many samples."""
        self.status.iteration, self.status.target = iteration, target
        self._iteration_began = time.monotonic()

    def planned(self, iterations: int) -> None:
        """So many the run will have, as far as can be told; 0 if it cannot."""
        self.status.iterations = iterations

    def shard(self, games: int, samples: int) -> None:
        """A worker has finished one."""
        self.status.total_games += games
        self.status.total_samples += samples

    def collected(self, games: int, samples: int, rates: Mapping[str, float]) -> None:
        """What the iteration has so far; rates per second, none if they are not known yet."""
        self.status.games, self.status.samples = games, samples
        self.status.rates = dict(rates) or self.status.rates

    def moves(self, made: int) -> None:
        """Of the iteration's self-play; unfinished games count, which have no samples yet."""
        self.status.moves = made

    def step(self, progress: TrainProgress) -> None:
        """Of training."""
        self.status.step, self.status.steps = progress.step, progress.steps
        self.status.loss = progress.loss
        self.stage(TRAINING)

    def saved(self, iteration: int, metrics: Mapping[str, Any]) -> None:
        """The checkpoint of that iteration is there; the next has no samples yet."""
        self.status.iteration, self.status.metrics = iteration, dict(metrics)
        self.status.games = self.status.samples = self.status.moves = 0
        rising.add(self.status.rising, metrics, None)

    def measured(self, iteration: int, figures: Mapping[str, Any], late: bool) -> None:
        """Yardsticks of that checkpoint; late ones have missed its iteration's line."""
        if iteration == self.status.iteration:
            self.status.metrics = self.status.metrics | {"evaluate": dict(figures)}
        rising.add(self.status.rising, {}, figures)
        if late:
            self.note(f"iteration {iteration} measured: {headline(figures)}")

    def examined(self, health: str) -> None:
        """What the quick checks say."""
        self.status.health = health

    def finished(self) -> None:
        """The iteration is done."""
        self.status.iteration_seconds.append(time.monotonic() - self._iteration_began)
        self._view.finished(self.status)

    def damaged(self, damage: Damage) -> None:
        """A shard cannot be used; training goes on without it."""
        self.note(str(damage))

    def note(self, text: str) -> None:
        """A sentence for the person and the log."""
        self._run.log(text)
        self._view.note(text)

    def ended(self, reason: str) -> None:
        """Nothing more will come."""
        self._run.log(f"stopped after iteration {self.status.iteration}: {reason}; {self.hours}")
        self.status.ended, self.status.states = reason, []
        self._file.write(self.status, at_once=True)

    @property
    def seconds(self) -> float:
        """That processes worked on the run, this one and those before."""
        return self._seconds_before + self.status.elapsed

    @property
    def hours(self) -> str:
        """The same in words, with the time of the networks that the run began with."""
        origin = self._run.origin
        earlier = origin.seconds if origin else 0.0
        in_all = f", {duration_text(earlier + self.seconds)} with the networks before it"
        return f"{duration_text(self.seconds)} in this run{in_all if earlier else ''}"

    def summary(self) -> dict[str, Any]:
        """What was reached when the run stopped, for programs."""
        status = self.status
        return {
            "run": status.run,
            "game": status.game,
            "stopped": status.ended,
            "iteration": status.iteration,
            "iterations": self._run.config.loop.iterations,
            "workers": status.workers,
            "mode": status.mode,
            "seconds": round(status.elapsed, 3),
            "games": status.total_games,
            "samples": status.total_samples,
            "metrics": status.metrics,
        }

    def _show(self) -> None:
        self.status.seconds_limit = self._stop.seconds_left()
        if time.monotonic() - self._looked >= LOOK_EVERY:
            self._looked = time.monotonic()
            seen = self._look()
            self.status.workers, self.status.mode = seen.workers, seen.mode
            self.status.memory = seen.memory
            self.status.states, self.status.nodes = seen.states, seen.nodes
            self.status.dashboard = seen.dashboard
        self._view.update(self.status)
        self._file.write(self.status)
