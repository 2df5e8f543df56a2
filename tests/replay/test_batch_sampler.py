"""Batches: every row once, in random order, planes and policy in the same symmetry."""

from __future__ import annotations

import threading
from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from make_samples import random_samples

import zermelo
from zermelo.replay import FULL, Batch, BatchSampler, Samples, merge


class PythonTicTacToe:
    """The native game behind Python's protocol, so that its observations are dense."""

    name = "python-tictactoe"

    def __init__(self) -> None:
        self._game: Any = zermelo.game("tictactoe")
        self.num_actions = self._game.num_actions
        self.observation_shape = self._game.observation_shape

    def __getattr__(self, name: str) -> Any:
        if name in ("hash", "observe_packed", "expand_observations", "packed_words"):
            raise AttributeError(name)
        return getattr(self._game, name)


def numbered(count: int) -> Samples:
    """Samples that tell their number by `plies_left`."""
    samples = random_samples(games=1, full_share=1.0)
    rows = samples.take(np.arange(count) % len(samples))
    return Samples(**(rows.columns() | {"plies_left": np.arange(count, dtype=np.uint16)}))


def sampler_of(count: int, batch: int, **settings: Any) -> BatchSampler:
    merged = merge(numbered(count), deduplicate=False)
    return BatchSampler(merged, zermelo.game("connect4"), batch, **settings)


def order_of(batches: Any) -> list[int]:
    return [int(number) for batch in batches for number in batch.plies_left]


@pytest.mark.technique("T9")
def test_an_epoch_has_every_row_once_and_not_in_order() -> None:
    sampler = sampler_of(1000, 64)
    batches = list(sampler)
    assert [len(batch) for batch in batches] == [*[64] * 15, 40]
    assert len(sampler) == 16
    order = order_of(batches)
    assert sorted(order) == list(range(1000))
    neighbours = sum(abs(a - b) == 1 for a, b in pairwise(order))
    assert neighbours < 15  # 2 are expected of a random order, 999 of the game's
    assert abs(np.corrcoef(order, range(1000))[0, 1]) < 0.1


@pytest.mark.technique("T9")
def test_the_same_seed_and_epoch_give_the_same_batches() -> None:
    first, again = sampler_of(300, 32, seed=5), sampler_of(300, 32, seed=5)
    for one, other in zip(first, again, strict=True):
        for name in Batch.__dataclass_fields__:
            assert np.array_equal(getattr(one, name), getattr(other, name)), name
    second_epoch = order_of(first)
    assert second_epoch == order_of(again.epoch(1))
    assert second_epoch != order_of(again.epoch(0))
    assert order_of(sampler_of(300, 32, seed=6)) != order_of(again.epoch(0))


@pytest.mark.technique("T9")
def test_every_row_comes_at_every_place_equally_often() -> None:
    sampler = sampler_of(6, 2)
    seen = np.zeros((6, 6), int)
    for epoch in range(1200):
        seen[np.arange(6), order_of(sampler.epoch(epoch))] += 1
    assert seen.min() > 150
    assert seen.max() < 255  # 200 +- 4 deviations


SYMMETRIC = ["tictactoe", "connect4", "othello", "hex?size=5", "chess?mirror=on", "chess"]


@pytest.mark.technique("T5")
@pytest.mark.parametrize("name", [*SYMMETRIC, "python"])
def test_planes_and_policy_move_together(name: str) -> None:
    game: Any = PythonTicTacToe() if name == "python" else zermelo.game(name)
    states: list[Any] = []
    samples = random_samples(game, games=3, full_share=1.0, max_plies=150, states=states)
    sampler = BatchSampler(merge(samples, deduplicate=False), game, 32)
    drawn: Counter[int] = Counter()
    rng = np.random.default_rng(1)
    starts = samples.starts()
    for _ in range(3):
        batch = sampler.take(np.arange(len(samples)), rng)
        for row, state in enumerate(states):
            count = int(samples.policy_counts[row])
            entries = slice(starts[row], starts[row] + count)
            policy = dict(
                zip(batch.actions[row, :count].tolist(), batch.shares[row].tolist(), strict=False)
            )
            symmetries = range(game.num_symmetries(state))
            fitting = [
                symmetry
                for symmetry in symmetries
                if np.array_equal(game.observe(game.transform(state, symmetry)), batch.planes[row])
                and policy
                == pytest.approx(
                    {
                        game.transform_action(int(action), symmetry): share / 65535
                        for action, share in zip(
                            samples.policy_actions[entries],
                            samples.policy_shares[entries],
                            strict=True,
                        )
                    }
                )
            ]
            assert fitting, (row, state)
            if len(fitting) == 1 and len(symmetries) > 1:
                drawn[fitting[0]] += 1
    assert set(drawn) == (set(range(int(samples.symmetries.max()))) if name != "chess" else set())


