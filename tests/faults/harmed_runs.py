"""`zermelo train` as a person starts it, on a game of seconds, for tests that do it harm."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from scripts import load_script

children = load_script("tools/kill_loop.py").children
SETTINGS = (
    "network.blocks=1", "network.filters=8", "selfplay.games=8", "selfplay.backend=openvino",
    "selfplay.precision=f32", "selfplay.simulations=8", "search.cache_mib=1",
    "replay.shard_samples=200", "train.threads=1", "evaluate.every=0",
    "loop.samples_per_iteration=100000000",
)  # fmt: skip


def start(run: Path, *settings: str) -> subprocess.Popen[str]:
    """A training that collects for ever with two workers, unless `settings` say otherwise."""
    sets = [part for text in (*SETTINGS, *settings) for part in ("--set", text)]
    workers = ["--set", "selfplay.workers=2"]
    command = [sys.executable, "-m", "zermelo", "train", "tictactoe", "--run", str(run)]
    return subprocess.Popen(
        [*command, *workers, *sets], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def until(condition: Callable[[], bool], seconds: float = 120.0) -> float:
    """Waits; how long it took. Fails when it takes longer."""
    began = time.monotonic()
    while not condition():
        assert time.monotonic() < began + seconds, "it did not happen in time"
        time.sleep(0.02)
    return time.monotonic() - began


def shards(run: Path) -> int:
    return len(list((run / "replay").glob("*.zshard")))


def is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
