"""Starts and stops trainings, if whoever started the page allows it. Each is a process of its own.

A training goes on when the page ends: it is `zermelo train`, as somebody types it. Games and times
come from lists; a name is letters. Knows no HTTP.
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import threading
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from zermelo.config.presets import preset_names
from zermelo.games.registry import game_names
from zermelo.processes.child import module_command
from zermelo.runs.directory import RUNS, is_run, new_run_path
from zermelo.runs.shelf import RunRow
from zermelo.web.refusal import Refusal
from zermelo.web.settings import WebSettings

AT_ONCE = 1  # trainings that the page may have under way: they share the machine
FIRST_WORDS = 2.0  # seconds in which a training that cannot begin says so


class TrainingOrder(BaseModel):
    """What a visitor asks for."""

    model_config = ConfigDict(extra="forbid", strict=True)

    game: Annotated[str, Field(max_length=60)]
    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$")] | None = None
    duration: Literal["1m", "10m", "1h", "8h"] = "10m"


class TrainingControl:
    """Threads: any may call anything."""

    def __init__(self, settings: WebSettings) -> None:
        self.allowed = settings.allow_train
        self._below = next((path for path in settings.runs if not is_run(path)), RUNS)
        self._lock = threading.Lock()
        self._processes: list[subprocess.Popen[bytes]] = []

    def games(self) -> list[str]:
        """What can be trained: presets and games, by name; none if it is not allowed."""
        return sorted({*preset_names(), *game_names()}) if self.allowed else []

    def start(self, order: TrainingOrder) -> str:
        """A new run; its name."""
        self._require()
        if order.game not in self.games():
            raise Refusal(404, "there is no such game to train")
        place = self._below / order.name if order.name else new_run_path(order.game, self._below)
        if place.exists():
            raise Refusal(409, "there is a run of that name already")
        self._spawn([order.game, "--run", str(place), "--for", order.duration])
        return place.name

    def go_on(self, row: RunRow) -> None:
        """With a run that stopped."""
        self._require()
        if row.alive:
            raise Refusal(409, "a process works on this run already")
        if row.iterations is not None and row.iteration >= row.iterations:
            raise Refusal(409, f"all {row.iterations} iterations of this run are done")
        self._spawn([str(row.path)])

    def stop(self, row: RunRow) -> None:
        """As Ctrl-C does; whoever started it."""
        self._require()
        if not row.alive or row.status is None:
            raise Refusal(409, "no process works on this run")
        try:
            os.kill(row.status.process, signal.SIGINT)
        except OSError:
            raise Refusal(409, "the process of this run cannot be stopped from here") from None

    def _require(self) -> None:
        if not self.allowed:
            raise Refusal(403, "trainings are started and stopped here only with --allow-train")

    def _spawn(self, arguments: list[str]) -> None:
        with self._lock:
            self._processes = [each for each in self._processes if each.poll() is None]
            if len(self._processes) >= AT_ONCE:
                raise Refusal(409, "a training that was started here is still under way")
            command = [*module_command("zermelo"), "train", *arguments]
            with tempfile.TemporaryFile() as said:
                process = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=said,
                    start_new_session=True,
                )
                self._processes.append(process)
                try:
                    code = process.wait(FIRST_WORDS)
                except subprocess.TimeoutExpired:
                    return
                said.seek(0)
                lines = said.read().decode(errors="replace").split("\n")
        if code:
            reason = next((line for line in reversed(lines) if line.strip()), "it ended at once")
            raise Refusal(422, reason.removeprefix("zermelo: ")[:300])
