"""The sections of a run file and the option classes behind them.

An option class is a dataclass made with `zermelo.options`, or one of the core with the same table.
Knows neither files nor runs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import cache
from typing import Any

from zermelo import _core
from zermelo.config.options import ClusterOptions, GameOptions, LoopOptions, NetworkSettings
from zermelo.errors import REFUSALS, UserError, nearest
from zermelo.options import make_options, option_table

# Set by the loop from its own seed, so a run file does not have them.
DERIVED = {("search", "seed"): "loop.seed", ("selfplay", "seed"): "loop.seed"}


@cache
def section_kinds() -> dict[str, tuple[type, ...]]:
    """The option classes of each section, in the order of a run file."""
    from zermelo.replay import ReplayOptions
    from zermelo.selfplay.options import PoolOptions
    from zermelo.train import TrainOptions
    from zermelo.yardsticks.options import EvaluateOptions

    return {
        "game": (GameOptions,),
        "network": (NetworkSettings,),
        "search": (_core.SearchOptions,),
        "selfplay": (_core.SelfPlayOptions, PoolOptions),
        "replay": (ReplayOptions,),
        "train": (TrainOptions,),
        "loop": (LoopOptions,),
        "evaluate": (EvaluateOptions,),
        "cluster": (ClusterOptions,),
    }


def rows_of(section: str) -> list[dict[str, Any]]:
    """One row per option of the section: name, default, low, high, choices, technique, doc."""
    rows = [row for kind in section_kinds()[section] for row in rows_of_kind(kind)]
    return [row for row in rows if (section, row["name"]) not in DERIVED]


def rows_of_kind(kind: type) -> list[dict[str, Any]]:
    """The table of one option class."""
    table = getattr(kind, "table", None)
    return option_table(kind) if table is None else list(table())


def make_section(section: str, values: Mapping[str, Any], origin: str) -> tuple[Any, ...]:
    """One object per option class of the section; `origin` names the file or flag in messages."""
    place = f"{origin}: [{section}]" if origin else f"[{section}]"
    names = {row["name"] for row in rows_of(section)}
    for key in values:
        if key not in names:
            raise UserError(f"{place}: {unknown_key(section, key, names)}")
    made = []
    for kind in section_kinds()[section]:
        mine = {row["name"] for row in rows_of_kind(kind)}
        made.append(_make(kind, {k: v for k, v in values.items() if k in mine}, place))
    return tuple(made)


def unknown_key(section: str, key: str, names: set[str]) -> str:
    """What to say about a key that the section does not have."""
    if (section, key) in DERIVED:
        return f"'{key}' follows from {DERIVED[section, key]}: set that"
    return f"there is no option '{key}'; {nearest(key, names)}"


def values_of(section: str, made: tuple[Any, ...]) -> dict[str, Any]:
    """Every option of the section, as a run file states it."""
    values: dict[str, Any] = {}
    for options in made:
        native = getattr(options, "to_dict", None)
        values |= dataclasses.asdict(options) if native is None else dict(native())
    return {row["name"]: values[row["name"]] for row in rows_of(section)}


def _make(kind: type, values: Mapping[str, Any], place: str) -> Any:
    if dataclasses.is_dataclass(kind):
        return make_options(kind, values, place)
    try:
        return kind(**values)
    except (*REFUSALS, TypeError) as error:
        raise UserError(f"{place}: {error}") from None
