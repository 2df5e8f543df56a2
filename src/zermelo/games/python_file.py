"""Loads a game from a Python file: `my_game.py`, `my_game.py:Class`, `my_game.py?size=4`.

The file is executed, as any script is. It is loaded once for each version of it, under a module
name made from its path, so that its states can be pickled between processes that loaded it too.
"""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

from zermelo.errors import GAME_MODULE, UserError
from zermelo.games.parameters import parse_settings, settings_of, split_spec
from zermelo.games.protocol import METHODS, Game, missing_members
from zermelo.games.supported import missing_property, not_supported

_loaded: dict[str, tuple[tuple[int, int], ModuleType]] = {}  # module name -> version, module


def looks_like_file(spec: str) -> bool:
    """Whether a game's text names a Python file."""
    place = spec.partition("?")[0]
    return place.endswith(".py") or ".py:" in place


def load_game(spec: str) -> Game:
    """The one game of the file, or the one that is named after the colon."""
    place, given = split_spec(spec)
    file_name, _, wanted = place.partition(".py")
    path, wanted = Path(file_name + ".py"), wanted.removeprefix(":")
    module = load_module(path)
    found = _named(module, wanted, path) if wanted else _only_game(module, path)
    if not isinstance(found, type):
        if given:
            raise UserError(f"{path}: '{next(iter(given))}' cannot be set in a finished object")
        return _checked(found, path)
    values = parse_settings(found.__name__, settings_of(found), given)
    try:
        made = found(**values)
    except Exception as error:
        raise UserError(f"{path}: {found.__name__}() failed: {_reason(error)}") from error
    return _checked(made, path)


def load_module(path: Path) -> ModuleType:
    """The executed file; the same module again while the file does not change."""
    if path.is_dir():
        raise UserError(f"'{path}' is a directory, not a Python file")
    if not path.exists():
        raise UserError(f"there is no file '{path}'")
    place = path.resolve()
    status = place.stat()
    version = (status.st_mtime_ns, status.st_size)
    digest = hashlib.blake2b(str(place).encode(), digest_size=6).hexdigest()
    name = GAME_MODULE + digest
    if name in _loaded and _loaded[name][0] == version:
        return _loaded[name][1]
    specification = importlib.util.spec_from_file_location(name, place)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[name] = module  # dataclasses and pickle look their module up by name
    try:
        specification.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        if isinstance(error, OSError) and error.filename == str(place):
            raise UserError(f"'{path}' cannot be read: {error.strerror}") from error
        raise UserError(f"{path} cannot be loaded: {_reason(error, place)}") from error
    _loaded[name] = (version, module)
    return module


def _only_game(module: ModuleType, path: Path) -> Any:
    """A finished game object if there is just one, else the one class with the six methods."""
    own = {
        name: value
        for name, value in vars(module).items()
        if not name.startswith("_") and not inspect.ismodule(value)
    }
    objects = {n: v for n, v in own.items() if not isinstance(v, type) and not missing_members(v)}
    own_objects = {n: v for n, v in objects.items() if type(v).__module__ == module.__name__}
    classes = {
        name: value
        for name, value in own.items()
        if isinstance(value, type) and value.__module__ == module.__name__
    }
    games = {n: v for n, v in classes.items() if not _missing_methods(v)}
    candidates = own_objects or games or objects
    if len({id(value) for value in candidates.values()}) == 1:
        return next(iter(candidates.values()))
    if candidates:
        names = ", ".join(sorted(candidates))
        raise UserError(f"{path} has several games, {names}: choose one with {path}:NAME")
    nearest = min(classes.values(), key=lambda c: len(_missing_methods(c)), default=None)
    if nearest is None or len(_missing_methods(nearest)) == len(METHODS):
        raise UserError(f"{path} has no game: no class with the methods {', '.join(METHODS)}")
    missing = ", ".join(_missing_methods(nearest))
    raise UserError(f"{path} has no game: the class {nearest.__name__} lacks {missing}")


def _named(module: ModuleType, name: str, path: Path) -> Any:
    if not hasattr(module, name):
        raise UserError(f"{path} has nothing called '{name}'")
    found = getattr(module, name)
    missing = _missing_methods(found) if isinstance(found, type) else missing_members(found)
    if missing:
        raise UserError(f"{path}: '{name}' is not a game: it lacks {', '.join(missing)}")
    return found


def _missing_methods(candidate: type) -> list[str]:
    def has(name: str) -> bool:
        method = getattr(candidate, name, None)
        return callable(method) and method is not getattr(Game, name)  # inherited, never written

    return [name for name in METHODS if not has(name)]


def _checked(made: Any, path: Path) -> Game:
    missing = missing_members(made)
    if missing:
        lacking = ", ".join(missing)
        raise UserError(f"{path}: {type(made).__name__} is not a game: it lacks {lacking}")
    why = missing_property(made)
    if why:
        raise UserError(f"{path} is {not_supported(why)}")
    game: Game = made
    return game


def _reason(error: BaseException, place: Path | None = None) -> str:
    """One line: the kind of error, what it says, and the file's line it comes from."""
    if isinstance(error, SyntaxError):
        where = "it" if error.lineno is None else f"line {error.lineno}"
        return f"{where} is not valid Python ({error.msg})"
    message = " ".join(str(error).split())
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == str(place)]
    line = f" in line {frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{line}" + (f": {message}" if message else "")
