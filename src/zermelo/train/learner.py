"""A run's way from samples to a checkpoint: window, batches, training, saving, a line of metrics.

Self-play's loop and pretraining share it. It does not know where samples come from, what a run's
other options are, or who watches; while the disk is full it waits. Loads torch in `begin` and
`resume` only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from zermelo.errors import UserError
from zermelo.files import patiently
from zermelo.network import architecture_for
from zermelo.replay import BatchSampler, Window
from zermelo.train.metrics import MetricsWriter
from zermelo.train.options import TrainOptions

if TYPE_CHECKING:
    from zermelo.checkpoint import Checkpoint, CheckpointStore
    from zermelo.games.protocol import Game
    from zermelo.network import NetworkOptions
    from zermelo.replay import Batch
    from zermelo.replay.dedup import Merged
    from zermelo.train.origin import Origin
    from zermelo.train.trainer import Trainer, TrainProgress


class Learner:
    """Owns the trainer, and closes the metrics. One thread; `begin` or `resume` before the rest.

    `newest` is the checkpoint to go on from. `seed` is the run's, `iterations` how many the run has
    in all, `search` the changed options that its networks are searched with. While the disk is
    full, `wait` is asked whether to try again.
    """

    def __init__(
        self,
        game: Game,
        window: Window,
        store: CheckpointStore,
        metrics: MetricsWriter,
        options: TrainOptions,
        *,
        newest: Checkpoint | None,
        iterations: int,
        seed: int,
        search: Mapping[str, Any],
        wait: Callable[[], bool],
    ) -> None:
        self.game = game
        self.window = window
        self.store = store
        self.metrics = metrics
        self.options = options
        self.newest = newest  # None until the first is saved
        self.iterations = iterations
        self.seed = seed
        self.search = search
        self._wait = wait
        self._trainer: Trainer | None = None

    @property
    def trainer(self) -> Trainer:
        """The network and its optimiser."""
        assert self._trainer is not None, "neither begun nor resumed"
        return self._trainer

    def begin(self, options: NetworkOptions, origin: Origin | None = None) -> None:
        """With a new network, which knows nothing, or with that of somebody else."""
        from zermelo.network.trained import new_network
        from zermelo.train.trainer import Trainer

        network = (
            origin.network(self.game) if origin else new_network(self.game, options, self.seed)
        )
        self._trainer = Trainer(network, self.options, self.seed)

    def resume(self, checkpoint: Checkpoint, options: NetworkOptions) -> None:
        """As the checkpoint has it; a UserError if the options ask for another network."""
        from zermelo.network.trained import network_of
        from zermelo.train.trainer import Trainer

        there, wanted = checkpoint.manifest.network(), architecture_for(self.game, options)
        if there != wanted:
            raise UserError(
                f"checkpoint {checkpoint.name} has a network of {there.summary()}, "
                f"but the run file and the game ask for {wanted.summary()}"
            )
        self._trainer = Trainer(network_of(wanted), self.options)
        self._trainer.restore(checkpoint.training())

    def train(
        self,
        iteration: int,
        progress: Callable[[TrainProgress], None] | None = None,
        *,
        epochs: int = 1,
        new_samples: int | None = None,
    ) -> dict[str, Any]:
        """One iteration on the window as it is; the trainer's figures.

        Several `epochs` count as one: the learning rate rises and falls once. `new_samples` since
        the last training say how much of the window `reuse` asks for; None is all of it.
        """
        batches = self._batches(self.window.merged(), iteration, self._most(new_samples))
        held_out = self.window.holdout()
        return self.trainer.train_iteration(
            _Epochs(batches, epochs),
            iteration,
            self.iterations,
            progress,
            self._batches(held_out, iteration, symmetries=False) if len(held_out) else None,
        )

    def save(
        self,
        iteration: int,
        metrics: Mapping[str, Any],
        extra: Mapping[str, Any],
        files: Mapping[str, bytes] | None = None,
    ) -> Checkpoint:
        """Everything that the next iteration depends on, as the checkpoint of that number."""
        weights = self.trainer.weights(f"checkpoint {iteration:06d}", self.search)
        state = self.trainer.state()
        self.newest = patiently(
            lambda: self.store.save(
                iteration,
                weights,
                state,
                window=self.window.report(),
                metrics=metrics,
                extra=extra,
                files=files or {},
            ),
            self._wait,
        )
        return self.newest

    def record(self, iteration: int, metrics: Mapping[str, Any]) -> None:
        """A line of metrics."""
        patiently(lambda: self.metrics.write(iteration, metrics), self._wait)

    def close(self) -> None:
        """No more metrics will come."""
        self.metrics.close()

    def _most(self, new_samples: int | None) -> int | None:
        """Batches at most; None is the whole window."""
        if new_samples is None or not self.options.reuse:
            return None
        return max(1, round(self.options.reuse * new_samples / self.options.batch))

    def _batches(
        self, merged: Merged, iteration: int, most: int | None = None, symmetries: bool = True
    ) -> BatchSampler:
        """In an order that the seed and the iteration give (T9)."""
        return BatchSampler(
            merged,
            self.game,
            self.options.batch,
            seed=(self.seed << 20) + iteration,
            symmetries=symmetries and self.window.options.symmetries,
            most=most,
            packed=self.trainer.network.packed,
        )


class _Epochs:
    """Several epochs as one."""

    def __init__(self, batches: BatchSampler, epochs: int) -> None:
        self._batches, self._epochs = batches, epochs

    def __len__(self) -> int:
        return self._epochs * len(self._batches)

    def __iter__(self) -> Iterator[Batch]:
        for _ in range(self._epochs):
            yield from self._batches
