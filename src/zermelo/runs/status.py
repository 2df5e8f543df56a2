"""What a run does at the moment, as views and other processes see it. Plain data of one thread.

The process that works on a run writes `status.json` into its directory; `read_status` reads it in
any other. Does not know who plays or trains; finished iterations are in the metrics.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from zermelo.checkpoint.manifest import plain
from zermelo.files import read_plain, write_whole
from zermelo.runs.lock import is_alive, running_process

STATUS_FILE = "status.json"
FORMAT = 1
SELF_PLAY, EVALUATING = "self-play", "evaluating"  # stages
STARTING = "starting"  # a worker's state before it plays
WRITE_EVERY = 1.0  # seconds
LARGEST = 1e300  # that a figure may be
RECENT = 5  # iterations that the time left is judged by
# Fields that the file leaves out: what is in the metrics, and what means nothing elsewhere.
HERE_ONLY = ("metrics", "rising", "started", "alive")
LATER = ("nodes", "dashboard", "moves")  # that older versions do not write
# What lists and objects hold, by an example.
PARTS: dict[str, Any] = {"rates": 0.0, "iteration_seconds": 0.0, "states": "", "nodes": {}}


@dataclass
class Status:
    """Counts are of the iteration under way unless they say otherwise."""

    run: str
    game: str
    iterations: int  # of the whole run, as far as can be told; 0 if only a time ends it
    workers: int = 0
    mode: str = ""
    iteration: int = 0  # finished ones
    stage: str = "starting"  # self-play, window, training, saving, evaluating
    waiting_for: str = ""
    games: int = 0
    samples: int = 0
    moves: int = 0  # of self-play, those of unfinished games too
    target: int = 0  # samples that are waited for
    total_games: int = 0  # of this process
    total_samples: int = 0
    step: int = 0  # of training
    steps: int = 0
    loss: float | None = None  # of the last step
    rates: dict[str, float] = field(default_factory=dict)  # self-play, per second
    metrics: dict[str, Any] = field(default_factory=dict)  # of the last finished iteration
    rising: dict[str, list[float]] = field(default_factory=dict)  # figures over all iterations
    health: str = ""  # what the quick checks of `zermelo doctor` say
    memory: int = 0  # bytes, all processes
    started: float = field(default_factory=time.monotonic)
    iteration_seconds: list[float] = field(default_factory=list)  # of this process
    seconds_limit: float | None = None  # until the deadline
    states: list[str] = field(default_factory=list)  # what each worker does
    nodes: list[dict[str, Any]] = field(default_factory=list)  # of a cluster: name, actors, speed
    dashboard: str = ""  # the address of a page about the cluster
    process: int = field(default_factory=os.getpid)  # that works on the run
    written: float = 0.0  # when the file was, in seconds since 1970
    ended: str = ""  # why, once the process stopped working on the run
    alive: bool = True  # whether that process works on the run now

    @property
    def elapsed(self) -> float:
        """Seconds since this process began."""
        return time.monotonic() - self.started

    @property
    def seconds_left(self) -> float | None:
        """Until the last iteration or the deadline, whichever comes first; None if unknown."""
        candidates = [] if self.seconds_limit is None else [self.seconds_limit]
        if self.iteration_seconds and self.iterations:
            recent = self.iteration_seconds[-RECENT:]
            left = max(0, self.iterations - self.iteration)
            candidates.append(left * sum(recent) / len(recent))
        return min(candidates, default=None)

    @property
    def under_way(self) -> int:
        """The iteration that is worked on, from 1."""
        if self.stage == EVALUATING:  # its checkpoint is there
            return max(1, self.iteration)
        return min(self.iteration + 1, self.iterations or self.iteration + 1)

    @property
    def activity(self) -> str:
        """What is done or waited for, in a few words."""
        if self.stage == "training" and self.steps:
            loss = "" if self.loss is None else f", loss {self.loss:.3f}"
            return f"training, step {self.step} of {self.steps}{loss}"
        if self.waiting_for:
            return f"{self.stage}, waiting for {self.waiting_for}"
        if self.stage == SELF_PLAY and not self.samples and {*self.states} == {STARTING}:
            return "starting workers"
        if self.stage == SELF_PLAY and self.target:
            moves = f", {self.moves:,} moves" if self.moves else ""
            return f"{self.stage}, {self.samples:,} of {self.target:,} samples{moves}"
        return self.stage

    def to_json(self) -> dict[str, Any]:
        """For the file and other programs; what is not finite becomes null."""
        found = {
            item.name: getattr(self, item.name)
            for item in dataclasses.fields(self)
            if item.name not in HERE_ONLY
        }
        found["iteration_seconds"] = self.iteration_seconds[-RECENT:]
        found |= {"format": FORMAT, "seconds": self.elapsed, "seconds_left": self.seconds_left}
        return dict(plain(found))

    @classmethod
    def from_json(cls, found: Any) -> Status | None:
        """What `to_json` gave; None if it is something else."""
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            return None
        status = cls("", "", 0)
        for item in dataclasses.fields(cls):
            if item.name in HERE_ONLY or (item.name in LATER and item.name not in found):
                continue
            value, like = found.get(item.name), getattr(status, item.name)
            if not _is_like(value, like) or not _holds(value, PARTS.get(item.name)):
                return None
            setattr(status, item.name, value)
        seconds: Any = found.get("seconds")
        if not _is_like(seconds, 0.0):
            return None
        status.started = time.monotonic() - seconds - max(0.0, time.time() - status.written)
        return status


class StatusFile:
    """A run's `status.json`, replaced whole. What cannot be written is no reason to stop a run."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / STATUS_FILE
        self._written = -WRITE_EVERY

    def write(self, status: Status, at_once: bool = False) -> None:
        """At most once a second, unless `at_once`."""
        if not at_once and time.monotonic() - self._written < WRITE_EVERY:
            return
        self._written = time.monotonic()
        status.written = round(time.time(), 3)
        text = json.dumps(status.to_json(), allow_nan=False, indent=1) + "\n"
        with contextlib.suppress(OSError):  # readers see an older state then
            write_whole(self.path, text.encode(), lasting=False)


def read_status(run: Path) -> Status | None:
    """What a run does, or did last; None if no process told, or none of this version.

    `alive` says whether the process still works on it: it holds the run's lock and has not ended.
    `written` says how old the rest is: a long measurement, for example, does not renew it.
    """
    try:
        found = json.loads(read_plain(run / STATUS_FILE))
    except (OSError, ValueError, RecursionError):
        return None
    status = Status.from_json(found)
    if status is not None:
        holder = running_process(run / "lock")  # or workers that outlived it for a moment
        here = status.process == holder and is_alive(holder)
        status.alive = here and not status.ended
    return status


def _is_like(value: Any, like: Any) -> bool:
    """Whether a value may stand where such a value stood."""
    if like is None:
        return value is None or _is_like(value, 0.0)
    if isinstance(like, float):
        return type(value) in (int, float)
    return type(value) is type(like)


def _holds(value: Any, part: Any) -> bool:
    """Whether everything in a list or an object is like `part`; of None nothing is asked."""
    parts = value.values() if isinstance(value, dict) else value
    return part is None or all(_is_like(item, part) for item in parts)


def number(metrics: dict[str, Any], *keys: str) -> float | None:
    """A finite figure of nested metrics, or None."""
    found: Any = metrics
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    if not isinstance(found, int | float) or not abs(found) < LARGEST:
        return None
    return float(found)
