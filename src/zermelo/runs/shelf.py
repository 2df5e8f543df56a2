"""All runs under some directories, listed quickly and again and again, however many there are.

Owns the ids by which viewers name runs, and what is remembered of files that did not change. A run
that cannot be read is a row with the reason. Reads only, takes no lock. One thread at a time.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from zermelo.config.run_config import read_run_file
from zermelo.errors import UserError
from zermelo.files import open_plain, parse_toml, read_plain
from zermelo.network.places import RUN_FILE
from zermelo.runs.lock import running_process
from zermelo.runs.status import STATUS_FILE, Status, number, read_status
from zermelo.train.metrics import LATE, METRICS_FILE

DEEPEST = 3  # directories below the ones given in which runs are looked for
MOST_RUNS = 5000
TAIL = 64 << 10  # bytes of metrics, in which the newest lines are
NEEDED = ("game", "loop")  # sections of the run file that a row tells of
_SECTION = re.compile(r"^\[", re.MULTILINE)
Version = tuple[int, int]  # of a file: when it was changed, its size


@dataclass(frozen=True)
class RunRow:
    """A run in a list. What is not known is None."""

    id: str  # for requests: letters, digits and dashes
    name: str  # of the directory
    path: Path
    error: str | None = None
    game: str | None = None
    made: str | None = None
    version: str | None = None
    iteration: int = 0
    iterations: int | None = None
    loss: float | None = None
    elo: float | None = None
    elo_margin: float | None = None
    seconds: float | None = None  # that processes worked on it
    changed: float = 0.0  # seconds since 1970
    alive: bool = False  # a process works on it
    status: Status | None = field(default=None, compare=False)


class Shelf:
    """The runs of directories given, each of which may be a run itself."""

    def __init__(self, directories: Sequence[Path]) -> None:
        self.directories = tuple(directories)
        self._heads: dict[Path, tuple[Version | None, dict[str, Any]]] = {}
        self._tails: dict[Path, tuple[Version | None, dict[str, Any]]] = {}
        self._paths: dict[str, Path] = {}

    def rows(self) -> list[RunRow]:
        """All runs as they are now; those that changed last come first."""
        found = self.paths()
        rows = [self._row(id_, path) for id_, path in found.items()]
        for kept in (self._heads, self._tails):
            for gone in kept.keys() - set(found.values()):
                del kept[gone]
        return sorted(rows, key=lambda row: (not row.alive, -row.changed, row.name))

    def paths(self) -> dict[str, Path]:
        """Where each run lies, by id."""
        self._paths = {self._id(path): path for path in self._places()}
        return self._paths

    def path(self, id_: str) -> Path:
        """Of a run by its id; a UserError if there is none. Looks again for a new one."""
        if id_ not in self._paths:
            self.paths()
        if id_ not in self._paths:
            raise UserError("there is no such run")
        return self._paths[id_]

    def row(self, id_: str) -> RunRow:
        """One of them."""
        return self._row(id_, self.path(id_))

    def _places(self) -> Iterator[Path]:
        seen: set[Path] = set()
        for directory in self.directories:
            for place in _runs_below(directory, DEEPEST):
                whole = place.resolve()
                if whole not in seen and len(seen) < MOST_RUNS:
                    seen.add(whole)
                    yield whole

    def _id(self, path: Path) -> str:
        """Of its name, for people, and of its place, so that no two are the same."""
        words = re.sub(r"[^a-z0-9]+", "-", path.name.lower()).strip("-")[:40] or "run"
        return f"{words}-{hashlib.sha256(os.fsencode(path)).hexdigest()[:6]}"

    def _row(self, id_: str, path: Path) -> RunRow:
        files = (path / RUN_FILE, path / "metrics" / METRICS_FILE, path / STATUS_FILE)
        head_version, tail_version, told = (_version(file) for file in files)
        head = _remembered(self._heads, path, head_version, _head)
        tail = _remembered(self._tails, path, tail_version, _tail)
        times = [version[0] for version in (head_version, tail_version, told) if version]
        status = read_status(path) if told else None
        alive = status.alive if status is not None else bool(running_process(path / "lock"))
        iteration = tail.get("iteration", 0)
        if status is not None and alive:
            iteration = max(iteration, status.iteration)
        return RunRow(
            id_, path.name, path, **head, **(tail | {"iteration": iteration}),
            changed=max(times, default=0) / 1e9, alive=alive, status=status,
        )  # fmt: skip


def _runs_below(directory: Path, depth: int) -> Iterator[Path]:
    if (directory / RUN_FILE).is_file():
        yield directory
        return
    if depth == 0:
        return
    with contextlib.suppress(OSError), os.scandir(directory) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            if not entry.name.startswith(".") and entry.is_dir():
                yield from _runs_below(Path(entry.path), depth - 1)


def _version(file: Path) -> Version | None:
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def _remembered(
    kept: dict[Path, tuple[Version | None, dict[str, Any]]],
    path: Path,
    version: Version | None,
    read: Any,
) -> dict[str, Any]:
    before = kept.get(path)
    if before is None or before[0] != version:
        before = kept[path] = version, read(path)
    return before[1]


def _head(run: Path) -> dict[str, Any]:
    """What a row tells of the run file."""
    try:
        head, tables = _quick(run / RUN_FILE) or read_run_file(run / RUN_FILE)
    except UserError as error:
        return {"error": str(error)}
    game, loop = (tables.get(name) for name in NEEDED)
    if not isinstance(game, dict) or not isinstance(loop, dict | None):
        return {"error": f"{RUN_FILE} has no section [game]"}
    iterations = (loop or {}).get("iterations")
    return {
        "game": str(game.get("name", "")) or None,
        "iterations": iterations if type(iterations) is int else None,
        "made": str(head["made"]) if "made" in head else None,
        "version": str(head["version"]) if "version" in head else None,
    }


def _quick(file: Path) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """The same as `read_run_file` of the sections that are needed; None if that is not so easy.

    A whole file takes milliseconds, and there may be a thousand of them.
    """
    try:
        text = read_plain(file).decode()
    except (OSError, UnicodeDecodeError):
        return None
    starts = [match.start() for match in _SECTION.finditer(text)]
    parts = [text[: starts[0]]] if starts else []
    parts += [
        text[start:end]
        for start, end in pairwise([*starts, len(text)])
        if text.startswith(tuple(f"[{name}]" for name in NEEDED), start)
    ]
    try:
        tables = parse_toml("".join(parts), file)
    except UserError:  # `read_run_file` says it with the right line
        return None
    if tables.get("format") != 1 or "game" not in tables:
        return None
    return {key: value for key, value in tables.items() if key not in NEEDED}, tables


def _tail(run: Path) -> dict[str, Any]:
    """What a row tells of the newest lines of the metrics."""
    found: dict[str, Any] = {}
    try:
        with open_plain(run / "metrics" / METRICS_FILE) as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - TAIL))
            lines = file.read().split(b"\n")[:-1]  # what follows the last line end is not whole
    except OSError:
        return found
    for line in reversed(lines):
        entry = _entry(line)
        if not entry:
            continue
        found.setdefault("iteration", entry["iteration"])
        late = entry.get(LATE)
        if "elo" not in found and isinstance(late, dict):
            found |= {
                "elo": number(late, "ladder.elo"),
                "elo_margin": number(late, "ladder.margin"),
            }
        if "loss" not in found and "train" in entry:
            found["loss"] = number(entry, "train", "training", "loss")
            found["seconds"] = number(entry, "seconds")
        if {"loss", "elo"} <= found.keys():
            break
    return found


def _entry(line: bytes) -> dict[str, Any]:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    whole = isinstance(entry, dict) and type(entry.get("iteration")) is int
    return entry if whole else {}
