"""`zermelo web`: the page in a browser. Says where it is; `zermelo.web` serves it."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Annotated

import typer

from zermelo.errors import UserError

PACKAGES = ("fastapi", "uvicorn", "websockets")


def add_to(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(web)


def web(
    runs: Annotated[
        list[Path] | None, typer.Argument(help="Runs, or directories of runs.", show_default="runs")
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes any free one.")] = 8080,
    host: Annotated[
        str, typer.Option(help="Another address than this machine's own needs a token.")
    ] = "127.0.0.1",
    network: Annotated[
        list[str] | None, typer.Option(help="Offer this network too; repeatable.")
    ] = None,
    game: Annotated[
        list[str] | None, typer.Option(help="Offer the game of a Python file; repeatable.")
    ] = None,
    allow_train: Annotated[
        bool, typer.Option("--allow-train", help="Let visitors start and stop trainings.")
    ] = False,
    open_page: Annotated[bool, typer.Option("--open", help="Open it in a browser.")] = False,
) -> None:
    """Show games, analysis and runs in a browser."""
    package = missing_package()
    if package is not None:
        raise UserError(f"the page needs the package '{package}': install zermelo[web]")
    from zermelo.runs.directory import RUNS
    from zermelo.web.serve import serve
    from zermelo.web.settings import WebSettings

    for place in runs or ():
        if not place.is_dir():
            raise UserError(f"there is no directory '{place}'")
    settings = WebSettings(
        runs=tuple(runs or (RUNS,)),
        networks=tuple(network or ()),
        games=tuple(game or ()),
        host=host,
        port=port,
        allow_train=allow_train,
    )

    def ready(address: str) -> None:
        print(f"Zermelo is at {address}  (Ctrl-C ends it)", flush=True)
        if open_page:
            import webbrowser

            if not webbrowser.open(address):
                print("no browser could be opened here", file=sys.stderr)

    serve(settings, ready)


def missing_package() -> str | None:
    """One that the page needs and that is not installed."""
    return next((name for name in PACKAGES if importlib.util.find_spec(name) is None), None)
