"""How far a run is, by its files alone: it may be under way, damaged or of an older version.

Reads only, and takes no lock.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from zermelo.config.run_config import END, read_run_file
from zermelo.errors import UserError
from zermelo.runs.directory import RUNS, is_run
from zermelo.runs.lock import running_process
from zermelo.runs.status import number, read_status
from zermelo.train.metrics import read_metrics
from zermelo.train.origin import Origin
from zermelo.yardsticks.levels import NAME as PERFORMANCE


def runs_of(directory: Path) -> list[dict[str, Any]]:
    """The runs of a directory, or the run that it is, each described, newest last."""
    if directory.exists() and not directory.is_dir():
        raise UserError(f"'{directory}' is a file, not a directory of runs")
    if not directory.exists() and directory != RUNS:  # which is not there before the first run
        raise UserError(f"there is no directory '{directory}'")
    below = directory.iterdir() if directory.is_dir() else ()
    places = [directory] if is_run(directory) else [path for path in below if is_run(path)]
    return sorted((describe(place) for place in places), key=lambda row: float(row["changed"]))


def describe(place: Path) -> dict[str, Any]:
    """One run by its files; a broken one has the reason under "error".

    "status" is what it does now, None if no process works on it or tells; "doing" says it in words.
    "iterations" is None where only a time ends the run, and that cannot be told yet.
    """
    row: dict[str, Any] = {"run": str(place), "error": None, "process": 0}
    row |= {"status": None, "doing": None}
    row |= {"game": None, "iteration": 0, "iterations": None, "version": None}
    row |= {"begun_from": None, "earlier_seconds": 0.0}
    try:
        head, tables = read_run_file(place / "run.toml")
        row["version"] = head.get("version")
        if (origin := Origin.of_head(head)) is not None:
            row |= {"begun_from": origin.title, "earlier_seconds": origin.seconds}
        game = _section(tables, "game").get("name")
        row["game"] = game if isinstance(game, str) else None
        iterations = _section(tables, "loop").get("iterations")
        planned = isinstance(iterations, int) and END not in head
        row["iterations"] = iterations if planned else None
    except UserError as error:
        row["error"] = str(error)
    entries = read_metrics(place / "metrics")
    last = entries[-1] if entries else {}
    row["iteration"] = last.get("iteration", 0)
    row["games"] = sum(_count(entry, "selfplay", "games") for entry in entries)
    row["samples"] = sum(
        _count(entry, source, "samples") for entry in entries for source in ("selfplay", "pretrain")
    )
    row["loss"] = number(last, "train", "training", "loss")
    row["seconds"] = number(last, "seconds")
    row["evaluate"] = last.get("evaluate")
    row["performance"] = newest_performance(entries)
    row["process"] = running_process(place / "lock")
    status = read_status(place)
    if status is not None and status.alive:
        row |= {"status": status.to_json(), "doing": status.activity}
        row["iterations"] = row["iterations"] or status.iterations or None
    files = [path for path in place.rglob("*") if path.is_file()]
    sizes = [status for path in files if (status := _status(path)) is not None]
    row["bytes"] = sum(status.st_size for status in sizes)
    row["changed"] = max((status.st_mtime for status in sizes), default=0.0)
    return row


def newest_performance(entries: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The last rating by games against an engine's levels: elo, low, high, iteration; or None."""
    for entry in reversed(entries):
        figures = entry.get("evaluate")
        if isinstance(figures, dict) and f"{PERFORMANCE}.elo" in figures:
            values = {key: figures.get(f"{PERFORMANCE}.{key}") for key in ("elo", "low", "high")}
            return values | {"iteration": entry.get("iteration")}
    return None


def _count(entry: dict[str, Any], *keys: str) -> int:
    return int(number(entry, *keys) or 0)


def _section(tables: dict[str, Any], name: str) -> dict[str, Any]:
    table = tables.get(name, {})
    if not isinstance(table, dict):
        raise UserError(f"run.toml: '{name}' is a section, not a value: write [{name}]")
    return table


def _status(path: Path) -> Any:
    try:
        return path.stat()
    except OSError:  # a run under way removes old checkpoints
        return None
