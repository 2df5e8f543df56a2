"""Runs whose number of iterations nobody chose: with a time, the time alone ends them.

The run file's head marks them, so that a later time can be longer than the first one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zermelo.config.run_config import END
from zermelo.network.places import whole_checkpoints
from zermelo.runs.directory import Run
from zermelo.selfplay.automatic import iterations_within

OPEN = "open"
Changes = Mapping[str, Mapping[str, Any]]


def mark_open(run: Run, changes: Changes) -> None:
    """A new run with automatic settings, unless a number of iterations was typed."""
    if not _names_iterations(changes):
        run.head[END] = OPEN
        run.write_file()


def further(run: Run, changes: Changes, time: float | None) -> dict[str, dict[str, Any]]:
    """The changes that give a run which goes on room for `time`, in seconds."""
    if run.head.get(END) != OPEN:
        return {}
    if _names_iterations(changes):
        del run.head[END]
        run.write_file()
        return {}
    if time is None:
        return {}
    found = whole_checkpoints(run.checkpoints)
    most = (int(found[-1].name) if found else 0) + iterations_within(time)
    if most <= run.config.loop.iterations:
        return {}
    return {"loop": {"iterations": most}}


def _names_iterations(changes: Changes) -> bool:
    return "iterations" in changes.get("loop", {})
