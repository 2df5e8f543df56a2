"""`zermelo bench search|network|chess|all`: one command for what can be measured here."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup

from zermelo.cli.bench_all import bench_all
from zermelo.cli.bench_chess import bench_chess
from zermelo.cli.bench_network import bench_network
from zermelo.cli.bench_search import bench_search


class BenchGroup(TyperGroup):
    """What names none of its commands is meant for `search`: plain `bench`, `bench connect4`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Puts that word in."""
        if meant_for_search(args):
            args = ["search", *args]
        return super().parse_args(ctx, args)


def meant_for_search(arguments: list[str]) -> bool:
    """Chess is a command, which needs a network, and a game, whose search needs none."""
    first = arguments[0] if arguments else ""
    if first == "chess":
        given = {argument.partition("=")[0] for argument in arguments}
        return not given & {"--weights", "-h", "--help"}
    return first not in ("search", "network", "all", "-h", "--help")


def add_to(app: typer.Typer) -> None:
    """Adds the command with its parts, and the names that two of them had before."""
    parts = typer.Typer(
        cls=BenchGroup,
        help="Measure the speed of the search, a network or chess.",
    )
    parts.command("search")(bench_search)
    parts.command("network")(bench_network)
    parts.command("chess")(bench_chess)
    parts.command("all")(bench_all)
    app.add_typer(parts, name="bench")
    app.command("bench-network", hidden=True)(bench_network)
    app.command("bench-chess", hidden=True)(bench_chess)
