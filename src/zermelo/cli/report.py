"""`zermelo report`: a run as one HTML file to share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from zermelo.cli.options import RunArgument
from zermelo.errors import UserError


def add_to(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(report)


def report(
    run: RunArgument,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File to write.", show_default="RUN.html"),
    ] = None,
) -> None:
    """Write a run's curves, games and settings into one HTML file.

    The file needs nothing else: it can be mailed, put on a server or kept. The run may be under
    way.
    """
    from zermelo.files import write_whole
    from zermelo.runs.directory import refuse_own_part
    from zermelo.web.training.report import report_page

    text = report_page(run).encode(errors="replace")  # a name need not be UTF-8
    place = output or Path(f"{run.resolve().name}.html")
    if place.is_dir():
        raise UserError(f"'{place}' is a directory: name a file")
    refuse_own_part(place)
    try:
        write_whole(place, text)
    except OSError as error:
        raise UserError(f"'{place}' cannot be written: {error.strerror}") from None
    print(f"{place}: {len(text) / 1024:,.0f} KiB")
