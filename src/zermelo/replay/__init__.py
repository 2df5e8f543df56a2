"""Samples of finished games: kept as shards, loaded as a window, merged, and drawn in batches."""

from zermelo.replay.columns import ShardError
from zermelo.replay.dedup import Merged, merge
from zermelo.replay.header import ShardHeader
from zermelo.replay.options import ReplayOptions, window_size
from zermelo.replay.records import GameRecords
from zermelo.replay.sampler import Batch, BatchSampler
from zermelo.replay.samples import (
    ADJUDICATED,
    AUDIT,
    FULL,
    PROVEN,
    RESIGNED,
    Samples,
)
from zermelo.replay.schema import Layout, Schema
from zermelo.replay.shard import (
    Shard,
    read_header,
    read_shard,
    shard_path,
    write_shard,
)
from zermelo.replay.store import Damage, ReplayStore, StoredShard
from zermelo.replay.whole_games import RecordedGame, games
from zermelo.replay.window import Window

__all__ = [
    "ADJUDICATED",
    "AUDIT",
    "FULL",
    "PROVEN",
    "RESIGNED",
    "Batch",
    "BatchSampler",
    "Damage",
    "GameRecords",
    "Layout",
    "Merged",
    "RecordedGame",
    "ReplayOptions",
    "ReplayStore",
    "Samples",
    "Schema",
    "Shard",
    "ShardError",
    "ShardHeader",
    "StoredShard",
    "Window",
    "games",
    "merge",
    "read_header",
    "read_shard",
    "shard_path",
    "window_size",
    "write_shard",
]
