"""Puts a pickled native state together again."""

from __future__ import annotations

from typing import Any


def restore_state(name: str, value: bytes) -> Any:
    """The state of the game called `name` whose value has these bytes."""
    from zermelo.games import game

    rules: Any = game(name)
    return rules._state_from_bytes(value)
