"""A producer alone: no file, no pipe, no process; and the networks that orders name."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zermelo
from zermelo import _core
from zermelo.checkpoint import CheckpointStore, TrainingState
from zermelo.errors import UserError
from zermelo.games.protocol import Game
from zermelo.network import NetworkOptions, Weights, architecture_for, random_weights, save_network
from zermelo.selfplay.network_reference import LocalNetwork
from zermelo.selfplay.order import Order, Spec
from zermelo.selfplay.producer import ShardProducer
from zermelo.selfplay.self_play import Played

GAME = zermelo.game("tictactoe")
SIZES = NetworkOptions(blocks=0, filters=4, policy_filters=2, value_filters=2)
SPEC = Spec(
    game="tictactoe", search=_core.SearchOptions(cache_mib=0).to_dict(),
    selfplay=_core.SelfPlayOptions(games=4, full_search_probability=1.0).to_dict(),
    backend="openvino", precision="f32", worker=7, seed=3, shard_samples=50, exact=True,
)  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Remembered:
    """A network that lies in memory; counts how often it was asked for."""

    seed: int
    loads: list[int] = dataclasses.field(default_factory=list, compare=False)

    def load(self, game: Game) -> Weights:
        self.loads.append(self.seed)
        return random_weights(architecture_for(game, SIZES), self.seed)


def order(**changes: Any) -> Order:
    plain = Order(
        iteration=2, network=Remembered(1), network_iteration=2, simulations=6,
        resign_threshold=-1.0, share=120, quota=120,
    )  # fmt: skip
    return dataclasses.replace(plain, **changes)


def never() -> bool:
    return False


def until_done(producer: ShardProducer, wanted: Order) -> list[Played]:
    found = [producer.produce(wanted, never)]
    while not producer.done:
        found.append(producer.produce(wanted, never))
    return found


def same(ours: list[Played], theirs: list[Played]) -> bool:
    pairs = zip(ours, theirs, strict=True)
    return all(
        np.array_equal(column, getattr(b.samples, name))
        for a, b in pairs
        for name, column in a.samples.columns().items()
    )


def test_a_producer_plays_an_order_without_any_file_or_pipe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    producer = ShardProducer(SPEC)
    shards = until_done(producer, order())
    assert all(len(shard.samples) for shard in shards)
    assert len(shards[0].samples) >= SPEC.shard_samples
    assert producer.made == sum(len(shard.samples) for shard in shards) >= 120
    assert set(shards[0].samples.iterations) == {2}
    assert producer.facts(order())["seed"] == 3
    assert not list(tmp_path.iterdir())


def test_an_order_is_stopped_in_the_middle_of_a_shard() -> None:
    asked: list[int] = []

    def stop() -> bool:
        asked.append(1)
        return len(asked) > 2

    spec = dataclasses.replace(SPEC, shard_samples=10_000_000)
    producer = ShardProducer(spec)
    played = producer.produce(order(quota=10**9, share=10**9), stop)
    assert len(asked) >= 3
    assert len(played.samples) < 10_000_000
    assert not producer.done


def test_an_order_for_more_than_the_share_begins_with_small_shards_and_ends() -> None:
    producer = ShardProducer(dataclasses.replace(SPEC, shard_samples=10_000_000))
    wanted = order(share=600, quota=1200)
    played = until_done(producer, wanted)
    assert len(played[0].samples) < 300
    assert producer.made >= 1200


def test_a_network_is_loaded_when_an_order_brings_another_one() -> None:
    first, second = Remembered(1), Remembered(2)
    producer = ShardProducer(SPEC)
    producer.produce(order(network=first), never)
    producer.produce(order(network=first, iteration=3), never)
    assert first.loads == [1]
    played = producer.produce(order(network=second, iteration=4, network_iteration=4), never)
    assert (first.loads, second.loads) == ([1], [2])
    assert played.samples.iterations.max() == 4


def test_saved_games_go_on_in_another_producer_as_they_would_have() -> None:
    one, other = ShardProducer(SPEC), ShardProducer(SPEC)
    until_done(one, order())
    games = one.save()
    later = order(iteration=3, network_iteration=3)
    assert other.begin(later, games) == ""
    assert same(until_done(one, later), until_done(other, later))


def test_bytes_that_are_no_games_are_not_used_and_the_reason_is_told() -> None:
    producer = ShardProducer(SPEC)
    assert producer.begin(order(), b"not games at all")
    assert producer.begin(order(), b"")
    assert until_done(producer, order())


def test_a_network_on_disk_that_was_changed_is_not_played(tmp_path: Path) -> None:
    file = tmp_path / "network.safetensors"
    weights = [random_weights(architecture_for(GAME, SIZES), seed) for seed in (1, 2)]
    save_network(weights[0], file)
    meant = LocalNetwork.at(file)
    assert meant.load(GAME).architecture == weights[0].architecture
    save_network(weights[1], file)
    assert LocalNetwork.at(file) != meant
    with pytest.raises(UserError, match="no longer the network"):
        meant.load(GAME)
    store = CheckpointStore(tmp_path / "checkpoints")
    meant = LocalNetwork.of(store.save(3, weights[0], TrainingState({}, {})))
    assert meant == LocalNetwork.at(store.path(3))
    assert meant.load(GAME).architecture == weights[0].architecture
    store.save(3, weights[1], TrainingState({}, {}))
    with pytest.raises(UserError, match="no longer the checkpoint"):
        meant.load(GAME)


def test_moves_are_counted_before_a_game_is_over_and_anew_in_each_iteration() -> None:
    producer, seen = ShardProducer(SPEC), []

    def look() -> bool:
        seen.append((producer.moves(), producer.games))
        return False

    wanted = order(simulations=4000)
    played = [producer.produce(wanted, look) for _ in range(2)]
    made = [int(each.statistics["moves"]) for each in played]
    assert producer.moves() == sum(made)
    counts = [moves for moves, _ in seen]
    assert counts == sorted(counts)
    assert counts[-1] <= sum(made)
    assert any(0 < moves < made[0] for moves in counts), "before the first shard was full"
    producer.begin(order(iteration=3))
    assert producer.moves() == 0
