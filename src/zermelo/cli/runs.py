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
from zermelo.runs.directory import RUNS

WIDTH = 200  # columns, for long paths, when the output is no terminal
FIGURES = 110  # columns that the rest of the table takes beside the names


def add_to(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(runs)


def runs(
    directory: Annotated[Path, typer.Argument(help="Directory of runs, or one run.")] = RUNS,
    as_json: JsonOption = False,
) -> None:
    """List runs, newest last."""
    from zermelo.runs.describe import runs_of

    rows = runs_of(directory)
    if as_json:
        print(json.dumps({"directory": str(directory), "runs": rows}, indent=2))
    elif not rows:
        print(f"there is no run in '{directory}'; zermelo train GAME makes one")
    else:
        show(rows)


def show(rows: list[dict[str, Any]]) -> None:
    """For people."""
    from zermelo.config.duration import duration_text

    rated = any(row["performance"] for row in rows)  # else there is no such column
    table = Table(box=None, header_style="bold", pad_edge=False)
    for name, side in (
        ("run", "left"), ("game", "left"), ("iteration", "right"), ("games", "right"),
        ("samples", "right"), ("loss", "right"), *([("performance", "right")] if rated else []),
        ("trained", "right"), ("MiB", "right"), ("changed", "left"), ("state", "left"),
    ):  # fmt: skip
        whole = name in ("run", "game")  # what other commands are given
        table.add_column(name, justify=side, no_wrap=whole, overflow="fold")  # type: ignore[arg-type]
    for row in rows:
        state = f"running ({row['process']})" if row["process"] else "stopped"
        state += f": {row['doing']}" if row["doing"] else ""
        table.add_row(
            row["run"],
            str(row["game"] or "-"),
            f"{row['iteration']}" + (f"/{row['iterations']}" if row["iterations"] else ""),
            f"{row['games']:,}",
            f"{row['samples']:,}",
            "-" if row["loss"] is None else f"{row['loss']:.3f}",
            *([performance_text(row["performance"])] if rated else []),
            "-"
            if row["seconds"] is None
            else duration_text(row["earlier_seconds"] + row["seconds"]),
            f"{row['bytes'] / 2**20:,.1f}",
            time.strftime("%F %R", time.localtime(row["changed"])),
            Text(row["error"] or state),  # may name a [section]
        )
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = WIDTH
    longest = max(len(str(row["run"])) + len(str(row["game"] or "-")) for row in rows)
    console.width = max(console.width, longest + FIGURES)
    console.print(table, soft_wrap=True)


def performance_text(found: dict[str, Any] | None) -> str:
    """Half of the interval's width is enough here; `--json` has its ends."""
    if found is None:
        return "-"
    return f"{found['elo']:,.0f} ± {(found['high'] - found['low']) / 2:,.0f}"
