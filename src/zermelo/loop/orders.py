"""What self-play is told to play in an iteration: how much, how deep, with which network.

Also where a repeatable run keeps its games between a worker and the next checkpoint. Knows no pool
and waits for nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from zermelo.selfplay.network_reference import LocalNetwork
from zermelo.selfplay.order import Order
from zermelo.selfplay.progressive import simulations_at
from zermelo.selfplay.resign import calibrate, first_threshold

if TYPE_CHECKING:
    from zermelo.checkpoint import Checkpoint
    from zermelo.config import RunConfig
    from zermelo.config.options import LoopOptions
    from zermelo.replay import ReplayStore
    from zermelo.runs.directory import Run

AHEAD = 2  # times its share that a worker elsewhere plays while the trainer is not ready for it
GAMES_FILE = "selfplay.bin"  # in a checkpoint: the games under way of a repeatable run


class Orders:
    """Of a run, by its options as they are now.

    `exact`: one worker plays its quota, neither more nor less, and saves its games.
    """

    def __init__(
        self, run: Run, workers: Callable[[], int], exact: bool, planned: Callable[[int], int]
    ) -> None:
        self._run = run
        self._workers = workers
        self._exact = exact
        self._planned = planned  # iterations of the run, after so many

    def order(
        self, checkpoint: Checkpoint, iteration: int, target: int, ahead: bool = False
    ) -> Order:
        """What to play in an iteration of `target` samples, with the checkpoint's network.

        `ahead` of training on the one before, machines that only play rest after AHEAD shares.
        """
        options = self._run.config
        games_from = ""
        if self._exact and GAMES_FILE in checkpoint.manifest.files:
            games_from = str(checkpoint.directory / GAMES_FILE)
        share = -(-target // self._workers())
        return Order(
            iteration=iteration,
            network=LocalNetwork.of(checkpoint),
            network_iteration=checkpoint.iteration,
            simulations=simulations_at(
                iteration,
                self._planned(iteration),
                int(options.selfplay.simulations),
                options.pool.progressive_fraction,
            ),
            resign_threshold=threshold_of(options, checkpoint),
            share=share,
            quota=target if self._exact else AHEAD * share if ahead else 0,
            games_from=games_from,
            games_to=str(self.games_file(iteration)) if self._exact else "",
        )

    def target(self, checkpoint: Checkpoint) -> int:
        """Samples that the iteration waits for which begins with the checkpoint."""
        if checkpoint.iteration == 0 and self._run.origin is not None:
            return samples_to_fill(self._run.config)
        before = checkpoint.manifest.metrics.get("selfplay", {}).get("samples", 0)
        if checkpoint.iteration == 1 and self._run.origin is not None:
            before = 0  # that was a whole window
        return samples_wanted(self._run.config.loop, checkpoint.iteration, before)

    # ---- the games under way of a repeatable run ------------------------------------------------

    def games_file(self, iteration: int) -> Path:
        """Where the worker leaves its games for the checkpoint."""
        return self._run.selfplay / f"it{iteration:06d}.games"

    def games_under_way(self, iteration: int) -> dict[str, bytes]:
        """Files for the checkpoint that the iteration makes."""
        games = self.games_file(iteration)
        return {GAMES_FILE: games.read_bytes()} if self._exact and games.exists() else {}

    def drop_games(self) -> None:
        """A checkpoint has them now."""
        for path in self._run.selfplay.glob("*.games"):
            path.unlink(missing_ok=True)


def samples_wanted(options: LoopOptions, iteration: int, before: int) -> int:
    """T8: a fixed number, or a share of the `before` that the iteration before had, if less."""
    wanted = int(options.samples_per_iteration)
    share = options.samples_share
    if share > 0 and iteration and before:
        least = int(share * wanted) if share < 1 else 0  # else each would be less than the last
        wanted = min(wanted, max(1, least, int(share * before)))
    return wanted


def samples_to_fill(options: RunConfig) -> int:
    """Of the first window of a run that begins with another's network.

    A network that knows something would forget more than it learns from a few games.
    """
    wanted = options.replay.window_start * options.loop.samples_per_iteration
    return max(1, min(int(wanted), options.replay.max_samples))


# ---- resignation (P2) --------------------------------------------------------------------------


def threshold_of(options: RunConfig, checkpoint: Checkpoint) -> float:
    """As the checkpoint has it, or as it is set now."""
    first = first_threshold(options.pool, options.selfplay)
    if not options.pool.resign_calibrated:
        return first
    return float(checkpoint.manifest.extra.get("resign_threshold", first))


def resignation(
    options: RunConfig, replay: ReplayStore, oldest: int, newest: int
) -> tuple[float, dict[str, float]]:
    """The threshold after these iterations, and what their games say about it."""
    found = calibrate(
        (
            shard.header.statistics
            for shard in replay.shards()
            if oldest <= shard.header.iteration <= newest
        ),
        options.pool,
    )
    first = first_threshold(options.pool, options.selfplay)
    threshold = found.threshold if options.pool.resign_calibrated else first
    return threshold, found.metrics()
