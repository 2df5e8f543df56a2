"""The checkpoints of a run: one directory each, whole or not there at all.

A checkpoint is written into a hidden directory; every file is fsynced, the manifest last; then the
directory gets its name and its parent is fsynced. One process writes; any number may read.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import metadata as package_metadata
from pathlib import Path
from typing import Any

from zermelo.checkpoint.files import read_all, write_synced
from zermelo.checkpoint.manifest import (
    MAX_MANIFEST,
    CheckpointError,
    FileEntry,
    Manifest,
    is_file_name,
)
from zermelo.checkpoint.state import TRAINING_FILE, TrainingState, read_training_arrays
from zermelo.files import sync_directory
from zermelo.network.places import CHECKPOINT_FILE, MANIFEST_FILE, numbered_checkpoints
from zermelo.network.safetensors_file import read_safetensors, safetensors_bytes
from zermelo.network.weights import Weights

MIN_KEEP = 3
TEMPORARY_PREFIX = ".tmp-"  # being written or being removed


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint on disk whose manifest is sound; files are verified as they are read."""

    directory: Path
    manifest: Manifest

    @classmethod
    def at(cls, directory: Path) -> Checkpoint:
        """The one in that directory, whatever its name; a CheckpointError says why not."""
        words = f"checkpoint {directory.name}: {MANIFEST_FILE}"
        data = read_all(directory / MANIFEST_FILE, MAX_MANIFEST, words)
        try:
            return cls(directory, Manifest.from_bytes(data))
        except CheckpointError as error:
            raise CheckpointError(f"checkpoint {directory.name}: {error}") from None

    @property
    def iteration(self) -> int:
        """The iteration that it ends."""
        return self.manifest.iteration

    @property
    def name(self) -> str:
        """Of its directory: `000012`."""
        return self.directory.name

    def file(self, name: str) -> bytes:
        """The bytes of one of its files; a CheckpointError if they are not the ones written."""
        entry = self.manifest.files.get(name)
        if entry is None:
            raise CheckpointError(f"checkpoint {self.name} has no file {name}")
        data = read_all(self.directory / name, entry.size, f"checkpoint {self.name}: {name}")
        fault = entry.fault(data)
        if fault:
            raise CheckpointError(f"checkpoint {self.name}: {name} {fault}")
        return data

    def weights(self) -> Weights:
        """The network for playing, its name the directory's."""
        return read_safetensors(self.file(CHECKPOINT_FILE), f"checkpoint {self.name}")

    def training(self) -> TrainingState:
        """What the trainer goes on from."""
        arrays = read_training_arrays(self.file(TRAINING_FILE))
        return TrainingState(arrays, self.manifest.training)

    def verify(self) -> None:
        """Reads every file; a CheckpointError names the first that is damaged."""
        for name in self.manifest.files:
            self.file(name)
        for name in (CHECKPOINT_FILE, TRAINING_FILE):
            if name not in self.manifest.files:
                raise CheckpointError(f"checkpoint {self.name} has no file {name}")


