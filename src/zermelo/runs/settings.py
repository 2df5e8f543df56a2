"""A run's settings as viewers show and compare them: values by `section.key`, as the file has them.

Reads what any version wrote; whether it means something is not asked here.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from zermelo.config.run_config import read_run_file
from zermelo.network.places import RUN_FILE

Settings = dict[str, Any]  # plain values by section.key


def settings_of(run: Path) -> Settings:
    """All of them, in the order of the file; a UserError if it cannot be read."""
    _, tables = read_run_file(run / RUN_FILE)
    found: Settings = {}
    for section, table in tables.items():
        if not isinstance(table, dict):
            found[section] = table
            continue
        for key, value in table.items():
            plain = isinstance(value, bool | int | float | str)
            found[f"{section}.{key}"] = value if plain else str(value)
    return found


def differing(several: Sequence[Settings]) -> dict[str, list[Any]]:
    """The settings that are not the same in all, with each run's value; None where it has none."""
    names = dict.fromkeys(name for settings in several for name in settings)
    found = {name: [settings.get(name) for settings in several] for name in names}
    return {name: values for name, values in found.items() if _differ(values)}


def _differ(values: list[Any]) -> bool:
    """True is not 1 here; 1 is 1.0, as older files wrote it."""
    first = values[0]
    return any(
        value != first or isinstance(value, bool) != isinstance(first, bool) for value in values
    )
