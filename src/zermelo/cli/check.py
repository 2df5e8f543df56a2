"""`zermelo check`: is a game sound?"""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from zermelo.cli.options import GameArgument, JsonOption
from zermelo.games import game as find_game
from zermelo.testing import check_game


def add_to(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(check)


def check(
    game: GameArgument,
    games: Annotated[int, typer.Option(min=1, help="Random games to play.")] = 20,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
    max_plies: Annotated[int, typer.Option(min=1, help="Longest game allowed.")] = 5000,
    as_json: JsonOption = False,
) -> int:
    """Test a game's rules by playing random games.

    The exit code is 1 if the game is not sound.
    """
    report = check_game(find_game(game), games=games, seed=seed, max_plies=max_plies)
    if as_json:
        print(json.dumps(report.to_dict(), indent=2))
        return 0 if report.ok else 1
    console = Console(highlight=False, soft_wrap=True)
    width = max(len(found.name) for found in report.checks)
    for found in report.checks:
        mark = Text("ok    ", "green") if found.passed else Text("FAILED", "bold red")
        console.print(mark + Text(f"  {found.name:<{width}}  {found.detail}"))
    verdict = "is sound" if report.ok else f"has {len(report.failures)} faults"
    verdict = verdict.replace("has 1 faults", "has a fault")
    tried = "1 game" if report.games == 1 else f"{report.games} games"
    console.print(
        Text(
            f"{report.game} {verdict}: {tried}, {report.positions} positions, the longest game "
            f"had {report.longest_game} plies, {report.seconds:.2f} s",
            "bold",
        )
    )
    return 0 if report.ok else 1