class CheckpointStore:
    """The directory of a run's checkpoints. Opening it to write removes what a crash left behind.

    The newest `keep` checkpoints (3 at least), those whose iteration is a multiple of `keep_every`
    (0: none) and those that `needed` names stay; older ones are removed after each save. `report`
    takes sentences.
    """

    def __init__(
        self,
        directory: str | os.PathLike[str],
        keep: int = MIN_KEEP,
        keep_every: int = 0,
        *,
        read_only: bool = False,
        report: Callable[[str], None] | None = None,
        needed: Callable[[], Iterable[int]] | None = None,
    ) -> None:
        if keep < MIN_KEEP:
            raise CheckpointError(f"at least {MIN_KEEP} checkpoints must be kept, not {keep}")
        self.directory = Path(directory)
        self.keep = keep
        self.keep_every = keep_every
        self._report = report or (lambda _: None)
        self._needed = needed or (lambda: ())
        if not read_only:
            with _plain_words(f"'{self.directory}' cannot hold checkpoints"):
                self.directory.mkdir(parents=True, exist_ok=True)
                for left in self.directory.glob(f"{TEMPORARY_PREFIX}*"):
                    shutil.rmtree(left)

    def list(self) -> list[int]:
        """The iterations that have a checkpoint, oldest first. Names only: nothing is verified."""
        return [int(place.name) for place in numbered_checkpoints(self.directory)]

    def path(self, iteration: int) -> Path:
        """Where the checkpoint of that iteration is or would be."""
        return self.directory / f"{iteration:06d}"

    def open(self, iteration: int) -> Checkpoint:
        """The checkpoint, its manifest verified; a CheckpointError says why not."""
        place = self.path(iteration)
        if not place.is_dir():
            raise CheckpointError(f"there is no checkpoint {place.name} in '{self.directory}'")
        found = Checkpoint.at(place)
        if found.iteration != iteration:
            raise CheckpointError(
                f"checkpoint {place.name}: {MANIFEST_FILE} is of iteration {found.iteration}"
            )
        return found

    def load(self, iteration: int) -> Checkpoint:
        """The checkpoint, every file of it verified."""
        found = self.open(iteration)
        found.verify()
        return found

    def verify(self, iteration: int) -> str:
        """What is wrong with a checkpoint, one sentence; empty if nothing is."""
        try:
            self.load(iteration)
        except CheckpointError as error:
            return str(error)
        return ""

    def newest(self) -> Checkpoint | None:
        """The newest sound checkpoint; None if there is none at all.

        A damaged one is passed over with a report that names it and the one used instead. If all
        are damaged, a CheckpointError says so.
        """
        faults: list[str] = []
        for iteration in reversed(self.list()):
            try:
                found = self.load(iteration)
            except CheckpointError as error:
                faults.append(str(error))
                continue
            for fault in faults:
                self._report(f"{fault}; going back to checkpoint {found.name}")
            return found
        if faults:
            raise CheckpointError(
                f"none of the checkpoints in '{self.directory}' can be used: {'; '.join(faults)}"
            )
        return None

    def save(
        self,
        iteration: int,
        weights: Weights,
        training: TrainingState,
        *,
        window: Mapping[str, Any] | None = None,
        metrics: Mapping[str, Any] | None = None,
        extra: Mapping[str, Any] | None = None,
        files: Mapping[str, bytes] | None = None,
    ) -> Checkpoint:
        """Writes a checkpoint and removes those that need not be kept.

        `files` are further files of the caller's. If it fails, a CheckpointError says why and all
        earlier checkpoints are as they were; one of the same iteration is replaced.
        """
        version = package_metadata.version("zermelo")
        blobs = dict(files or {})
        blobs[CHECKPOINT_FILE] = safetensors_bytes(
            weights.architecture, weights.arrays, version, weights.search
        )
        blobs[TRAINING_FILE] = training.to_bytes()
        for name in blobs:
            if not is_file_name(name) or name == MANIFEST_FILE:
                raise ValueError(f"'{name}' cannot be a file of a checkpoint")
        manifest = Manifest(
            iteration=iteration,
            game=weights.architecture.game,
            architecture=weights.architecture.to_dict(),
            files={name: FileEntry.of(data) for name, data in blobs.items()},
            version=version,
            training=dict(training.numbers),
            window=dict(window or {}),
            metrics=dict(metrics or {}),
            extra=dict(extra or {}) | ({"search": dict(weights.search)} if weights.search else {}),
        )
        data = manifest.to_bytes()
        place = self.path(iteration)
        with _plain_words(f"checkpoint {place.name} cannot be written to '{self.directory}'"):
            self._write(place, blobs, data)
        self._remove_old()
        return Checkpoint(place, Manifest.from_bytes(data))

    def _write(self, place: Path, blobs: Mapping[str, bytes], manifest: bytes) -> None:
        aside, old = _aside(place, "new"), _aside(place, "old")
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
            aside.mkdir()
            for name, data in sorted(blobs.items()):
                write_synced(aside / name, data)
            write_synced(aside / MANIFEST_FILE, manifest)
            sync_directory(aside)
            replaced = place.exists()  # by a run that went back and comes by again
            if replaced:
                os.rename(place, old)
            try:
                os.rename(aside, place)
            except OSError:
                if replaced:
                    os.rename(old, place)
                raise
        except BaseException:
            shutil.rmtree(aside, ignore_errors=True)
            raise
        sync_directory(self.directory)
        if replaced:
            shutil.rmtree(old, ignore_errors=True)

    def _remove_old(self) -> None:
        """A failure to remove is reported only: the new checkpoint stands."""
        needed = set(self._needed())
        for iteration in self.list()[: -self.keep]:
            if iteration in needed or (self.keep_every and iteration % self.keep_every == 0):
                continue
            try:
                self._remove(self.path(iteration))
            except OSError as error:
                self._report(f"checkpoint {iteration:06d} cannot be removed: {error.strerror}")

    def _remove(self, place: Path) -> None:
        """By another name first, so that nobody sees half a checkpoint."""
        aside = _aside(place, "old")
        os.rename(place, aside)
        shutil.rmtree(aside)


def _aside(place: Path, kind: str) -> Path:
    return place.with_name(f"{TEMPORARY_PREFIX}{kind}-{place.name}-{os.getpid()}")


@contextmanager
def _plain_words(what: str) -> Iterator[None]:
    """Turns what the operating system refuses into one sentence."""
    try:
        yield
    except OSError as error:
        raise CheckpointError(f"{what}: {error.strerror or error}") from error
