"""Reads TOML with the standard library and writes flat tables of plain values."""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from zermelo.errors import UserError

Tables = dict[str, dict[str, Any]]


def read_toml(path: Path) -> dict[str, Any]:
    """The file's content; what is wrong with it is one sentence."""
    try:
        return tomllib.loads(path.read_bytes().decode())
    except FileNotFoundError:
        raise UserError(f"there is no file '{path}'") from None
    except IsADirectoryError:
        raise UserError(f"'{path}' is a directory, not a run file") from None
    except OSError as error:
        raise UserError(f"'{path}' cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UserError(f"{path} is not text in UTF-8, so it is no run file") from None
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{path} is not valid TOML: {error}") from None


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
