"""`zermelo runs`: the runs of a directory and how far they are."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from zermelo.cli.options import JsonOption
from zermelo.errors import UserError

RUNS = Path("runs")  # where `zermelo train` makes them
WIDTH = 200  # columns, for long paths, when the output is no terminal


def add_to(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(runs)


def runs(
    directory: Annotated[Path, typer.Argument(help="Where to look; a run itself is fine.")] = RUNS,
    as_json: JsonOption = False,
) -> None:
    """List runs, newest last."""
    from zermelo.runs.directory import is_run

    if directory.exists() and not directory.is_dir():
        raise UserError(f"'{directory}' is a file, not a directory of runs")
    if not directory.exists() and directory != RUNS:  # which is not there before the first run
        raise UserError(f"there is no directory '{directory}'")
    below = directory.iterdir() if directory.is_dir() else ()
    places = [directory] if is_run(directory) else [path for path in below if is_run(path)]
    rows = sorted((describe(place) for place in places), key=lambda row: float(row["changed"]))
    if as_json:
        print(json.dumps({"directory": str(directory), "runs": rows}, indent=2))
    elif not rows:
        print(f"there is no run in '{directory}'; zermelo train GAME makes one")
    else:
        show(rows)


def describe(place: Path) -> dict[str, Any]:
    """One run by its files; a broken one has the reason under "error"."""
    from zermelo.config.run_config import read_run_file
    from zermelo.runs.lock import running_process
    from zermelo.train import read_metrics

    row: dict[str, Any] = {"run": str(place), "error": None, "process": 0}
    row |= {"game": None, "iteration": 0, "iterations": None, "version": None}
    try:
        head, tables = read_run_file(place / "run.toml")
        row["version"] = head.get("version")
        row["game"] = _section(tables, "game").get("name")
        row["iterations"] = _section(tables, "loop").get("iterations")
    except UserError as error:
        row["error"] = str(error)
    entries = read_metrics(place / "metrics")
    last = entries[-1] if entries else {}
    row["iteration"] = last.get("iteration", 0)
    row["games"] = sum(entry.get("selfplay", {}).get("games", 0) for entry in entries)
    row["samples"] = sum(
        entry.get(source, {}).get("samples", 0)
        for entry in entries
        for source in ("selfplay", "pretrain")
    )
    row["loss"] = last.get("train", {}).get("training", {}).get("loss")
    row["seconds"] = last.get("seconds")
    row["evaluate"] = last.get("evaluate")
    row["process"] = running_process(place / "lock")
    files = [path for path in place.rglob("*") if path.is_file()]
    sizes = [status for path in files if (status := _status(path)) is not None]
    row["bytes"] = sum(status.st_size for status in sizes)
    row["changed"] = max((status.st_mtime for status in sizes), default=0.0)
    return row


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


def show(rows: list[dict[str, Any]]) -> None:
    """For people."""
    from zermelo.config.duration import duration_text

    table = Table(box=None, header_style="bold", pad_edge=False)
    for name, side in (
        ("run", "left"), ("game", "left"), ("iteration", "right"), ("games", "right"),
        ("samples", "right"), ("loss", "right"), ("trained", "right"), ("MiB", "right"),
        ("changed", "left"), ("state", "left"),
    ):  # fmt: skip
        table.add_column(name, justify=side)  # type: ignore[arg-type]
    for row in rows:
        state = f"running ({row['process']})" if row["process"] else "stopped"
        table.add_row(
            row["run"],
            str(row["game"] or "-"),
            f"{row['iteration']}/{row['iterations'] or '?'}",
            f"{row['games']:,}",
            f"{row['samples']:,}",
            "-" if row["loss"] is None else f"{row['loss']:.3f}",
            "-" if row["seconds"] is None else duration_text(row["seconds"]),
            f"{row['bytes'] / 2**20:,.1f}",
            time.strftime("%F %R", time.localtime(row["changed"])),
            Text(row["error"] or state),  # may name a [section]
        )
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = WIDTH
    console.print(table)
