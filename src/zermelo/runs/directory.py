"""A run on disk: where its parts lie, how it is made, opened, changed and locked.

run.toml      every option, with the version and commit that made it
lock          held by the process that works on the run
replay/       shards of samples                     checkpoints/  networks with training state
selfplay/     games under way (repeatable runs)     metrics/      JSONL and TensorBoard
ladder/       results between checkpoints           log.txt       what happened
status.json   what the process at work does now     made_here     see `trust`
game/         a copy of a Python game's file
"""

from __future__ import annotations

import shutil
import time
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from zermelo.config.run_config import (
    RunConfig,
    differences,
    new_head,
    read_run_file,
    refuse_incompatible,
)
from zermelo.config.toml_file import Tables
from zermelo.errors import UserError
from zermelo.files import TEMPORARY, append_plain, refuse_special, write_whole
from zermelo.games.protocol import Game
from zermelo.games.python_file import looks_like_file
from zermelo.games.registry import kind_of
from zermelo.network.places import RUN_FILE
from zermelo.runs import kept_game
from zermelo.runs.lock import RunLock
from zermelo.runs.trust import is_marked, mark
from zermelo.train.origin import Origin

PARTS = (
    RUN_FILE, "lock", "replay", "checkpoints", "selfplay", "metrics", "ladder", "log.txt",
    "status.json", "made_here", kept_game.FOLDER,
)  # fmt: skip
RUNS = Path("runs")  # where runs are made if nobody names a directory


