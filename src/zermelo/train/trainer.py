"""One iteration of training: batches go through the network, the optimiser follows the loss."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import torch
from torch import Tensor

from zermelo.checkpoint import TrainingState
from zermelo.errors import UserError
from zermelo.network.trained import EXTRA, TrainedNetwork
from zermelo.network.weights import Weights
from zermelo.replay.futures import HORIZONS
from zermelo.train.arithmetic import autocast, choose_device, choose_precision, fixed_arithmetic
from zermelo.train.loader import NUMBERS, BatchLoader, TensorBatch
from zermelo.train.losses import Losses, batch_losses
from zermelo.train.norms import LayerNorms
from zermelo.train.optimiser import NetworkOptimiser, as_array, copy_into
from zermelo.train.options import TrainOptions
from zermelo.train.schedule import highest_rate_at, learning_rate_at
from zermelo.train.tally import Tally
from zermelo.train.targets import value_blend_at

if TYPE_CHECKING:
    from zermelo.replay import Batch

NETWORK, OPTIMISER, GENERATOR = "network.", "optimiser.", "torch_generator"


class DivergedError(UserError):
    """The loss or its gradient is no longer a number."""


class Batches(Protocol):
    """An epoch that can be counted; each time it is iterated it gives one pass."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Batch]: ...


class TrainProgress(NamedTuple):
    """Where an iteration's training stands."""

    step: int  # done
    steps: int  # of the iteration
    loss: float  # of the last step
    samples: int  # of the iteration, done
    seconds: float


