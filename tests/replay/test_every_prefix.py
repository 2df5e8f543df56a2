"""A shard whose writing broke off at any byte: a reader leaves it aside, others stay readable."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from make_samples import random_samples

import zermelo
from zermelo.replay import ReplayStore, ShardError, ShardHeader, read_shard, shard_path, write_shard

Record = Callable[[str, object], None]
CHESS = zermelo.game("chess")


def written(directory: Path, games: int, number: int) -> Path:
    samples = random_samples("chess", games=games)
    path = shard_path(directory, 0, 0, number)
    write_shard(path, samples, ShardHeader.of(CHESS, samples, number=number))
    return path


def try_prefixes(directory: Path, games: int, step: int) -> int:
    """Shortens a shard from its end; how often it was read."""
    earlier = written(directory, 1, 0)
    path = written(directory, games, 1)
    tried = 0
    for size in range(path.stat().st_size - 1, -1, -step):
        os.truncate(path, size)
        with pytest.raises(ShardError):
            read_shard(path, CHESS)
        tried += 1
    store = ReplayStore(directory, CHESS)
    assert [shard.path for shard in store.shards()] == [earlier]
    assert store.read(store.shards()[0]) is not None
    assert (directory / "damaged" / path.name).exists()
    return tried


def test_prefixes_of_a_shard_are_no_shards(tmp_path: Path, record_property: Record) -> None:
    record_property("tried", try_prefixes(tmp_path, games=4, step=41))


@pytest.mark.slow
def test_every_prefix_of_a_shard_is_no_shard(tmp_path: Path, record_property: Record) -> None:
    games = 4
    while written(tmp_path, games, 0).stat().st_size < 64 << 10:
        games *= 2
    shutil.rmtree(tmp_path)
    record_property("tried", try_prefixes(tmp_path, games, step=1))
