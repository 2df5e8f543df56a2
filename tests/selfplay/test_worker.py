"""A worker: orders in, shards out; it heeds new orders, saves games, waits for a full disk."""

from __future__ import annotations

import dataclasses
import errno
import os
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from channels import pair

import zermelo
from zermelo import _core, files
from zermelo.checkpoint import CheckpointStore, TrainingState
from zermelo.errors import UserError
from zermelo.files import patiently
from zermelo.network import (
    NetworkOptions,
    architecture_for,
    load_network,
    random_weights,
    save_network,
)
from zermelo.replay import ReplayStore, read_shard
from zermelo.selfplay.local_pool import LocalPool, _Worker
from zermelo.selfplay.network_reference import LocalNetwork
from zermelo.selfplay.order import Order, Spec
from zermelo.selfplay.pool import MOVES
from zermelo.selfplay.worker import SelfPlayProcess, play_message

GAME = zermelo.game("tictactoe")


class Setup:
    """A worker in this process, and the loop's end of its pipe."""

    def __init__(self, path: Path, *, exact: bool = False, seed: int = 3) -> None:
        self.loop, theirs = pair()
        self.path = path
        self.network = path / "network.safetensors"
        sizes = NetworkOptions(blocks=0, filters=4, policy_filters=2, value_filters=2)
        save_network(random_weights(architecture_for(GAME, sizes), 1), self.network)
        options = _core.SelfPlayOptions(games=4, full_search_probability=1.0).to_dict()
        self.spec = Spec(
            game="tictactoe", search=_core.SearchOptions(cache_mib=0).to_dict(), selfplay=options,
            backend="openvino", precision="f32", worker=7, seed=seed,
            shard_samples=50, exact=exact,
        )  # fmt: skip
        self.worker = SelfPlayProcess(self.spec, path / "replay", theirs)

    def order(self, **changes: Any) -> Order:
        order = Order(
            iteration=2, network=LocalNetwork.at(self.network), network_iteration=2, simulations=6,
            resign_threshold=-1.0, share=120, quota=120,
        )  # fmt: skip
        return dataclasses.replace(order, **changes)

    def send(self, order: Order) -> None:
        self.loop.send(play_message(order))

    def messages(self) -> list[dict[str, Any]]:
        found = []
        while (message := self.loop.receive(0.0)) is not None:
            found.append(message)
        return found

    def shards(self) -> list[Path]:
        return sorted((self.path / "replay").glob("*.zshard"))


def test_a_quota_becomes_shards_of_whole_games_with_statistics(tmp_path: Path) -> None:
    setup = Setup(tmp_path)
    setup.worker.play(setup.order())
    names = [path.name for path in setup.shards()]
    assert names[0] == "it000002-w07-000000.zshard"
    messages = setup.messages()
    assert [m["shard"] for m in messages if "shard" in m] == names
    shard = read_shard(setup.shards()[0], GAME)
    assert (shard.samples.plies[0], shard.header.iteration) == (0, 2)
    assert shard.header.statistics["seed"] == 3
    assert shard.header.statistics["budget"] == 6
    assert shard.header.statistics["games"] == len(np.unique(shard.samples.games))


def test_moves_are_told_before_the_first_shard_is_full_and_heard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zermelo.selfplay.worker.TELL_EVERY", 0.0)
    setup = Setup(tmp_path)
    setup.worker.play(setup.order(simulations=2000))
    messages = setup.messages()
    shard = next(i for i, message in enumerate(messages) if "shard" in message)
    told = [message for message in messages if MOVES in message]
    assert any(message[MOVES] > 0 for message in messages[:shard] if MOVES in message)
    assert {message["iteration"] for message in told} == {2}

    pool = LocalPool(cast(Any, SimpleNamespace(workers=2, on_shard=lambda _: None)))
    for number in range(2):
        ours, theirs = pair()
        pool._team.append(_Worker(number, cast(Any, SimpleNamespace(channel=ours))))
        theirs.send(told[-1])
        pool._hear(pool._team[-1])
    assert pool.moves == {2: 2 * told[-1][MOVES]}


def test_a_worker_that_has_nothing_to_do_is_not_stuck(tmp_path: Path) -> None:
    setup = Setup(tmp_path)
    setup.worker.play(setup.order())
    assert setup.worker.stuck() == 0.0


@pytest.mark.technique("P7")
def test_a_worker_changes_over_to_a_newer_order_and_ends_when_told(tmp_path: Path) -> None:
    setup = Setup(tmp_path)
    newer = setup.order(iteration=3, network_iteration=3, simulations=7, quota=80)
    setup.send(setup.order(quota=0, share=100_000))  # endless by itself
    setup.send(newer)
    setup.loop.send({"do": "end"})
    setup.worker.run()
    playing = [m["iteration"] for m in setup.messages() if m.get("state") == "playing"]
    assert playing == [2, 3]
    assert setup.worker.producer.selfplay is not None
    assert setup.worker.producer.selfplay.runner.options.simulations == 7


def test_a_pause_is_answered_after_the_open_shard_was_written(tmp_path: Path) -> None:
    setup = Setup(tmp_path)
    setup.send(setup.order(quota=0, share=100_000))
    setup.loop.send({"do": "pause"})
    setup.loop.send({"do": "end"})
    setup.worker.run()
    messages = setup.messages()
    assert [m["state"] for m in messages if "state" in m] == ["playing", "paused"]
    written = sum(m["samples"] for m in messages if "shard" in m)
    assert written == ReplayStore(tmp_path / "replay", GAME).samples_of(2)


def test_a_worker_ends_when_the_loop_has_gone(tmp_path: Path) -> None:
    setup = Setup(tmp_path)
    setup.send(setup.order(quota=0))
    os.close(setup.loop.write_to)
    setup.worker.run()


