"""What a run does at the moment, as the views show it. Plain data of one thread."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Status:
    """Counts are of the iteration under way unless they say otherwise."""

    run: str
    game: str
    iterations: int  # of the whole run
    workers: int = 0
    mode: str = ""
    iteration: int = 0  # finished ones
    stage: str = "starting"  # self-play, window, training, saving, evaluating
    waiting_for: str = ""
    games: int = 0
    samples: int = 0
    target: int = 0  # samples that are waited for
    total_games: int = 0  # of this process
    total_samples: int = 0
    step: int = 0  # of training
    steps: int = 0
    loss: float | None = None  # of the last step
    rates: dict[str, float] = field(default_factory=dict)  # self-play, per second
    metrics: dict[str, Any] = field(default_factory=dict)  # of the last finished iteration
    health: str = ""  # what the quick checks of `zermelo doctor` say
    memory: int = 0  # bytes, all processes
    started: float = field(default_factory=time.monotonic)
    iteration_seconds: list[float] = field(default_factory=list)  # of this process
    seconds_limit: float | None = None  # until the deadline

    @property
    def elapsed(self) -> float:
        """Seconds since this process began."""
        return time.monotonic() - self.started

    @property
    def seconds_left(self) -> float | None:
        """Until the last iteration or the deadline, whichever comes first; None if unknown."""
        candidates = [] if self.seconds_limit is None else [self.seconds_limit]
        if self.iteration_seconds:
            recent = self.iteration_seconds[-5:]
            left = max(0, self.iterations - self.iteration)
            candidates.append(left * sum(recent) / len(recent))
        return min(candidates, default=None)


def number(metrics: dict[str, Any], *keys: str) -> float | None:
    """A figure of nested metrics, or None."""
    found: Any = metrics
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return float(found) if isinstance(found, int | float) else None
