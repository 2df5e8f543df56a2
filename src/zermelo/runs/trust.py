"""Whether what a run file names may be run: a game's Python file, and programs as opponents.

Whoever receives a run must be able to look at it safely. A mark beside the run file, made of just
these texts and the bytes of the run's copy of its game with a secret of this user on this machine,
tells runs made here from received ones. Does not run anything, and knows nothing of what is typed
on a command line.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import secrets
from functools import cache
from pathlib import Path

from zermelo.config import RunConfig, read_run_file
from zermelo.config.presets import preset_directories
from zermelo.errors import UserError
from zermelo.files import read_plain, write_whole
from zermelo.games.python_file import looks_like_file
from zermelo.network.places import RUN_FILE
from zermelo.players.registry import ENGINE
from zermelo.runs.kept_game import copied_bytes, found_game

MARK = "made_here"  # beside run.toml
KEY_BYTES = 32


def named_code(config: RunConfig) -> list[str]:
    """What training would run because the options say so: texts of a file, then of programs.

    And the place that it would copy the run to, which is as bad.
    """
    found = [config.game_name] if looks_like_file(config.game_name) else []
    opponents = config.evaluate.opponents.split()
    found += [text for text in opponents if text.startswith(ENGINE)]
    return found + ([config.cluster.copy_to] if config.cluster.copy_to else [])


def strange_code(config: RunConfig, run: Path | None = None) -> list[str]:
    """The part of it that is not in our own presets; nothing if `run`, its directory, is marked."""
    if run is not None and is_marked(run, config):
        return []
    return [text for text in named_code(config) if text not in preset_engines()]


@cache
def preset_engines() -> frozenset[str]:
    """The programs that come up in run files of this package."""
    found: set[str] = set()
    for place in preset_directories():
        for file in place.glob("*.toml"):
            evaluate = read_run_file(file)[1].get("evaluate", {})
            found.update(str(evaluate.get("opponents", "")).split())
    return frozenset(text for text in found if text.startswith(ENGINE))


def refuse_strange_game(run: Path, config: RunConfig, whose: str = "") -> None:
    """A UserError if the rules are a file's and the run was neither made nor trusted here.

    `whose` is what a person named, if not the run.
    """
    refuse(
        f"'{whose or run}'",
        [text for text in strange_code(config, run) if text == config.game_name],
    )


def refuse(whose: str, strange: list[str]) -> None:
    """A UserError that says what would be run, if anything, and how to allow it."""
    if strange:
        listing = " and ".join(map(deed, strange))
        raise UserError(
            f"{whose} was not made here by you and would {listing}: look at that first, then "
            "allow it with --trust"
        )


def deed(text: str) -> str:
    """What is done with a text of `named_code`."""
    return f"write to '{text}'" if "://" in text else f"run '{text}'"


def mark(run: Path, config: RunConfig) -> None:
    """Says that this user runs what the run names; no mark without a home for the secret."""
    if not named_code(config):
        return
    with contextlib.suppress(OSError):
        write_whole(run / MARK, _digest(_secret(make=True), run, config), lasting=False)


def is_marked(run: Path, config: RunConfig) -> bool:
    """Whether `mark` was called for a run that names the same code, by this user here."""
    try:
        found, key = read_plain(run / MARK), _secret(make=False)
    except OSError:
        return False
    return hmac.compare_digest(found, _digest(key, run, config))


def _digest(key: bytes, run: Path, config: RunConfig) -> bytes:
    """Of the texts, as the run file has them, and of the bytes of the run's copy of the game."""
    named = named_code(config)
    if config.game_name in named:
        named[named.index(config.game_name)] = _name_on_disk(run, config.game_name)
    copied = copied_bytes(run, config.game_name)
    if copied is not None:
        named.append(f"copy {hashlib.sha256(copied).hexdigest()}")
    text = "\n".join(named).encode(errors="surrogateescape")
    return hmac.new(key, text, hashlib.sha256).hexdigest().encode()


def _name_on_disk(run: Path, name: str) -> str:
    """What the run file says where the copy stands in for a file that is gone."""
    try:
        written = str(read_run_file(run / RUN_FILE)[1].get("game", {}).get("name", ""))
    except UserError:
        return name
    return written if written and found_game(run, written) == name else name


def _secret(make: bool) -> bytes:
    """The user's own random bytes, which never leave the machine; OSError without them."""
    place = _state_directory() / "key"
    if make and not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        aside = place.with_name(f".key.{os.getpid()}")
        with open(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(secrets.token_bytes(KEY_BYTES))
        with contextlib.suppress(FileExistsError):
            os.link(aside, place)  # unlike a renaming, leaves the key of a process that was first
        aside.unlink()
    found = place.read_bytes()
    if len(found) != KEY_BYTES:
        raise OSError(f"'{place}' is no key")
    return found


def _state_directory() -> Path:
    given = os.environ.get("XDG_STATE_HOME", "")
    base = Path(given) if os.path.isabs(given) else Path(os.path.expanduser("~/.local/state"))
    return base / "zermelo"
