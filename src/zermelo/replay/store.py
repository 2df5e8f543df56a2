"""The directory of shards. Writers add to it, readers look again; they meet nowhere else.

A shard that is damaged is moved to `damaged/` beside a text with the reason, and is reported; the
others go on being used. One store belongs to one thread.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from zermelo.errors import UserError
from zermelo.files import TEMPORARY
from zermelo.games.protocol import Game
from zermelo.replay.columns import ShardError
from zermelo.replay.header import ShardHeader
from zermelo.replay.samples import Samples
from zermelo.replay.schema import Schema
from zermelo.replay.shard import (
    SUFFIX,
    Shard,
    other_game,
    parse_name,
    read_header,
    read_shard,
    reason_of,
)

DAMAGED = "damaged"


@dataclass(frozen=True)
class StoredShard:
    """A shard of the directory, by its header."""

    path: Path
    header: ShardHeader
    bytes: int


@dataclass(frozen=True)
class Damage:
    """A shard that is not used any more."""

    path: Path  # where it was
    reason: str
    moved_to: Path | None  # None if it could not be moved

    def __str__(self) -> str:
        """One sentence."""
        where = f"was moved to '{self.moved_to}'" if self.moved_to else "is left out"
        return f"{self.reason}; it {where}"


class ReplayStore:
    """The shards of one game in one directory, which need not exist yet."""

    def __init__(
        self,
        directory: str | os.PathLike[str],
        game: Game | Schema,
        on_damage: Callable[[Damage], None] | None = None,
    ) -> None:
        """`on_damage` hears of every shard that is set aside.

        Given the game and not its schema alone, samples are also held against the rules.
        """
        self.directory = Path(directory)
        self._game = game
        self.schema = game if isinstance(game, Schema) else Schema.of(game)
        self.damage: list[Damage] = []
        self._on_damage = on_damage
        self._known: dict[str, tuple[tuple[int, int], StoredShard]] = {}  # by name; version first
        self._left_out: set[tuple[str, int, int]] = set()  # damaged, but could not be moved

    def shards(self) -> list[StoredShard]:
        """All of them, newest last: by iteration, then number, then worker. Reads headers only."""
        known: dict[str, tuple[tuple[int, int], StoredShard]] = {}
        for entry in self._entries():
            try:
                status = entry.stat()
            except FileNotFoundError:
                continue
            version = (status.st_mtime_ns, status.st_size)
            if (entry.name, *version) in self._left_out:
                continue
            before = self._known.get(entry.name)
            if before is not None and before[0] == version:
                known[entry.name] = before
                continue
            header = self._header(Path(entry.path))
            if header is not None:
                known[entry.name] = version, StoredShard(Path(entry.path), header, status.st_size)
        self._known = known
        return sorted((shard for _, shard in known.values()), key=_age)

    def read(self, shard: StoredShard) -> Samples | None:
        """Its samples, all checked; None if it is damaged (then it is set aside) or gone."""
        whole = self.read_whole(shard)
        return None if whole is None else whole.samples

    def read_whole(self, shard: StoredShard) -> Shard | None:
        """The same with the games that they are of."""
        try:
            return read_shard(shard.path, self._game)
        except FileNotFoundError:
            self._known.pop(shard.path.name, None)
        except ShardError as error:
            self._set_aside(shard.path, str(error))
        except UserError as error:
            self._leave_out(shard.path, str(error))
        return None

    def samples_of(self, iteration: int) -> int:
        """Samples in shards that were written during an iteration (T8)."""
        shards = self.shards()
        return sum(s.header.samples for s in shards if s.header.iteration == iteration)

    def next_number(self, worker: int) -> int:
        """A number that no shard of this worker has, whether damaged or not."""
        names = [entry.name for entry in self._entries()]
        damaged = self.directory / DAMAGED
        if damaged.is_dir():
            names += os.listdir(damaged)
        used = [parse_name(name[: name.find(SUFFIX) + len(SUFFIX)]) for name in names]
        return 1 + max((place[2] for place in used if place and place[1] == worker), default=-1)

    def remove_temporary(self) -> list[Path]:
        """Removes what killed writers left; to be called while nobody writes."""
        removed = []
        for path in self.temporary():
            path.unlink(missing_ok=True)
            removed.append(path)
        return removed

    def temporary(self) -> list[Path]:
        """Shards that were not finished."""
        return sorted(self.directory.glob(f".*{SUFFIX}.*{TEMPORARY}"))

    def _entries(self) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(self.directory) as entries:
                return [entry for entry in entries if parse_name(entry.name)]
        except FileNotFoundError:
            return []
        except OSError as error:
            reason = reason_of(error)
            raise UserError(f"'{self.directory}' cannot be read: {reason}") from error

    def _header(self, path: Path) -> ShardHeader | None:
        try:
            header = read_header(path)
            if reason := self._stray(path, header):  # sound, so it stays where it is
                raise UserError(f"'{path}' does not belong here: {reason}")
        except FileNotFoundError:
            return None
        except ShardError as error:
            self._set_aside(path, str(error))
            return None
        except UserError as error:
            self._leave_out(path, str(error))
            return None
        return header

    def _stray(self, path: Path, header: ShardHeader) -> str | None:
        if parse_name(path.name) != (header.iteration, header.worker, header.number):
            return "its name is not what its header says"
        return other_game(header.schema, self.schema)

    def _set_aside(self, path: Path, reason: str) -> None:
        place = self.directory / DAMAGED
        target, again = place / path.name, 0
        while target.exists():
            again += 1
            target = place / f"{path.name}.{again}"
        try:
            place.mkdir(exist_ok=True)
            os.rename(path, target)
        except FileNotFoundError:
            return  # somebody else has set it aside
        except OSError:
            self._leave_out(path, reason)
            return
        with contextlib.suppress(OSError):  # as on a full disk; it is reported all the same
            target.with_name(target.name + ".reason.txt").write_text(reason + "\n")
        self._report(Damage(path, reason, target))

    def _leave_out(self, path: Path, reason: str) -> None:
        try:
            status = path.stat()
        except OSError:
            return
        self._left_out.add((path.name, status.st_mtime_ns, status.st_size))
        self._report(Damage(path, reason, None))

    def _report(self, damage: Damage) -> None:
        self._known.pop(damage.path.name, None)
        self.damage.append(damage)
        if self._on_damage is not None:
            self._on_damage(damage)


def _age(shard: StoredShard) -> tuple[int, int, int]:
    return shard.header.iteration, shard.header.number, shard.header.worker
