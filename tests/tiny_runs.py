"""Runs that take seconds: tic-tac-toe, a network of one block, a few hundred samples."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from zermelo.config import RunConfig
from zermelo.loop import Run, Stop, run_loop
from zermelo.loop.view import Beside
from zermelo.replay import ReplayStore, Samples
from zermelo.runs.status import Status

TABLES: dict[str, dict[str, Any]] = {
    "game": {"name": "tictactoe"},
    "network": {"blocks": 1, "filters": 8, "value_filters": 2, "policy_filters": 2},
    "search": {"cache_mib": 1},
    "selfplay": {
        "workers": 1, "games": 8, "simulations": 8, "backend": "openvino", "precision": "f32",
        "progressive_fraction": 0.0,
    },
    "replay": {"shard_samples": 60, "window_start": 2, "window_max": 2},
    "train": {"batch": 64, "precision": "f32", "threads": 1},
    "loop": {"iterations": 3, "samples_per_iteration": 150, "mode": "alternate", "seed": 5},
}  # fmt: skip


class KilledError(BaseException):
    """Stands for kill -9: nothing of the loop's own cleaning up may be needed afterwards."""


class RecordingView:
    """Keeps notes and stages; may do something at a certain stage of an iteration."""

    def __init__(self, at: tuple[int, str] | None = None, action: Any = None) -> None:
        self.at = at
        self.action = action
        self.notes: list[str] = []
        self.stages: list[tuple[int, str]] = []
        self.activities: set[str] = set()
        self.closed = False

    def watch(self, beside: Beside) -> None:
        self.beside = beside

    def update(self, status: Status) -> None:
        if self.at == (status.iteration, status.stage):
            self.at = None
            self.action()
        if self.stages[-1:] != [(status.iteration, status.stage)]:
            self.stages.append((status.iteration, status.stage))
        self.activities.add(status.activity)

    def note(self, text: str) -> None:
        self.notes.append(text)

    def finished(self, status: Status) -> None:
        assert status.metrics["selfplay"]["samples"] > 0

    def close(self) -> None:
        self.closed = True


def config(**changes: dict[str, Any]) -> RunConfig:
    """The tiny run with some sections changed."""
    return RunConfig.from_tables(TABLES).changed(changes)


def train(path: Path, view: RecordingView | None = None, **changes: Any) -> dict[str, Any]:
    """Begins or goes on with a run."""
    run = Run.open(path) if path.exists() else Run.create(path, config(**changes))
    return run_loop(run, Stop(), view or RecordingView())


def final_files(path: Path, iteration: int = 3) -> dict[str, str]:
    """What a checkpoint holds, by content."""
    place = path / "checkpoints" / f"{iteration:06d}"
    names = ("weights.safetensors", "training.safetensors", "selfplay.bin")
    return {name: hashlib.sha256((place / name).read_bytes()).hexdigest() for name in names}


def all_samples(path: Path) -> dict[str, Samples]:
    """By shard."""
    store = ReplayStore(path / "replay", RunConfig.from_tables(TABLES).game())
    found = {shard.path.name: store.read(shard) for shard in store.shards()}
    assert not store.damage
    return {name: samples for name, samples in found.items() if samples is not None}
