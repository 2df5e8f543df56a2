"""`zermelo check`: is a game sound?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.text import Text

from zermelo import _core
from zermelo.cli.options import GameArgument, JsonOption
from zermelo.games import game as find_game
from zermelo.testing import Check, Report, check_game

if TYPE_CHECKING:
    from zermelo.analysis.rules_cost import RulesCost

SECONDS = 2.0  # at most, for each of what is measured or tried beside the random games
STYLES = {"ok": "green", "warning": "bold yellow", "FAILED": "bold red", "skipped": "dim"}


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
    rules = find_game(game)
    report = check_game(rules, games=games, seed=seed, max_plies=max_plies)
    trial = cost = None
    if report.ok:
        from zermelo.analysis.rules_cost import rules_cost
        from zermelo.analysis.rules_trial import rules_trial

        trial = rules_trial(rules, seconds=SECONDS, seed=seed)
        native = type(rules).__module__ == _core.__name__
        cost = None if native else rules_cost(rules, seconds=SECONDS)
        beaten = f"made {trial.points:g} of {trial.games} points"
        status = "warning" if trial.warning else "ok"
        report.checks.append(Check("against random", True, trial.warning or beaten, status))
    if as_json:
        found = report.to_dict() | {"cost": None if cost is None else cost.to_dict()}
        print(json.dumps(found, indent=2))
        return 0 if report.ok else 1
    console = Console(highlight=False, soft_wrap=True)
    width = max(len(found.name) for found in report.checks)
    for one in report.checks:
        mark = Text(f"{one.status:<7}", STYLES[one.status])
        console.print(mark + Text(f"  {one.name:<{width}}  {one.detail}"))
    if cost is not None:
        show_cost(console, cost)
    console.print(Text(verdict(report), "bold"))
    return 0 if report.ok else 1


def show_cost(console: Console, cost: RulesCost) -> None:
    """What a call takes, and what part of a search."""
    console.print(
        Text(
            f"A small network searches {cost.simulations_per_second:,.0f} positions a "
            "second; of its time take:"
        )
    )
    for method in cost.methods:
        console.print(
            Text(f"  {method.share:>4.0%}  {method.name:<16} {method.microseconds:.1f} µs")
        )
    console.print(Text(cost.advice))


def verdict(report: Report) -> str:
    """The last line."""
    faults, warnings = len(report.failures), len(report.warnings)
    said = "is sound" if report.ok else "has a fault" if faults == 1 else f"has {faults} faults"
    if warnings:
        said += ", with a warning" if warnings == 1 else f", with {warnings} warnings"
    tried = "1 game" if report.games == 1 else f"{report.games} games"
    return (
        f"{report.game} {said}: {tried}, {report.positions} positions, the longest game "
        f"had {report.longest_game} plies, {report.seconds:.2f} s"
    )
