"""The trainer on the replay's own batches, from self-play to a checkpoint and back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zermelo
from zermelo import _core
from zermelo.checkpoint import CheckpointStore, TrainingState
from zermelo.network import NetworkOptions
from zermelo.replay import BatchSampler, Merged, Samples, merge
from zermelo.search import SearchOptions

torch: Any = pytest.importorskip("torch", reason="torch is not installed")

from zermelo.network.trained import network_of, new_network  # noqa: E402
from zermelo.train import Trainer, TrainOptions  # noqa: E402

SMALL = NetworkOptions(blocks=1, filters=8, value_hidden=16)
TOTAL = 10


@pytest.fixture(scope="module")
def merged() -> Merged:
    game: Any = zermelo.game("connect4")
    options = _core.SelfPlayOptions(simulations=16, games=16, full_search_probability=0.5, seed=3)
    evaluator = _core.UniformEvaluator()
    runner = _core.make_selfplay(game, evaluator, SearchOptions(), options, None)
    columns = runner.play(300, 0.0, None)
    columns.pop("statistics")
    return merge(Samples.from_columns(columns))


def train(trainer: Trainer, merged: Merged, iteration: int) -> dict[str, Any]:
    sampler = BatchSampler(merged, zermelo.game("connect4"), 64, seed=iteration)
    return trainer.train_iteration(sampler, iteration, TOTAL)


def new_trainer(threads: int) -> Trainer:
    return Trainer(new_network(zermelo.game("connect4"), SMALL), TrainOptions(threads=threads))


def differing(first: TrainingState, second: TrainingState) -> list[str]:
    assert first.arrays.keys() == second.arrays.keys()
    return [
        name
        for name, array in first.arrays.items()
        if not np.array_equal(array, second.arrays[name])
    ]


def test_a_run_that_goes_through_a_checkpoint_after_every_iteration_ends_the_same(
    merged: Merged, tmp_path: Path
) -> None:
    whole, stopped = new_trainer(1), new_trainer(1)
    store = CheckpointStore(tmp_path)
    for iteration in range(3):
        train(whole, merged, iteration)
        train(stopped, merged, iteration)
        store.save(iteration, stopped.weights(), stopped.state())
        newest = store.newest()
        assert newest is not None
        stopped = Trainer(network_of(newest.manifest.network()), TrainOptions(threads=1))
        stopped.restore(newest.training())
    assert differing(whole.state(), stopped.state()) == []
    assert whole.state().numbers == stopped.state().numbers
    assert whole.iterations == 3


def test_two_threads_give_the_same_network_every_time(merged: Merged) -> None:
    batches = list(BatchSampler(merged, zermelo.game("connect4"), 128))[:2]
    first, second = new_trainer(2), new_trainer(2)
    for trainer in (first, second):
        trainer.train_iteration(batches, 0, TOTAL)
    assert differing(first.state(), second.state()) == []


@pytest.mark.technique("T11")
def test_each_pass_takes_every_position_once(merged: Merged) -> None:
    once = train(new_trainer(1), merged, 0)
    assert once["training"]["samples"] == len(merged)
    network = new_network(zermelo.game("connect4"), SMALL)
    twice = train(Trainer(network, TrainOptions(threads=1, passes=2)), merged, 0)
    assert twice["training"]["samples"] == 2 * len(merged)
    assert twice["steps"] == 2 * once["steps"]


def test_the_policy_comes_closer_to_the_searches(merged: Merged) -> None:
    options = TrainOptions(threads=1, passes=2, learning_rate=0.01)
    trainer = Trainer(new_network(zermelo.game("connect4"), SMALL), options)
    found = [train(trainer, merged, iteration)["training"] for iteration in range(6)]
    assert found[-1]["policy_kl"] < 0.8 * found[0]["policy_kl"]
    assert found[-1]["value_kl"] < found[0]["value_kl"]
    assert found[0]["policy_loss"] - found[0]["policy_entropy"] == found[0]["policy_kl"]
