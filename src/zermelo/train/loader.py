"""Batches as tensors, prepared beside the optimiser by one thread, always in the source's order."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from zermelo.network.trained import planes_last

if TYPE_CHECKING:
    from zermelo.replay import Batch

DEPTH = 3  # batches ready at most; each holds its planes as floats
JOIN_SECONDS = 10.0

Prepare = Callable[[NDArray[Any]], tuple[Tensor, ...]]  # a network's inputs of observations


class FutureTensors(NamedTuple):
    """The replay's `FutureBatch` on the device (T15)."""

    reply_actions: Tensor  # i64 [B, R], 0 where padded
    reply_shares: Tensor  # f32 [B, R], -1 where padded
    reply_weight: Tensor  # f32 [B]
    wdl: Tensor  # f32 [B, horizons, 3]
    known: Tensor  # f32 [B, horizons]


class TensorBatch(NamedTuple):
    """The replay's `Batch` on the device. B rows, K actions at most; for the player to move."""

    inputs: tuple[Tensor, ...]  # what the network makes of the observations
    actions: Tensor  # i64 [B, K], 0 where padded
    shares: Tensor  # f32 [B, K], -1 where padded
    policy_weight: Tensor  # f32 [B], 0 without a policy target
    result_wdl: Tensor  # f32 [B, 3]
    root_wdl: Tensor  # f32 [B, 3]
    plies_left: Tensor  # f32 [B]
    weight: Tensor  # f32 [B]
    futures: FutureTensors | None = None

    @property
    def planes(self) -> Tensor:
        """The input of a tower: f32 [B, P, R, C]."""
        return self.inputs[0]


NUMBERS = TensorBatch._fields[2:-1]


def to_tensors(
    batch: Batch, prepare: Prepare = planes_last, device: torch.device | None = None
) -> TensorBatch:
    """Without a copy where the array allows it; the batch must not change afterwards."""
    made = TensorBatch._make(
        (
            prepare(batch.observations),
            _tensor(batch.actions, np.int64),
            *(_tensor(getattr(batch, name), np.float32) for name in NUMBERS),
            _futures(batch),
        )
    )
    if device is None or device.type == "cpu":
        return made
    inputs = tuple(tensor.to(device) for tensor in made.inputs)
    numbers = (getattr(made, name).to(device) for name in NUMBERS)
    later = made.futures and FutureTensors(*(tensor.to(device) for tensor in made.futures))
    return TensorBatch._make((inputs, made.actions.to(device), *numbers, later))


def _futures(batch: Batch) -> FutureTensors | None:
    if batch.futures is None:
        return None
    actions, *numbers = (getattr(batch.futures, name) for name in FutureTensors._fields)
    return FutureTensors(_tensor(actions, np.int64), *(_tensor(n, np.float32) for n in numbers))


def _tensor(array: NDArray[Any], kind: type) -> Tensor:
    array = np.ascontiguousarray(array, kind)
    return torch.from_numpy(array if array.flags.writeable else array.copy())


class BatchLoader:
    """Iterates over `batches` as tensors, a few ahead; use it in a `with`.

    One thread runs the source, so the order never depends on timing. What the source raises is
    raised by the consumer, after the batches that came before it.
    """

    def __init__(
        self,
        batches: Iterable[Batch],
        prepare: Prepare = planes_last,
        device: torch.device | None = None,
        depth: int = DEPTH,
    ) -> None:
        """`prepare` is a network's; it runs in the loader's thread."""
        self._source = batches
        self._prepare_inputs = prepare
        self._device = device
        self._depth = depth
        self._changed = threading.Condition()
        # Guarded by _changed.
        self._ready: deque[TensorBatch] = deque()
        self._finished = False
        self._closed = False
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._prepare, name="batches", daemon=True)

    def __enter__(self) -> BatchLoader:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stops the thread after the batch that it is at."""
        with self._changed:
            self._closed = True
            self._ready.clear()
            self._changed.notify_all()
        if self._thread.ident is not None:
            self._thread.join(JOIN_SECONDS)

    def __iter__(self) -> Iterator[TensorBatch]:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._ready or self._finished or self._closed)
                if not self._ready:
                    break
                batch = self._ready.popleft()
                self._changed.notify_all()
            yield batch
        if self._error is not None:
            raise self._error

    def _prepare(self) -> None:
        """The thread: from the source to the queue."""
        source: Any = None
        try:
            source = iter(self._source)
            for batch in source:
                tensors = to_tensors(batch, self._prepare_inputs, self._device)
                with self._changed:
                    self._changed.wait_for(lambda: len(self._ready) < self._depth or self._closed)
                    if self._closed:
                        return
                    self._ready.append(tensors)
                    self._changed.notify_all()
        except BaseException as error:  # the consumer's to handle, whatever it is
            with self._changed:
                self._error = error
        finally:
            if hasattr(source, "close"):
                source.close()
            with self._changed:
                self._finished = True
                self._changed.notify_all()