class Run:
    """A run's directory. `lock` before anything is written."""

    def __init__(self, path: Path, config: RunConfig, head: dict[str, Any]) -> None:
        self.path = path
        self.config = config
        self.head = head
        self.new = False  # made by this process
        self._named = config.game_name  # the game in the run file, where its copy may stand in
        self._lock: RunLock | None = None

    @classmethod
    def create(cls, path: Path, config: RunConfig, origin: Origin | None = None) -> Run:
        """A new run, locked, that begins with a network; the directory must be new or empty."""
        config.game()
        try:
            path.mkdir(parents=True, exist_ok=True)
            found = sorted(entry.name for entry in path.iterdir())
        except FileExistsError:
            raise UserError(f"'{path}' is a file, not a directory for a run") from None
        except OSError as error:
            raise UserError(f"the run '{path}' cannot be made: {error.strerror}") from None
        others = [name for name in found if not is_begun(name)]
        if others:
            raise UserError(f"'{path}' is not a run and not empty: it has '{others[0]}'")
        head = new_head(time.strftime("%Y-%m-%d %H:%M:%S"))
        head |= kept_game.head_of(config.game_name, config.game())
        run = cls(path, config, head | (origin.head() if origin else {}))
        run.new = True
        run.lock()
        run.write_file()
        run.keep_game()
        run.log(f"made by zermelo {run.head['version']} {run.head['commit']}".rstrip())
        return run

    @classmethod
    def open(cls, path: Path) -> Run:
        """The run that is there, not locked."""
        if not path.is_dir():
            raise UserError(f"there is no run '{path}'")
        if not (path / RUN_FILE).exists():
            raise UserError(f"'{path}' is not a run: it has no {RUN_FILE}")
        head, tables = read_run_file(path / RUN_FILE)
        config = RunConfig.from_tables(tables, str(path / RUN_FILE))
        there = kept_game.found_game(path, config.game_name)
        run = cls(path, replace(config, game_name=there), head)
        run._named = config.game_name
        return run

    def keep_game(self) -> None:
        """A copy of the game's own file, if it has one."""
        try:
            kept_game.keep(self.path, self.config.game_name)
            mark(self.path, self.config)
        except OSError as error:
            raise UserError(f"'{self.path}' cannot keep its game: {error.strerror}") from None

    @property
    def plays_copy(self) -> bool:
        """Whether the game's own file is gone."""
        name = self.config.game_name
        copied = kept_game.copy_of(self.path, name)
        return looks_like_file(name) and kept_game.file_of(name) == copied.resolve()

    def check_unchanged(self) -> str:
        """Refuses to go on with a game of other actions or observations than the run began with.

        Returns a sentence if its file was changed otherwise. Runs the file.
        """
        name = self.config.game_name
        return kept_game.refuse_changed(self.path, self.head, name, self.config.game())

    def check_changed(self, game: Game) -> str:
        """The same for rules that are there, of a run made or trusted here."""
        if not is_marked(self.path, self.config):
            return ""
        return kept_game.refuse_changed(self.path, self.head, self.config.game_name, game)

    def check_game(self, game: Game) -> None:
        """Refuses a game that the run is not of.

        A received run's own file is not run for that: its samples and networks are held against
        the game when they are read.
        """
        named = self.config.game_name
        if looks_like_file(named) and not is_marked(self.path, self.config):
            if kind_of(game):
                raise UserError(f"'{self.path}' is a run of {named}, not of {game.name}")
            return
        there = self.config.game().name
        if there != game.name:
            raise UserError(f"'{self.path}' is a run of {there}, not of {game.name}")

    def change(self, changes: Tables, origin: str = "") -> list[str]:
        """Sets options anew and writes them down; what cannot change is refused.

        Returns `section.key: old -> new` for each option that changed.
        """
        config = self.config.changed(changes, origin)
        refuse_incompatible(self.config, config, str(self.path))
        changed = list(differences(self.config, config))
        if changed:
            self.config = config
            self.write_file()
            for line in changed:
                self.log(f"option {line}")
        return changed

    def lock(self) -> None:
        """Keeps other processes out; a UserError names the one that is in."""
        if self._lock is not None:
            return
        refuse_special(self.log_file)
        self._refuse_links()
        self._lock = RunLock(self.path / "lock")

    def _refuse_links(self) -> None:
        """A received run may have links; what is written through them, or removed, is others'."""
        places = [self.path / part for part in PARTS if part != "lock"]  # which looks for itself
        for directory in (self.metrics, self.checkpoints, self.selfplay, self.path / "ladder"):
            if directory.is_dir():
                places += directory.iterdir()
        for place in places:
            if place.is_symlink():
                raise UserError(
                    f"'{place}' is a link: a run that is worked on has none; put what it leads to "
                    "in its place"
                )

    def unlock(self) -> None:
        """Lets others in."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def check_lock(self) -> None:
        """Before something is removed or replaced: a UserError if the run was taken from us."""
        if self._lock is None or not self._lock.ours:
            raise UserError(
                f"the run '{self.path}' is not this process's any more: its lock was removed or "
                "replaced; nothing more is written"
            )

    def keep_file(self) -> bool:
        """Writes the run file again if somebody removed it; whether that was so."""
        if is_run(self.path):
            return False
        self.write_file()
        return True

    def remove(self) -> None:
        """All of it; for a run that could not be begun."""
        shutil.rmtree(self.path, ignore_errors=True)

    @property
    def origin(self) -> Origin | None:
        """The network that the run began with; None if it began from nothing."""
        return Origin.of_head(self.head)

    @property
    def lock_descriptor(self) -> int:
        """For processes that work on the run too."""
        assert self._lock is not None, "the run is not locked"
        return self._lock.descriptor

    def write_file(self) -> None:
        """The run file, whole or as it was. It names the game's own file, though that be gone."""
        config = replace(self.config, game_name=self._named) if self.plays_copy else self.config
        try:
            write_whole(self.path / RUN_FILE, config.to_toml(self.head).encode())
            mark(self.path, self.config)
        except OSError as error:
            place = self.path / RUN_FILE
            raise UserError(f"'{place}' cannot be written: {error.strerror}") from None

    def log(self, line: str) -> None:
        """Adds a dated line to the log; a log that cannot be written is no reason to stop."""
        try:
            dated = f"{time.strftime('%Y-%m-%d %H:%M:%S')} {line}\n"
            with append_plain(self.log_file) as file:
                file.write(dated.encode("utf-8", "backslashreplace"))
        except OSError:
            pass

    @property
    def name(self) -> str:
        """Of the directory."""
        return self.path.name

    @property
    def replay(self) -> Path:
        """Shards."""
        return self.path / "replay"

    @property
    def checkpoints(self) -> Path:
        """Networks and training states."""
        return self.path / "checkpoints"

    @property
    def metrics(self) -> Path:
        """JSONL and TensorBoard."""
        return self.path / "metrics"

    @property
    def selfplay(self) -> Path:
        """Games under way of a repeatable run."""
        return self.path / "selfplay"

    @property
    def log_file(self) -> Path:
        """What happened."""
        return self.path / "log.txt"


def is_begun(name: str) -> bool:
    """Whether a file is what `create` leaves when it is killed; the loop removes it."""
    return name == "lock" or fnmatch(name, f".{RUN_FILE}.*{TEMPORARY}")


def is_run(path: Path) -> bool:
    """Whether a directory looks like a run."""
    return (path / RUN_FILE).is_file()


def refuse_own_part(path: Path) -> None:
    """A UserError if the path is, or lies in, what a run keeps for itself: nobody writes there."""
    place = path.resolve()
    for run in place.parents:
        if is_run(run) and place.relative_to(run).parts[0] in PARTS:
            raise UserError(f"'{path}' is a part of the run '{run}': name another place")


def new_run_path(name: str, below: Path = RUNS) -> Path:
    """`runs/NAME-20250102-030405`, with a number if that is taken."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    path, number = below / f"{name}-{stamp}", 1
    while path.exists():
        number += 1
        path = below / f"{name}-{stamp}-{number}"
    return path
