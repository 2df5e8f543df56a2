"""Writes flat tables of plain values as TOML; `zermelo.files` reads it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

Tables = dict[str, dict[str, Any]]


def toml_text(
    head: Mapping[str, Any], tables: Mapping[str, Mapping[str, Any]], notes: Mapping[str, str]
) -> str:
    """Keys before any table, then the tables; `notes` are remarks by `section.key`."""
    lines = [f"{key} = {toml_value(value)}" for key, value in head.items()]
    for section, table in tables.items():
        lines += ["", f"[{section}]"]
        for key, value in table.items():
            line = f"{key} = {toml_value(value)}"
            note = notes.get(f"{section}.{key}", "")
            lines.append(f"{line:<34} # {note}" if note else line)
    return "\n".join(lines) + "\n"


def toml_value(value: Any) -> str:
    """One plain value as TOML spells it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else str(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    raise TypeError(f"{value!r} is not a plain value")
