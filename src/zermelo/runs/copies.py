"""A run's copy at another place, any URL that fsspec knows: sent as the run grows, brought back.

A thread looks at the run's directory and sends each shard and each checkpoint once, whole: what has
its name there is finished. What an upload leaves torn is found later by the formats' checksums. The
directory on the disk stays the run; locks and renames, which object stores lack, stay there too.
"""

from __future__ import annotations

import importlib.util
import shutil
import threading
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

from zermelo.errors import UserError
from zermelo.network.places import MANIFEST_FILE, RUN_FILE
from zermelo.runs.directory import RUNS, Run, is_run
from zermelo.runs.kept_game import FOLDER
from zermelo.runs.trust import mark, named_code

LOOK_EVERY = 2.0  # seconds
GROWING = ("replay", "checkpoints")  # whose files never change once they are there
CHANGING = (
    RUN_FILE,
    "log.txt",
    "metrics/metrics.jsonl",
    "ladder",
    FOLDER,
)  # sent with each checkpoint
SIZE = "size"


def is_url(text: str) -> bool:
    """`s3://bucket/run`, not a directory."""
    return "://" in text


def place_of(url: str) -> Path:
    """Where a run is brought to if nobody names a directory."""
    return RUNS / PurePosixPath(url.rstrip("/")).name


def open_place(url: str) -> tuple[Any, str]:
    """Its file system and the path there; a UserError if there is no such thing."""
    if importlib.util.find_spec("fsspec") is None:
        raise UserError(f"'{url}' needs the package 'fsspec': install zermelo[cluster]")
    import fsspec

    try:
        system, path = fsspec.core.url_to_fs(url)
    except (ImportError, ValueError, OSError) as error:
        raise UserError(f"'{url}' cannot be used: {_line(error)}") from error
    return system, str(path).rstrip("/")


class Copies:
    """Keeps one run's copy up to date. `look` is of one thread; files are sent in its order."""

    def __init__(self, run: Path, url: str) -> None:
        self._run = run
        self._url = url
        self._system, self._path = open_place(url)
        self._there: dict[str, int] = {}  # whole files that were sent, or found there, by size
        self._checkpoint = ""  # the newest that is there whole

    def begin(self) -> None:
        """Refuses the place of another run, and learns what is there already."""
        try:
            found = self._system.find(self._path, detail=True)
            there = {_inside(self._path, name): int(facts[SIZE]) for name, facts in found.items()}
            if RUN_FILE in there:
                told = self._system.cat_file(f"{self._path}/{RUN_FILE}")
                self._refuse_other(told)
        except FileNotFoundError:
            return
        except OSError as error:
            raise UserError(f"'{self._url}' cannot be read: {_line(error)}") from error
        self._there = {name: size for name, size in there.items() if name.startswith(GROWING)}

    def look(self, last: bool = False) -> None:
        """Sends what is new and removes what is gone; `last` sends what changes, in any case."""
        here = {name: size for part in GROWING for name, size in self._files(part)}
        for name in _in_order(here):
            if self._there.get(name) != here[name]:
                self._send(name)
                self._there[name] = here[name]
        manifests = [name for name in here if name.endswith(f"/{MANIFEST_FILE}")]
        newest = max(manifests, default="")
        if last or newest != self._checkpoint:
            for part in CHANGING:
                for name, _ in self._files(part):
                    self._send(name)
            self._checkpoint = newest
        for name in [name for name in self._there if name not in here]:
            if self._system.exists(f"{self._path}/{name}"):
                self._system.rm_file(f"{self._path}/{name}")
            del self._there[name]

    def _files(self, part: str) -> Iterator[tuple[str, int]]:
        """Finished files by name and size, of a directory or one alone."""
        place = self._run / part
        for path in [place] if place.is_file() else sorted(place.rglob("*")):
            name = path.relative_to(self._run)
            if not path.is_file() or any(step.startswith(".") for step in name.parts):
                continue
            yield name.as_posix(), path.stat().st_size

    def _send(self, name: str) -> None:
        try:
            content = (self._run / name).read_bytes()
        except FileNotFoundError:  # removed meanwhile
            return
        place = f"{self._path}/{name}"
        self._system.makedirs(place.rpartition("/")[0], exist_ok=True)
        self._system.pipe_file(place, content)

    def _refuse_other(self, told: bytes) -> None:
        mine = (self._run / RUN_FILE).read_bytes()
        if _made(mine) != _made(told):
            raise UserError(f"'{self._url}' has the copy of another run")


@contextmanager
def copying(run: Path, url: str, report: Callable[[str], None]) -> Iterator[None]:
    """Meanwhile the run is copied there; no copy without a URL. Sentences come from a thread."""
    if not url:
        yield
        return
    copies = Copies(run, url)
    copies.begin()
    over = threading.Event()
    failing = False

    def look(last: bool = False) -> bool:
        nonlocal failing
        try:
            copies.look(last)
        except Exception as error:  # of any file system; a run does not end for its copy
            if not failing:
                report(f"the copy at '{url}' is behind: {_line(error)}")
            failing = True
            return False
        if failing:
            report(f"the copy at '{url}' is up to date again")
        failing = False
        return True

    def watch() -> None:
        while not over.wait(LOOK_EVERY):
            look()

    thread = threading.Thread(target=watch, name="copies", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        if not look(last=True):
            report(f"the copy at '{url}' is not complete")


def bring_back(url: str, directory: Path, report: Callable[[str], None]) -> Path:
    """The run that was copied there; one that is in the directory already goes on as it is."""
    if is_run(directory):
        report(f"'{directory}' is there already: it goes on as it is")
        return directory
    if directory.exists() and any(directory.iterdir()):
        raise UserError(f"'{directory}' is not a run and not empty: nothing is brought there")
    system, path = open_place(url)
    aside = directory.with_name(f".{directory.name}.coming")
    shutil.rmtree(aside, ignore_errors=True)
    try:
        names = {_inside(path, name): str(name) for name in system.find(path)}
        if RUN_FILE not in names:
            raise UserError(f"there is no run at '{url}'")
        for name in _wanted(names):
            (aside / name).parent.mkdir(parents=True, exist_ok=True)
            (aside / name).write_bytes(system.cat_file(names[name]))
        directory.parent.mkdir(parents=True, exist_ok=True)
        aside.replace(directory)
    except OSError as error:
        raise UserError(f"the run at '{url}' cannot be brought here: {_line(error)}") from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    config = Run.open(directory).config
    if named_code(config) == [url]:  # its own place, which was typed just now
        mark(directory, config)
    report(f"'{directory}' was brought from '{url}'")
    return directory


def _wanted(names: dict[str, str]) -> list[str]:
    """Files of a run and no others; of checkpoints those that are there whole."""
    kept = []
    for name in names:
        steps = PurePosixPath(name).parts
        if ".." in steps or not any(
            name == part or name.startswith(f"{part}/") for part in GROWING + CHANGING
        ):
            continue
        manifest = f"checkpoints/{steps[1]}/{MANIFEST_FILE}" if steps[0] == "checkpoints" else ""
        if not manifest or manifest in names:
            kept.append(name)
    return kept


def _in_order(names: dict[str, int]) -> list[str]:
    """Shards first; a manifest after the files that it names."""
    return sorted(names, key=lambda name: (name.endswith(f"/{MANIFEST_FILE}"), name))


def _inside(path: str, name: str) -> str:
    return str(name).removeprefix(path).lstrip("/")


def _made(run_file: bytes) -> object:
    """When the run was made; tells runs apart."""
    return tomllib.loads(run_file.decode()).get("made")


def _line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
