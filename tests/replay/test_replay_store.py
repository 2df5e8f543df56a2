"""The store lists by headers, sets damage aside and goes on."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest
from make_samples import put_shard, random_samples

import zermelo
from zermelo.replay import Damage, ReplayStore
from zermelo.replay import shard as shard_module

GAME = zermelo.game("tictactoe")


def fill(directory: Path, iterations: int = 3, workers: int = 2) -> list[Path]:
    return [
        put_shard(
            directory,
            random_samples("tictactoe", games=2, seed=iteration, iteration=iteration),
            "tictactoe",
            worker=worker,
            number=iteration,
        )
        for iteration in range(iterations)
        for worker in range(workers)
    ]


def test_shards_are_listed_newest_last(tmp_path: Path) -> None:
    paths = fill(tmp_path)
    put_shard(tmp_path, random_samples("tictactoe", games=1), "tictactoe", number=9)
    (tmp_path / "notes.txt").write_text("not a shard")
    shards = ReplayStore(tmp_path, GAME).shards()
    assert [shard.path.name for shard in shards] == [
        *[path.name for path in paths[:2]],
        "it000000-w00-000009.zshard",
        *[path.name for path in paths[2:]],
    ]
    assert all(shard.bytes == shard.path.stat().st_size for shard in shards)


def test_a_directory_need_not_be_there(tmp_path: Path) -> None:
    store = ReplayStore(tmp_path / "none", GAME)
    assert store.shards() == []
    assert store.samples_of(0) == store.next_number(0) == 0
    assert store.remove_temporary() == []


@pytest.mark.technique("T8")
def test_samples_of_an_iteration_are_counted_by_headers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path)
    late = random_samples("tictactoe", games=1, iteration=1)
    put_shard(tmp_path, late, "tictactoe", iteration=2, number=7)  # begun in 1, finished in 2
    expected = [2 * len(random_samples("tictactoe", 2, seed)) for seed in range(3)]
    store = ReplayStore(tmp_path, GAME)
    monkeypatch.setattr("zermelo.replay.store.read_shard", None)
    expected[2] += len(late)
    assert [store.samples_of(iteration) for iteration in range(4)] == [*expected, 0]


def test_headers_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path)
    store = ReplayStore(tmp_path, GAME)
    before = store.shards()
    read: list[Path] = []

    def spy(path: Path) -> object:
        read.append(path)
        return shard_module.read_header(path)

    monkeypatch.setattr("zermelo.replay.store.read_header", spy)
    assert store.shards() == before
    assert read == []
    new = put_shard(tmp_path, random_samples("tictactoe", games=1), "tictactoe", number=5)
    assert len(store.shards()) == len(before) + 1
    assert read == [new]


def test_headers_share_what_is_the_same_in_all(tmp_path: Path) -> None:
    for number in range(2):
        put_shard(tmp_path, random_samples(games=1, seed=number), number=number)
    first, second = (s.header for s in ReplayStore(tmp_path, zermelo.game("connect4")).shards())
    assert first.schema is second.schema
    assert first.zermelo is second.zermelo


def test_a_number_is_free_also_of_damaged_shards(tmp_path: Path) -> None:
    paths = fill(tmp_path)
    store = ReplayStore(tmp_path, GAME)
    assert [store.next_number(worker) for worker in range(3)] == [3, 3, 0]
    paths[-1].write_bytes(b"")
    store.shards()
    assert store.next_number(1) == 3


@pytest.mark.technique("T2")
@pytest.mark.parametrize("place", [20, 100, -40, -1])
def test_a_damaged_shard_is_set_aside_with_its_reason(place: int, tmp_path: Path) -> None:
    paths = fill(tmp_path)
    data = bytearray(paths[2].read_bytes())
    data[place] ^= 4
    paths[2].write_bytes(data)
    heard: list[Damage] = []
    store = ReplayStore(tmp_path, GAME, heard.append)
    read = [store.read(shard) for shard in store.shards()]
    assert sum(samples is not None for samples in read) == 5
    assert [shard.path for shard in store.shards()] == [p for p in paths if p != paths[2]]
    aside = tmp_path / "damaged" / paths[2].name
    assert aside.read_bytes() == data
    reason = aside.with_name(aside.name + ".reason.txt").read_text()
    assert f"'{paths[2]}' is no sound shard: it" in reason
    assert [damage.path for damage in heard] == [paths[2]]
    assert str(heard[0]) == f"{reason.strip()}; it was moved to '{aside}'"
    assert store.damage == heard


def test_a_second_damaged_shard_of_the_same_name_is_kept_too(tmp_path: Path) -> None:
    for _ in range(2):
        path = fill(tmp_path, 1, 1)[0]
        path.write_bytes(path.read_bytes()[:-1])
        assert ReplayStore(tmp_path, GAME).shards() == []
    names = sorted(each.name for each in (tmp_path / "damaged").iterdir())
    assert names == [
        path.name,
        f"{path.name}.1",
        f"{path.name}.1.reason.txt",
        f"{path.name}.reason.txt",
    ]


def test_a_damaged_shard_that_cannot_be_moved_is_left_out_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = fill(tmp_path)
    paths[0].write_bytes(b"nothing")

    def fail(*arguments: object) -> None:
        raise PermissionError(1, "no")

    monkeypatch.setattr("zermelo.replay.store.os.rename", fail)
    heard: list[Damage] = []
    store = ReplayStore(tmp_path, GAME, heard.append)
    for _ in range(3):
        assert len(store.shards()) == 5
    assert len(heard) == 1
    assert str(heard[0]).endswith("; it is left out")
    assert paths[0].exists()


def test_a_damaged_shard_is_reported_even_if_its_reason_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = fill(tmp_path)
    paths[0].write_bytes(b"nothing")

    def fail(*arguments: object) -> None:
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(Path, "write_text", fail)
    heard: list[Damage] = []
    assert len(ReplayStore(tmp_path, GAME, heard.append).shards()) == 5
    assert [damage.moved_to for damage in heard] == [tmp_path / "damaged" / paths[0].name]


def test_sound_shards_that_do_not_belong_here_stay_and_are_left_out(tmp_path: Path) -> None:
    paths = fill(tmp_path)
    other = put_shard(tmp_path, random_samples("connect4", games=1), "connect4", number=50)
    renamed = tmp_path / "it000000-w00-000077.zshard"
    renamed.write_bytes(paths[0].read_bytes())
    heard: list[Damage] = []
    store = ReplayStore(tmp_path, GAME, heard.append)
    assert len(store.shards()) == len(store.shards()) == 6
    reasons = {damage.path: damage.reason for damage in heard}
    assert "samples of connect4, not of tictactoe" in reasons[other]
    assert "its name is not what its header says" in reasons[renamed]
    assert other.exists()
    assert renamed.exists()


def test_a_shard_that_is_gone_is_no_damage(tmp_path: Path) -> None:
    paths = fill(tmp_path)
    store = ReplayStore(tmp_path, GAME)
    shards = store.shards()
    paths[0].unlink()
    assert store.read(shards[0]) is None
    assert store.damage == []
    assert len(store.shards()) == 5
