"""Batches prepared beside the optimiser."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest

import zermelo
from zermelo.replay import Batch

torch: Any = pytest.importorskip("torch", reason="torch is not installed")

from sample_batches import sample_batches  # noqa: E402

from zermelo.train.loader import BatchLoader, to_tensors  # noqa: E402


@pytest.fixture(scope="module")
def batches() -> list[Batch]:
    return sample_batches(zermelo.game("tictactoe"), 12, 4)


def loader_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "batches"]


def test_batches_come_whole_and_in_order_whoever_is_slower(batches: list[Batch]) -> None:
    def slow_source() -> Iterator[Batch]:
        for index, batch in enumerate(batches):
            time.sleep(0.002 * (index % 3))
            yield batch

    for source, delay in ((batches, 0.002), (slow_source(), 0.0)):
        with BatchLoader(source, depth=2) as loader:
            count = 0
            for wanted, found in zip(batches, loader, strict=True):
                time.sleep(delay)
                columns = asdict(wanted)
                assert columns.pop("futures") is found.futures is None
                np.testing.assert_array_equal(found.planes.numpy(), columns.pop("observations"))
                for name, array in columns.items():
                    np.testing.assert_array_equal(getattr(found, name).numpy(), array, name)
                count += 1
        assert count == 12
    assert not loader_threads()


def test_an_error_of_the_source_comes_out_after_the_batches_before_it(
    batches: list[Batch],
) -> None:
    def source() -> Iterator[Batch]:
        yield from batches[:3]
        raise OSError("the shard is gone")

    with BatchLoader(source()) as loader:
        tensors = iter(loader)
        for _ in range(3):
            next(tensors)
        with pytest.raises(OSError, match="the shard is gone"):
            next(tensors)
    assert not loader_threads()


def test_leaving_early_ends_the_thread_and_the_source(batches: list[Batch]) -> None:
    ended = threading.Event()

    def endless() -> Iterator[Batch]:
        try:
            while True:
                yield batches[0]
        finally:
            ended.set()

    with BatchLoader(endless()) as loader:
        for _ in loader:
            break
    assert ended.is_set()
    assert not loader_threads()


def test_no_more_than_a_few_batches_are_ready_ahead(batches: list[Batch]) -> None:
    taken = 0

    def source() -> Iterator[Batch]:
        nonlocal taken
        for batch in batches:
            taken += 1
            yield batch

    with BatchLoader(source(), depth=2) as loader:
        next(iter(loader))
        deadline = time.monotonic() + 0.2
        while time.monotonic() < deadline:
            time.sleep(0.01)
        assert taken <= 4  # one taken, two ready, one waiting to be put


def test_arrays_are_shared_and_planes_are_channels_last(batches: list[Batch]) -> None:
    tensors = to_tensors(batches[0])
    assert np.shares_memory(tensors.shares.numpy(), batches[0].shares)
    assert np.shares_memory(tensors.actions.numpy(), batches[0].actions)
    assert tensors.planes.is_contiguous(memory_format=torch.channels_last)


def test_arrays_that_may_not_be_written_are_copied(batches: list[Batch]) -> None:
    frozen = batches[0].weight.copy()
    frozen.flags.writeable = False
    tensors = to_tensors(replace(batches[0], weight=frozen))
    tensors.weight.zero_()
    assert frozen.all()
