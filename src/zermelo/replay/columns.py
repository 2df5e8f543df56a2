"""How a column of a shard is declared: once, at a field of `Samples` or `GameRecords`.

Types, the order of the file, checks of rows, older files, windows and the table in
docs/formats/shard.md follow from the declaration. The core declares what it fills in
cpp/selfplay/columns.hpp; a test holds the two against each other. Knows no particular column.

A new column is a field, the last of its class, with a new version of the format as `since` and
with `older`, which stands for it in older files; a line in the core's table; and the place where
the core fills it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zermelo.errors import UserError
from zermelo.replay.schema import Schema

Array = NDArray[Any]
# What a column can be of, and what one of these is called.
ROW = {"samples": "row", "entries": "entry", "records": "record", "moves": "move"}


class ShardError(UserError):
    """Samples or a shard that cannot be what they should be; the message is one sentence."""


@dataclass(frozen=True)
class Bounds:
    """What a rule may ask for beyond its column."""

    schema: Schema
    iterations: tuple[int, int] | None = None  # first and last that the header speaks of


# Which values are wrong, and what they should be; None if nothing can be wrong.
Rule = Callable[[Array, Bounds], tuple[Array, str] | None]


@dataclass(frozen=True)
class Column:
    """A column as it was declared."""

    name: str
    dtype: str  # with its byte order, as in the file
    says: str  # what it is, for the document
    must: str  # what a value keeps to, for the document
    per: str  # what has a value each; a key of ROW
    wide: bool  # a value is as many words as an observation has
    rule: Rule | None  # that a value alone can break
    since: int  # first version of the format that has it
    older: int | None  # what stands for it in older files, and where it is not given

    def shape(self, lengths: Mapping[str, int], words: int) -> tuple[int, ...]:
        """Its shape where there are so many of everything."""
        return (lengths[self.per], words) if self.wide else (lengths[self.per],)


def column(
    dtype: str,
    says: str,
    must: str = "",
    *,
    per: str = "samples",
    wide: bool = False,
    rule: Rule | None = None,
    since: int = 1,
    older: int | None = None,
) -> Any:
    """Declares a column, as the default of a dataclass's field."""
    declared = {"dtype": dtype, "says": says, "must": must, "per": per, "wide": wide}
    return field(metadata={"column": declared | {"rule": rule, "since": since, "older": older}})


@cache
def columns_of(table: type) -> dict[str, Column]:
    """The columns of a dataclass by name, in the order of the file."""
    return {one.name: Column(name=one.name, **one.metadata["column"]) for one in fields(table)}


def check_shapes(table: Any, lengths: Mapping[str, int]) -> None:
    """Columns have their types and as many values as there are of what they are for."""
    kind: type = type(table)
    for name, declared in columns_of(kind).items():
        found, dtype = getattr(table, name), declared.dtype
        if found.dtype != np.dtype(dtype) or found.ndim != 1 + declared.wide:
            raise ShardError(f"column {name} is {found.dtype} {found.shape}, not {dtype}")
        wanted = lengths[declared.per]
        if len(found) != wanted:
            raise ShardError(f"column {name} has {len(found)} {declared.per}, not {wanted}")


def check_rules(table: Any, bounds: Bounds) -> None:
    """Every value keeps to its column's own rule; the message names the first that does not."""
    kind: type = type(table)
    for name, declared in columns_of(kind).items():
        found = getattr(table, name)
        broken = declared.rule(found, bounds) if declared.rule else None
        if broken is not None:
            refuse(broken[0], found, name, broken[1], ROW[declared.per])


def refuse(bad: Array, found: Array, name: str, allowed: str, row: str = "row") -> None:
    """ShardError with the first value that is bad."""
    if bad.any():
        first = int(np.argmax(bad))
        raise ShardError(f"{row} {first}: {name} is {found[first]}, not {allowed}")


def typed(table: type, given: Mapping[str, Any], lengths: Mapping[str, int]) -> dict[str, Array]:
    """Arrays by name in their columns' types; ShardError if one is missing or does not fit."""
    made: dict[str, Array] = {}
    for name, declared in columns_of(table).items():
        if name not in given and declared.older is not None:
            made[name] = np.full(lengths[declared.per], declared.older, declared.dtype)
            continue
        if name not in given:
            raise ShardError(f"column {name} is missing")
        found = np.asarray(given[name])
        made[name] = np.ascontiguousarray(found, declared.dtype)
        if found.dtype != made[name].dtype and not np.array_equal(made[name], found):
            raise ShardError(f"column {name} has numbers that do not fit {declared.dtype}")
    return made


# --- rules ----------------------------------------------------------------------------------------


def between(low: int, high: int, allowed: str) -> Rule:
    """From the one to the other."""
    return lambda found, _: ((found < low) | (found > high), allowed)


def made_of(flags: int) -> Rule:
    """Nothing but some of these bits."""
    return lambda found, _: ((found & ~np.uint8(flags)) != 0, f"made of {flags}")


def a_count_of_symmetries(found: Array, bounds: Bounds) -> tuple[Array, str]:
    """At least the identity."""
    most = bounds.schema.max_symmetries
    return (found < 1) | (found > most), f"from 1 to {most}"


def of_the_header(found: Array, bounds: Bounds) -> tuple[Array, str] | None:
    """Iterations that the header speaks of."""
    if bounds.iterations is None:
        return None
    low, high = bounds.iterations
    return (found < low) | (found > high), f"from {low} to {high}"