class Trainer:
    """Owns a network and its optimiser. Not for several threads at once.

    After `restore(state())` in another process it goes on bit for bit, with the same number of
    threads and the same batches.
    """

    def __init__(
        self, network: TrainedNetwork, options: TrainOptions | None = None, seed: int | None = None
    ) -> None:
        """`seed` sets torch's generator, which is a part of `state()`."""
        if seed is not None:
            torch.manual_seed(seed)
        if network.architecture.value != "wdl":
            raise UserError("only networks whose value is win, draw and loss can be trained")
        self.options = options or TrainOptions()
        self.device = choose_device(self.options)
        self.precision = choose_precision(self.options, self.device)
        # Convolutions are a little faster with channels last; the numbers are the same ones.
        if self.options.extra_heads:  # T15
            network.extra = network.training_heads(len(HORIZONS))
        self.network = network.to(self.device)
        self.network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.optimiser = NetworkOptimiser(self.network, self.options)
        self.iterations = 0  # finished
        self.steps = 0  # of the optimiser, in all iterations
        self.samples = 0  # trained on, in all iterations

    def weights(self, name: str = "network", search: Mapping[str, Any] | None = None) -> Weights:
        """The network for playing; `search` is how it will be searched, as its files keep it."""
        return self.network.weights(name, search)

    # ---- training -------------------------------------------------------------------------------

    def train_iteration(
        self,
        batches: Batches,
        iteration: int,
        total_iterations: int,
        progress: Callable[[TrainProgress], None] | None = None,
        held_out: Iterable[Batch] | None = None,
    ) -> dict[str, Any]:
        """Trains `passes` times over `batches`; iterations count from 0.

        Returns plain numbers: those of the steps, "training" (as the network was at each step) and
        "held_out" (afterwards; None without such batches). `progress` is called after every step;
        what it raises ends the iteration.
        """
        blend = value_blend_at(iteration, total_iterations, self.options)
        highest = highest_rate_at(iteration, total_iterations, self.options)
        steps = len(batches) * self.options.passes
        tally, norms, step = Tally(), _Norms(self.options.gradient_clip), 0
        layers = LayerNorms(self.network) if self.options.layer_norms else None
        started = time.perf_counter()
        self.network.train()
        with (
            fixed_arithmetic(self.options.threads),
            BatchLoader(
                _passes(batches, self.options.passes), self.network.prepare, self.device
            ) as loader,
        ):
            for batch in loader:
                rate = learning_rate_at(step, steps, highest, self.options)
                losses = self._step(
                    batch, blend, rate, norms, f"iteration {iteration}, step {step}"
                )
                tally.add(batch, losses)
                step += 1
                if progress is not None:
                    seconds = time.perf_counter() - started
                    loss = losses.total.item()
                    progress(TrainProgress(step, max(steps, step), loss, tally.samples, seconds))
        seconds = time.perf_counter() - started
        if not step:
            raise UserError(f"iteration {iteration}: there is no sample to train on")
        self.iterations = iteration + 1
        self.steps += step
        self.samples += tally.samples
        return {
            "steps": step,
            "total_steps": self.steps,
            "total_samples": self.samples,
            "seconds": seconds,
            "samples_per_second": tally.samples / seconds,
            "learning_rate": highest,
            "learning_rate_last": rate,
            "value_blend": blend,
            "precision": self.precision,
            **norms.metrics(),
            **({} if layers is None else layers.metrics()),
            "training": tally.metrics(),
            "held_out": None if held_out is None else self.evaluate(held_out, blend),
        }

    def _step(
        self, batch: TensorBatch, blend: float, rate: float, norms: _Norms, place: str
    ) -> Losses:
        losses = self._losses(batch, blend)
        loss = losses.total.item()
        if not math.isfinite(loss):
            raise DivergedError(f"{place}: the loss is {loss}; {_why(batch, rate)}")
        self.optimiser.zero_grad()
        losses.total.backward()  # type: ignore[no-untyped-call]
        norm = norms.clip(self.network.parameters())
        if not math.isfinite(norm):
            raise DivergedError(f"{place}: the gradient is {norm}; {_why(batch, rate)}")
        self.optimiser.step(rate)
        return losses

    def _losses(self, batch: TensorBatch, blend: float) -> Losses:
        network = self.network
        with autocast(self.precision, self.device):
            body = network.body(batch.inputs)
            heads = network.heads(body, batch.inputs, batch.actions)
            extra = None
            if network.extra is not None:
                replies = batch.futures.reply_actions if batch.futures else batch.actions[:, :1]
                extra = network.extra(body, batch.actions, replies)
        return batch_losses(heads, batch, blend, self.options, extra)

    @torch.no_grad()
    def evaluate(self, batches: Iterable[Batch], blend: float = 0.0) -> dict[str, Any]:
        """The metrics of batches that the network does not learn from, as it plays."""
        tally = Tally()
        self.network.eval()
        try:
            with (
                fixed_arithmetic(self.options.threads),
                BatchLoader(batches, self.network.prepare, self.device) as loader,
            ):
                for batch in loader:
                    tally.add(batch, self._losses(batch, blend))
        finally:
            self.network.train()
        return tally.metrics()

    # ---- stopping and going on ------------------------------------------------------------------

    def state(self) -> TrainingState:
        """A copy of everything that the next iteration depends on, apart from the batches."""
        arrays = {NETWORK + k: as_array(v) for k, v in self.network.state_dict().items()}
        for name, array in self.optimiser.arrays().items():
            arrays[OPTIMISER + name] = array
        arrays[GENERATOR] = as_array(torch.random.get_rng_state())
        numbers = {"iterations": self.iterations, "steps": self.steps, "samples": self.samples}
        return TrainingState(arrays, numbers)

    def restore(self, state: TrainingState) -> None:
        """Becomes what `state()` was taken of; a UserError if the network is another one."""
        arrays = state.arrays
        current = self.network.state_dict()
        for name, tensor in current.items():
            if name.startswith(EXTRA) and NETWORK + name not in arrays:
                continue  # T15: the run did not have these heads before; they begin anew
            copy_into(tensor, arrays, NETWORK + name)
        moments = {
            name.removeprefix(OPTIMISER): array
            for name, array in arrays.items()
            if name.startswith(OPTIMISER)
        }
        self.optimiser.restore(moments)
        generator = torch.empty_like(torch.random.get_rng_state())
        copy_into(generator, arrays, GENERATOR)
        torch.random.set_rng_state(generator)
        self.iterations, self.steps, self.samples = (
            int(state.numbers[name]) for name in ("iterations", "steps", "samples")
        )


class _Norms:
    """Lengths of the gradients of an iteration's steps, and the clipping of long ones."""

    def __init__(self, limit: float) -> None:
        self._limit = limit or math.inf
        self._lengths: list[float] = []

    def clip(self, parameters: Iterable[Tensor]) -> float:
        """Shortens the gradient if need be; its length before."""
        length = float(torch.nn.utils.clip_grad_norm_(parameters, self._limit))
        self._lengths.append(length)
        return length

    def metrics(self) -> dict[str, float]:
        """Over the iteration's steps."""
        clipped = sum(length > self._limit for length in self._lengths)
        return {
            "gradient_norm": sum(self._lengths) / len(self._lengths),
            "gradient_norm_max": max(self._lengths),
            "clipped_share": clipped / len(self._lengths),
        }


def _passes(batches: Iterable[Batch], passes: int) -> Iterator[Batch]:
    for _ in range(passes):
        yield from batches


def _why(batch: TensorBatch, rate: float) -> str:
    """The likely reason, and what becomes of the run."""
    named = [("planes", tensor) for tensor in batch.inputs]
    named += [(name, getattr(batch, name)) for name in ("actions", *NUMBERS)]
    broken = [name for name, tensor in named if not tensor.isfinite().all()]
    if broken:
        return f"the samples' {broken[0]} are not all finite; the last checkpoint is kept"
    return f"learning_rate is perhaps too high ({rate:g} here); the last checkpoint is kept"
