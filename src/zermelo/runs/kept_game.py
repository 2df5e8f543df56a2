"""The copy of a Python game that a run keeps: so that a moved file is no obstacle.

It lies in `game/` of the run with the file's name. What the game was like when the run began stands
in the run file's head, so that a changed game is told without running the copy. A copy is code like
any other: the run's mark (`trust`) covers its bytes. Files that the game imports are not kept.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from zermelo.config.run_config import GAME_KEYS
from zermelo.errors import UserError
from zermelo.files import read_plain, write_whole
from zermelo.games.protocol import Game
from zermelo.games.python_file import looks_like_file

FOLDER = "game"
SHA256, ACTIONS, SHAPE = GAME_KEYS


def file_of(name: str) -> Path:
    """The file that a game's text names."""
    return Path(name.partition(".py")[0] + ".py")


def copy_of(run: Path, name: str) -> Path:
    """Where the run keeps it."""
    return run / FOLDER / file_of(name).name


def head_of(name: str, game: Game) -> dict[str, Any]:
    """What a new run's head says of its game; nothing of a game that is no file's."""
    if not looks_like_file(name):
        return {}
    shape = "x".join(map(str, game.observation_shape))
    return {SHA256: sha256(file_of(name)), ACTIONS: int(game.num_actions), SHAPE: shape}


def keep(run: Path, name: str) -> None:
    """Copies the file as it is now; a run that has a copy keeps it."""
    if not looks_like_file(name) or copy_of(run, name).exists():
        return
    place = copy_of(run, name)
    place.parent.mkdir(exist_ok=True)
    write_whole(place, file_of(name).read_bytes())


def found_game(run: Path, name: str) -> str:
    """The text of the game that is there: as the run file names it, else the run's copy."""
    if not looks_like_file(name) or file_of(name).exists() or not copy_of(run, name).is_file():
        return name
    return str(copy_of(run, name).resolve()) + name.partition(".py")[2]


def copied_bytes(run: Path, name: str) -> bytes | None:
    """Of the copy; None without one."""
    if not looks_like_file(name):
        return None
    with contextlib.suppress(OSError):
        return read_plain(copy_of(run, name))
    return None


def sha256(path: Path) -> str:
    """Of a file; "" if it cannot be read."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


def refuse_changed(run: Path, head: Mapping[str, Any], name: str, game: Game) -> str:
    """A UserError that names what has changed of the game so that the run cannot go on.

    Returns a sentence if the file is another one and the run can go on, else "".
    """
    if not looks_like_file(name) or not head.get(SHA256):
        return ""
    parts = (
        ("num_actions", str(head.get(ACTIONS)), str(game.num_actions)),
        ("observation_shape", str(head.get(SHAPE)), "x".join(map(str, game.observation_shape))),
    )
    changed = [f"{what} was {was} and is now {now}" for what, was, now in parts if was != now]
    if changed:
        raise UserError(
            f"'{file_of(name)}' has changed since the run began: {', '.join(changed)}; the run has "
            f"the old file as '{copy_of(run, name)}'"
        )
    if sha256(file_of(name)) == head[SHA256]:
        return ""
    return (
        f"'{file_of(name)}' has changed since the run began, which is kept as "
        f"'{copy_of(run, name)}': samples and network are of the old rules"
    )
