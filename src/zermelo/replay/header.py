"""The header of a shard: what is known of it without reading its rows."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from zermelo.games.protocol import Game
from zermelo.replay.columns import ShardError
from zermelo.replay.records import RECORD_COLUMNS, GameRecords
from zermelo.replay.samples import COLUMNS, Samples
from zermelo.replay.schema import Schema

ALL_COLUMNS = COLUMNS | RECORD_COLUMNS  # in the order of the file
# The version of the format that is written, the newest of any column; all from 1 on are read.
FORMAT = max(column.since for column in ALL_COLUMNS.values())
# Statistics that are no counts or durations; others are numbers from 0 on.
AUDIT_LIST = "audit"
TEXTS = ("source",)
BELOW_ZERO = ("resign_threshold",)
WHOLE = ("games", "samples", "seed", "first_game", "budget")
LARGEST = 1 << 60
SINCE_2 = ("records", "moves")  # numbers that version 1 of the format does not have


@dataclass(frozen=True)
class ShardHeader:
    """Counts, origin and statistics of a shard, and what its samples look like."""

    schema: Schema
    iteration: int  # during which it was written; its rows may be of earlier ones
    worker: int
    number: int  # of the worker's shards
    samples: int
    entries: int
    games: int
    iterations: tuple[int, int]  # first and last of its rows
    statistics: dict[str, Any] = field(default_factory=dict)
    zermelo: str = ""  # the version that wrote it
    records: int = 0  # of whole games, those without a row too
    moves: int = 0  # of the recorded games together
    version: int = FORMAT  # of the file's format

    @staticmethod
    def of(
        game: Game | Schema,
        samples: Samples,
        *,
        iteration: int | None = None,
        worker: int = 0,
        number: int = 0,
        statistics: Mapping[str, Any] | None = None,
        records: GameRecords | None = None,
    ) -> ShardHeader:
        """The header for samples; without `iteration`, the newest of the rows is taken."""
        from zermelo import __version__

        if not len(samples):
            raise ShardError("a shard needs at least one sample")
        first, last = int(samples.iterations.min()), int(samples.iterations.max())
        return ShardHeader(
            schema=game if isinstance(game, Schema) else Schema.of(game),
            iteration=last if iteration is None else iteration,
            worker=worker,
            number=number,
            samples=len(samples),
            entries=len(samples.policy_actions),
            games=len(np.unique(samples.games)),
            iterations=(first, last),
            statistics=dict(statistics or {}),
            zermelo=__version__,
            **(GameRecords.none() if records is None else records).lengths,
        )

    @property
    def columns(self) -> list[tuple[str, str, tuple[int, ...]]]:
        """(name, type, shape) of every column, in the order of the file."""
        words = self.schema.layout.words
        return [
            (name, column.dtype, column.shape(vars(self), words))
            for name, column in ALL_COLUMNS.items()
            if column.since <= self.version
        ]

    def to_dict(self) -> dict[str, Any]:
        """As the file has it."""
        left_out = {"schema", "version"} | (set() if self.version > 1 else set(SINCE_2))
        own = {key: value for key, value in vars(self).items() if key not in left_out}
        columns = [[name, dtype, list(shape)] for name, dtype, shape in self.columns]
        return self.schema.to_dict() | own | {"columns": columns}

    @staticmethod
    def from_dict(found: Any, version: int = FORMAT) -> ShardHeader:
        """ShardError unless every field is there and in range; `found` is not trusted."""
        if not isinstance(found, dict):
            raise ShardError("its header is no JSON object")
        schema = Schema.from_dict(found)
        if schema is None:
            raise ShardError("its header does not describe a game's samples")
        made: dict[str, Any] = {"version": version}
        numbers = ("iteration", "worker", "number", "samples", "entries", "games")
        for name in numbers:
            least = 0 if name in numbers[:3] else 1
            made[name] = _number(found.get(name), name, least)
        for name in SINCE_2:
            made[name] = _number(found.get(name), name) if version > 1 else 0
        span = found.get("iterations")
        if not isinstance(span, list) or len(span) != 2:
            raise ShardError("its header has no first and last iteration")
        first, last = (_number(number, "iterations") for number in span)
        if not first <= last <= made["iteration"]:
            raise ShardError(f"its header has iterations {first} to {last} in {made['iteration']}")
        statistics, program = found.get("statistics"), found.get("zermelo")
        if not isinstance(statistics, dict) or not isinstance(program, str):
            raise ShardError("its header has no statistics or no version of zermelo")
        check_statistics(statistics)
        # A long run has thousands of headers in memory, which are alike but for their numbers.
        header = ShardHeader(
            schema=_shared(schema),
            iterations=(first, last),
            statistics={sys.intern(name): value for name, value in statistics.items()},
            zermelo=sys.intern(program),
            **made,
        )
        if found.get("columns") != header.to_dict()["columns"]:
            raise ShardError("its header lists other columns than a shard has")
        return header


@lru_cache(maxsize=64)
def _shared(schema: Schema) -> Schema:
    """The first one that was equal."""
    return schema


def check_statistics(found: Mapping[str, Any]) -> None:
    """What self-play says of its games: numbers, and a list of audits. ShardError otherwise."""
    for name, value in found.items():
        if name == AUDIT_LIST:
            good = isinstance(value, list) and all(map(_is_audit, value))
        elif name in TEXTS:
            good = isinstance(value, str)
        else:
            kinds = (bool, int) if name in WHOLE else (bool, int, float)
            good = type(value) in kinds and -LARGEST < value < LARGEST
            good = good and (value >= 0 or name in BELOW_ZERO)
        if not good:
            raise ShardError(f"its header has no sensible statistic '{name}'")
    if "first_game" in found and not {"seed", "games"} <= found.keys():
        raise ShardError("its header numbers games without saying whose they are")


def _is_audit(pair: Any) -> bool:
    """A value that a player's search had, and the result."""
    if not isinstance(pair, list) or len(pair) != 2 or type(pair[0]) not in (int, float):
        return False
    return -2 <= pair[0] <= 2 and type(pair[1]) is int and -1 <= pair[1] <= 1


def _number(value: Any, name: str, least: int = 0) -> int:
    if type(value) is not int or not least <= value < 1 << 40:
        raise ShardError(f"its header has no sensible number of {name}")
    return value
