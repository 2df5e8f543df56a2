"""Options of the stages that are written in Python: typed once, as fields of a frozen dataclass.

A field made by `option` carries its range and its sentence. From it come validation, the keys of a
run file, `--set` and the tables of the docs; the core's option structs have such tables of their
own (`SearchOptions.table()`), with the same keys.
"""

from __future__ import annotations

import dataclasses
import math
import typing
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from zermelo.errors import UserError, nearest

Options = TypeVar("Options")
_SPELLED = {"on": True, "off": False, "true": True, "false": False}


def option(
    default: Any,
    doc: str,
    *,
    low: float = -math.inf,
    high: float = math.inf,
    choices: Sequence[str] = (),
    technique: str = "",
    alphazero: str = "",
) -> Any:
    """A field of an options class; bounds are inclusive, `technique` is a row of the index."""
    metadata = {
        "doc": doc,
        "low": low,
        "high": high,
        "choices": tuple(choices),
        "technique": technique,
        "alphazero": alphazero,
    }
    return dataclasses.field(default=default, metadata=metadata)


def value_text(value: bool | int | float | str) -> str:
    """An option's value as people write it."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:g}" if isinstance(value, float) else str(value)


def option_table(kind: type) -> list[dict[str, Any]]:
    """One row per option, with the keys that the core's tables have."""
    return [
        {"name": field.name, "default": field.default, **field.metadata}
        for field in dataclasses.fields(kind)
    ]


def make_options(kind: type[Options], values: Mapping[str, Any], place: str) -> Options:
    """The options with some values changed; `place` ("[train]") is for the message.

    Values may be of the field's type or text that spells it.
    """
    types = typing.get_type_hints(kind)
    rows = {row["name"]: row for row in option_table(kind)}
    made: dict[str, Any] = {}
    for name, value in values.items():
        if name not in rows:
            raise UserError(f"{place}: there is no option '{name}'; {nearest(name, rows)}")
        made[name] = _checked(rows[name], types[name], value, place)
    return kind(**made)


def _checked(row: Mapping[str, Any], kind: type, value: Any, place: str) -> Any:
    made = _as_type(value, kind)
    low, high, choices = row["low"], row["high"], row["choices"]
    if choices:
        allowed = "one of " + ", ".join(choices)
        good = made in choices
    elif kind is bool:
        allowed, good = "on or off", made is not None
    elif kind is str:
        allowed, good = "text", made is not None
    else:
        allowed = ("a whole number" if kind is int else "a number") + _range(low, high)
        good = made is not None and low <= made <= high
    if not good:
        raise UserError(f"{place}: {row['name']} is {value!r}, not {allowed}")
    return made


def _as_type(value: Any, kind: type) -> Any:
    """The value as the type says, or None if it cannot be."""
    if kind is bool:
        return value if isinstance(value, bool) else _SPELLED.get(str(value).lower())
    if kind is str:
        return value if isinstance(value, str) else None
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
        if kind is int:
            return (
                int(value)
                if isinstance(value, str)
                else int(number)
                if number == int(number)
                else None
            )
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _range(low: float, high: float) -> str:
    if math.isinf(low) and math.isinf(high):
        return ""
    if math.isinf(high):
        return f" of at least {low:g}"
    if math.isinf(low):
        return f" of at most {high:g}"
    return f" from {low:g} to {high:g}"
