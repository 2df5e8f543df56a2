"""Finds a game by its text: `connect4`, `hex?size=7&swap=on`, `my_game.py`, `open_spiel:y`.

Knows which native games there are and what can be set in them, nothing of their rules.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from zermelo import _core
from zermelo.errors import UserError, nearest
from zermelo.games.open_spiel import PREFIX, open_spiel_game
from zermelo.games.parameters import Setting, parse_settings, settings_of, split_spec
from zermelo.games.protocol import Game, missing_members
from zermelo.games.python_file import load_game, looks_like_file
from zermelo.games.supported import refuse_unsupported


@dataclass(frozen=True)
class GameEntry:
    """One game that can be asked for by name."""

    name: str
    make: Callable[..., Game]
    summary: str = ""
    settings: tuple[Setting, ...] = ()


def _native(
    name: str, class_name: str, summary: str, settings: tuple[Setting, ...] = ()
) -> GameEntry:
    def make(**values: Any) -> Game:
        made: Game = getattr(_core, class_name)(**values)
        return made

    return GameEntry(name, make, summary, settings)


_NATIVE = (
    _native("tictactoe", "TicTacToe", "three in a row on 3 x 3"),
    _native("connect4", "Connect4", "four in a row, stones fall, 7 columns of 6"),
    _native(
        "othello",
        "Othello",
        "turn over what you enclose",
        (Setting("size", 8, int, choices=(6, 8)),),
    ),
    _native(
        "hex",
        "Hex",
        "join your two sides",
        (Setting("size", 11, int, low=3, high=11), Setting("swap", False)),
    ),
    _native(
        "checkers",
        "Checkers",
        "English draughts on 8 x 8",
        (Setting("quiet_plies", 80, int, low=1, high=200),),
    ),
    _native(
        "chess",
        "Chess",
        "FIDE rules, or Chess960",
        (
            Setting("chess960", False),
            Setting(
                "encoder",
                "compact",
                str,
                choices=("compact", "lc0", "lc0_3", "lc0_4", "lc0_5", "lc0_132", "lc0_133"),
            ),
            Setting("mirror", False),
        ),
    ),
)
_entries: dict[str, GameEntry] = {entry.name: entry for entry in _NATIVE}


def game(spec: str | os.PathLike[str] | Game) -> Game:
    """The game of that name, of that file (`my_game.py`, `my_game.py:Class`), or the object itself.

    Settings follow a question mark: `othello?size=6`, `my_game.py?size=4`.
    """
    if not isinstance(spec, str | os.PathLike):
        missing = missing_members(spec)
        if missing:
            raise UserError(f"{spec!r} is not a game: it has no {' and no '.join(missing)}")
        if isinstance(spec, type):
            raise UserError(f"{spec.__name__} is a class, not a game: pass {spec.__name__}()")
        refuse_unsupported(spec)
        return spec
    text = os.fspath(spec)
    if looks_like_file(text) and not text.startswith(PREFIX):
        return load_game(text)
    return named_game(text)


@cache  # games hold rules and no position, so one object serves everybody
def named_game(spec: str) -> Game:
    """The game of that name, settings included; never a file's, so the text may be a stranger's."""
    if spec.startswith(PREFIX):
        return open_spiel_game(spec)
    name, given = split_spec(spec)
    entry = _entries.get(name)
    if entry is None:
        raise UserError(f"there is no game '{name}'; {nearest(name, _entries)}")
    return entry.make(**parse_settings(name, entry.settings, given))


def related_game(spec: str, like: Game) -> Game:
    """The game of that name; chess is seen by the encoder of `like`, if that is chess too."""
    name, _, settings = spec.partition("?")
    own, _, own_settings = like.name.partition("?")
    if name == own == "chess":
        given = [part for part in settings.split("&") if part]
        names = {part.partition("=")[0] for part in given}
        for part in own_settings.split("&"):
            key = part.partition("=")[0]
            if key in ("encoder", "mirror") and key not in names:
                given.append(part)
        spec = "chess" + ("?" + "&".join(given) if given else "")
    return game(spec)


def kind_of(game: Game) -> str:
    """A native game's name without its settings; "" for any other game."""
    native = type(game).__module__ == _core.__name__
    return game.name.partition("?")[0] if native else ""


def names_game(spec: str) -> bool:
    """Whether the text begins as a known game's does; its settings may be wrong all the same."""
    return spec.startswith(PREFIX) or split_spec(spec)[0] in _entries


def game_names() -> list[str]:
    """The names that `game` knows, native games first."""
    return list(_entries)


def game_entries() -> list[GameEntry]:
    """The games that `game` knows by name, with what can be set in them."""
    return list(_entries.values())


def register(name: str, factory: Callable[..., Game], summary: str = "") -> None:
    """Makes `game(name)` call `factory`; its keyword arguments become settings."""
    if not name.isidentifier():
        raise UserError(f"'{name}' cannot be a game's name: use letters, digits and _")
    if name in _entries:
        raise UserError(f"there already is a game '{name}'")
    _entries[name] = GameEntry(name, factory, summary, settings_of(factory))
