"""A run that really learned, made once for all tests that look at one: tic-tac-toe in seconds."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from zermelo.config import RunConfig
from zermelo.loop import Run, Stop, run_loop
from zermelo.loop.view import PlainView
from zermelo.runs.opening import yardsticks_of

TABLES: dict[str, dict[str, Any]] = {
    "game": {"name": "tictactoe"},
    "network": {
        "kind": "sparse", "hidden": 64, "policy_hidden": 32, "windows": "line3",
    },
    "search": {"cache_mib": 1},
    "selfplay": {
        "workers": 1, "games": 8, "simulations": 24, "progressive_fraction": 0.0,
        "full_search_probability": 1.0, "end_when_proven": False, "opening_share": 0.8,
        "opening_plies": 5, "opening_temperature": 3.0,
    },
    "replay": {"shard_samples": 300, "window_start": 3, "window_max": 4, "deduplicate": False},
    "train": {"batch": 32, "passes": 2, "learning_rate": 0.01, "precision": "f32", "threads": 1},
    "loop": {
        "iterations": 8, "samples_per_iteration": 1000, "mode": "alternate", "seed": 5,
        "keep_checkpoints": 20,
    },
    "evaluate": {
        "every": 2, "seconds": 2.0, "simulations": 16, "games": 4, "opponents": "random",
        "ladder": 2, "ladder_games": 6, "threads": 1, "openings": "random:2",
    },
}  # fmt: skip


def watched_config(**changes: dict[str, Any]) -> RunConfig:
    """With some sections changed."""
    return RunConfig.from_tables(TABLES).changed(changes)


def watched_run(path: Path, **changes: dict[str, Any]) -> Path:
    """Made and finished."""
    run = Run.create(path, watched_config(**changes))
    run_loop(run, Stop(), PlainView(io.StringIO()), yardsticks_of(run.config, lambda: None))
    return path