def test_saved_games_go_on_exactly_where_they_were(tmp_path: Path) -> None:
    whole, parted = tmp_path / "whole", tmp_path / "parted"
    for path in (whole, parted):
        path.mkdir()
    one = Setup(whole, exact=True)
    first = one.order(games_to=str(whole / "a.games"))
    second = one.order(iteration=3, games_from=str(whole / "a.games"))
    one.worker.play(first)
    one.worker.play(second)
    Setup(parted, exact=True).worker.play(one.order(games_to=str(parted / "a.games")))
    other = Setup(parted, exact=True)  # another process, as after a kill
    other.worker.play(one.order(iteration=3, games_from=str(parted / "a.games")))
    assert [p.name for p in one.shards()] == [p.name for p in other.shards()]
    for mine, theirs in zip(one.shards(), other.shards(), strict=True):
        a, b = read_shard(mine).samples, read_shard(theirs).samples
        for name, column in a.columns().items():
            assert np.array_equal(column, getattr(b, name)), (mine.name, name)


def test_an_unfinished_repeatable_iteration_leaves_no_shard_twice(tmp_path: Path) -> None:
    setup = Setup(tmp_path, exact=True)
    setup.worker.play(setup.order())
    before = {path.name: read_shard(path).samples.observations for path in setup.shards()}
    again = Setup(tmp_path, exact=True)
    again.worker.play(again.order())
    assert list(before) == [path.name for path in again.shards()]
    for path in again.shards():
        assert np.array_equal(before[path.name], read_shard(path).samples.observations)


def test_shards_that_are_not_repeatable_are_never_removed(tmp_path: Path) -> None:
    Setup(tmp_path, exact=False).worker.play(Setup(tmp_path).order())
    kept = Setup(tmp_path).shards()
    exact = Setup(tmp_path, exact=True)
    exact.worker.play(exact.order())
    assert set(kept) < set(exact.shards())


def test_unusable_saved_games_are_reported_and_new_ones_begun(tmp_path: Path) -> None:
    setup = Setup(tmp_path, exact=True)
    (tmp_path / "bad.games").write_bytes(b"not games at all")
    setup.worker.play(setup.order(games_from=str(tmp_path / "bad.games")))
    notes = [m["note"] for m in setup.messages() if "note" in m]
    assert len(notes) == 1
    assert "bad.games" in notes[0]
    assert setup.shards()


def test_games_of_a_network_that_breaks_are_not_stored(tmp_path: Path) -> None:
    setup = Setup(tmp_path)
    weights = load_network(setup.network)
    huge = {name: np.full_like(one, 3e38) for name, one in weights.arrays.items() if one.ndim > 1}
    save_network(dataclasses.replace(weights, arrays={**weights.arrays, **huge}), setup.network)
    with pytest.raises((UserError, RuntimeError), match=r"network|policy|value"):
        setup.worker.play(setup.order())
    assert setup.shards() == []
    assert not list((tmp_path / "replay").glob(".*"))


def test_shards_are_small_at_the_beginning_and_at_the_end_of_a_share(tmp_path: Path) -> None:
    setup = Setup(tmp_path)
    setup.worker.producer.spec = dataclasses.replace(setup.spec, shard_samples=2000)
    order = setup.order(quota=0, share=8000)
    made = (0, 100, 4000, 6000, 7500, 8000, 9000)
    sizes = [setup.worker.producer.shard_size(order, each) for each in made]
    assert sizes == [100, 500, 2000, 1000, 500, 500, 500]
    assert setup.worker.producer.shard_size(setup.order(quota=150, share=150), 120) == 30


def test_a_full_disk_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "PAUSE", 0.0)
    full, asked = [3], []

    def write() -> str:
        if full[0]:
            full[0] -= 1
            raise UserError("cannot") from OSError(errno.ENOSPC, "full")
        return "written"

    def wait() -> bool:
        asked.append(1)
        return True

    assert patiently(write, wait) == "written"
    assert len(asked) == 3
    full[0] = 1
    with pytest.raises(UserError, match="cannot"):
        patiently(write, lambda: False)
    full[0] = 1
    with pytest.raises(UserError, match="cannot"):
        patiently(write, None)


def test_a_worker_that_waits_for_space_ends_with_its_loop(tmp_path: Path) -> None:
    setup = Setup(tmp_path)
    assert setup.worker.wait_for_space()
    setup.send(setup.order(iteration=3))
    setup.loop.send({"do": "pause"})
    assert setup.worker.wait_for_space()
    assert setup.worker.pending == {"do": "pause"}  # the newest
    os.close(setup.loop.write_to)
    assert not setup.worker.wait_for_space()


def test_an_end_that_comes_after_another_order_is_heard_on_a_full_disk(tmp_path: Path) -> None:
    setup = Setup(tmp_path)
    setup.send(setup.order(iteration=3))
    assert setup.worker.wait_for_space()
    setup.loop.send({"do": "end"})
    assert not setup.worker.wait_for_space()
    assert setup.worker.is_last_order()


def test_a_checkpoint_plays_under_another_name_too(tmp_path: Path) -> None:
    setup = Setup(tmp_path)
    weights = load_network(setup.network)
    store = CheckpointStore(tmp_path / "checkpoints")
    store.save(12, weights, TrainingState({}, {}))
    copy = Path(shutil.copytree(store.path(12), tmp_path / "best"))
    for place in (store.path(12), copy):
        assert LocalNetwork.at(place).load(GAME).architecture == weights.architecture


def test_other_errors_are_not_waited_for() -> None:
    def write() -> None:
        raise UserError("cannot") from OSError(errno.EACCES, "no")

    with pytest.raises(UserError, match="cannot"):
        patiently(write, lambda: True)
