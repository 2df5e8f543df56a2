"""The header of a shard: what is known of it without reading its rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from zermelo.games.protocol import Game
from zermelo.replay.samples import COLUMNS, Samples, ShardError
from zermelo.replay.schema import Schema


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

    @staticmethod
    def of(
        game: Game | Schema,
        samples: Samples,
        *,
        iteration: int | None = None,
        worker: int = 0,
        number: int = 0,
        statistics: Mapping[str, Any] | None = None,
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
        )

    @property
    def columns(self) -> list[tuple[str, str, tuple[int, ...]]]:
        """(name, type, shape) of every column, in the order of the file."""
        lengths = {"samples": self.samples, "entries": self.entries}
        words = self.schema.layout.words
        return [
            (name, dtype, (lengths[kind], words) if name == "observations" else (lengths[kind],))
            for name, (dtype, kind) in COLUMNS.items()
        ]

    def to_dict(self) -> dict[str, Any]:
        """As the file has it."""
        own = {key: value for key, value in vars(self).items() if key != "schema"}
        columns = [[name, dtype, list(shape)] for name, dtype, shape in self.columns]
        return self.schema.to_dict() | own | {"columns": columns}

    @staticmethod
    def from_dict(found: Any) -> ShardHeader:
        """ShardError unless every field is there and in range; `found` is not trusted."""
        if not isinstance(found, dict):
            raise ShardError("its header is no JSON object")
        schema = Schema.from_dict(found)
        if schema is None:
            raise ShardError("its header does not describe a game's samples")
        made: dict[str, Any] = {}
        numbers = ("iteration", "worker", "number", "samples", "entries", "games")
        for name in numbers:
            least = 0 if name in numbers[:3] else 1
            made[name] = _number(found.get(name), name, least)
        span = found.get("iterations")
        if not isinstance(span, list) or len(span) != 2:
            raise ShardError("its header has no first and last iteration")
        first, last = (_number(number, "iterations") for number in span)
        if not first <= last <= made["iteration"]:
            raise ShardError(f"its header has iterations {first} to {last} in {made['iteration']}")
        statistics, version = found.get("statistics"), found.get("zermelo")
        if not isinstance(statistics, dict) or not isinstance(version, str):
            raise ShardError("its header has no statistics or no version of zermelo")
        header = ShardHeader(
            schema=schema, iterations=(first, last), statistics=statistics, zermelo=version, **made
        )
        if found.get("columns") != header.to_dict()["columns"]:
            raise ShardError("its header lists other columns than a shard has")
        return header


def _number(value: Any, name: str, least: int = 0) -> int:
    if type(value) is not int or not least <= value < 1 << 40:
        raise ShardError(f"its header has no sensible number of {name}")
    return value
