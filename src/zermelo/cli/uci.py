"""`zermelo uci`: the engine that chess programs talk to.

A thin entrance: the engine's own `zermelo-uci` does the same without the rest of the command line.
"""

from __future__ import annotations

from typing import Annotated

import typer

from zermelo.cli.options import WeightsOption


def add_to(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(uci)


def uci(
    weights: WeightsOption = None,
    given: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help="Set an option of the engine or the search: NAME=VALUE; repeatable."
        ),
    ] = None,
) -> None:
    """Serve chess programs: speak UCI on standard input and output."""
    from zermelo.uci.session import serve
    from zermelo.uci.start import settings_from

    raise typer.Exit(serve(settings_from(weights, given or [])))