@pytest.mark.technique("T5")
def test_symmetries_are_drawn_equally_often() -> None:
    game: Any = zermelo.game("tictactoe")
    samples = random_samples("tictactoe", games=1)
    row = int(np.argmax(samples.plies == 2))
    state = game.parse_position("XO./.../...")  # has eight different images
    words = game.observe_packed(state)
    observations = samples.observations.copy()
    observations[row] = words
    samples = Samples(**(samples.columns() | {"observations": observations}))
    sampler = BatchSampler(merge(samples, deduplicate=False), game, 16)
    batch = sampler.take(np.full(4000, row), np.random.default_rng(1))
    images = [game.observe(game.transform(state, symmetry)) for symmetry in range(8)]
    counts = [int((batch.planes == image).all(axis=(1, 2, 3)).sum()) for image in images]
    assert sum(counts) == 4000
    assert min(counts) > 400
    assert max(counts) < 600  # 500 +- 4 deviations


def test_without_symmetries_rows_stay_as_they_were_stored() -> None:
    states: list[Any] = []
    game: Any = zermelo.game("tictactoe")
    samples = random_samples("tictactoe", games=5, states=states)
    sampler = BatchSampler(merge(samples, deduplicate=False), game, 16, symmetries=False)
    batch = sampler.take(np.arange(len(samples)), np.random.default_rng(1))
    expected = np.stack([game.observe(state) for state in states])
    assert np.array_equal(batch.planes, expected)


def test_padding_and_targets_are_marked() -> None:
    samples = random_samples("othello", games=3, full_share=0.5)
    merged = merge(samples, deduplicate=False)
    sampler = BatchSampler(merged, zermelo.game("othello"), 16, symmetries=False)
    batch = sampler.take(np.arange(len(samples)), np.random.default_rng(1))
    counts = samples.policy_counts
    assert batch.actions.shape == (len(samples), counts.max())
    padded = np.arange(counts.max()) >= counts[:, None]
    assert ((batch.shares == -1) == padded).all()
    assert (batch.actions[padded] == 0).all()
    full = (samples.flags & FULL) != 0
    sums = np.where(padded, 0, batch.shares).sum(axis=1)
    assert sums == pytest.approx(full.astype(float), abs=1e-5)
    assert batch.policy_weight.tolist() == full.tolist()
    assert batch.result_wdl.argmax(axis=1).tolist() == (1 - samples.results).tolist()
    value = batch.root_wdl[:, 0] - batch.root_wdl[:, 2]
    assert value == pytest.approx(samples.values / 32767, abs=1e-4)
    assert batch.root_wdl[:, 1] == pytest.approx(samples.draws / 65535, abs=1e-4)


@pytest.mark.technique("T4")
def test_merged_rows_have_averaged_policies() -> None:
    samples = random_samples("tictactoe", games=40, full_share=0.8)
    merged = merge(samples)
    sampler = BatchSampler(merged, zermelo.game("tictactoe"), 16, symmetries=False)
    start = int(np.argmax(merged.counts))  # the initial position
    batch = sampler.take(np.array([start, 0]), np.random.default_rng(1))
    first = np.flatnonzero((samples.plies == 0) & ((samples.flags & FULL) != 0))
    shares = [samples.policy_shares[at : at + 9] / 65535 for at in samples.starts()[first]]
    assert batch.actions[0].tolist() == list(range(9))
    assert batch.shares[0] == pytest.approx(np.mean(shares, axis=0), abs=1e-5)
    assert batch.weight[0] == pytest.approx(np.log2(41))


def test_types_and_shapes_are_those_of_the_contract() -> None:
    batch = next(iter(sampler_of(100, 10)))
    shapes = {
        "planes": (np.float32, (10, 2, 6, 7)),
        "actions": (np.int64, batch.actions.shape),
        "shares": (np.float32, batch.actions.shape),
        "policy_weight": (np.float32, (10,)),
        "result_wdl": (np.float32, (10, 3)),
        "root_wdl": (np.float32, (10, 3)),
        "plies_left": (np.float32, (10,)),
        "weight": (np.float32, (10,)),
    }
    for name, (dtype, shape) in shapes.items():
        column = getattr(batch, name)
        assert (column.dtype, column.shape) == (dtype, shape), name
        assert column.flags.c_contiguous
        assert column.flags.writeable


def test_batches_can_be_made_by_another_thread() -> None:
    sampler = sampler_of(500, 50, seed=3)
    found: list[Batch] = []
    thread = threading.Thread(target=lambda: found.extend(sampler.epoch(0)))
    thread.start()
    thread.join()
    assert order_of(found) == order_of(sampler.epoch(0))


def test_nothing_gives_no_batches() -> None:
    samples = random_samples(games=1).take(np.arange(0))
    sampler = BatchSampler(merge(samples), zermelo.game("connect4"), 8)
    assert len(sampler) == len(list(sampler)) == 0


def test_a_batch_has_at_least_one_row() -> None:
    with pytest.raises(ValueError, match="batch is 0"):
        sampler_of(10, 0)


def test_a_part_of_an_epoch_is_drawn_from_all_positions_without_repeats() -> None:
    part = sampler_of(1000, 64, seed=3, most=2)
    drawn = order_of(part)
    assert len(part) == 2 and len(drawn) == len(set(drawn)) == 128
    assert min(drawn) < 100 and max(drawn) > 900
    assert drawn == order_of(sampler_of(1000, 64, seed=3))[:128]
    assert len(sampler_of(1000, 64, most=10**6)) == 16
