"""What a person means by the target of a run: a run, a run file, a preset or a game.

Reads only; `opening` makes and opens runs.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from zermelo.config import find_preset, read_run_file
from zermelo.config.presets import preset_names
from zermelo.errors import UserError, nearest
from zermelo.games import game as find_game
from zermelo.games.parameters import split_spec
from zermelo.games.python_file import looks_like_file
from zermelo.games.registry import game_names
from zermelo.games.registry import names_game as known_game
from zermelo.runs.directory import is_run


def existing_run(target: str) -> Path | None:
    """The run's directory if the target is one, or the run file in it."""
    path = Path(target)
    if path.is_dir():
        if is_run(path):
            return path
        if names_game(target):  # which happens to be a directory's name too
            return None
        raise UserError(f"'{target}' is not a run: it has no run.toml")
    if path.name == "run.toml" and is_run(path.parent) and (path.parent / "lock").exists():
        return path.parent
    return None


def names_game(target: str) -> bool:
    """Whether the target is a game or a preset."""
    try:
        tables_for(target)
    except UserError:
        return False
    return True


def tables_for(target: str) -> tuple[dict[str, Any], str]:
    """The options that a run file, a preset or a game's name stand for, and where they are from."""
    if target.endswith(".toml"):
        return read_run_file(Path(target))[1], target
    preset = find_preset(target)
    if preset is not None:
        return read_run_file(preset)[1], f"preset {target}"
    if not looks_like_file(target) and ("/" in target or "\\" in target):
        raise UserError(f"there is no run, run file or game '{target}'")
    refuse_unknown(target)
    find_game(target)
    return {"game": {"name": target}}, ""


def refuse_unknown(target: str) -> None:
    """A name that is no game's, with the game or preset that was probably meant."""
    name = split_spec(target)[0]
    if not looks_like_file(target) and not known_game(target):
        hint = nearest(name, {*game_names(), *preset_names()})
        raise UserError(f"there is no game or preset '{name}'; {hint}")


def run_name(target: str) -> str:
    """A directory's name for a new run."""
    path = target.partition(".py")[0] if looks_like_file(target) else target
    return re.sub(r"[^A-Za-z0-9]+", "-", Path(path).name.removesuffix(".toml")).strip("-")
