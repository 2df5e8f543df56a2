"""`zermelo demo`: the main job in a few minutes. Learns Connect Four, then offers page and game.

The run is an ordinary one (`runs/demo`): the command goes on with it when it is given again, and
every other command can look at it.
"""

from __future__ import annotations

import json
import select
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from zermelo.cli.exit_codes import INTERRUPTED
from zermelo.cli.options import JsonOption
from zermelo.cli.telling import tell

PRESET = "connect4-quick"
DIRECTORY = Path("runs/demo")


def add_to(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(demo)


def demo(
    duration: Annotated[
        str, typer.Option("--for", metavar="TIME", help="How long to learn, such as 3m or 20s.")
    ] = "3m",
    run: Annotated[Path, typer.Option(help="Directory of the run; an old one continues.")] = (
        DIRECTORY
    ),
    as_json: JsonOption = False,
) -> None:
    """Learn Connect Four for a few minutes, then play against it."""
    from zermelo.config import parse_duration
    from zermelo.loop import Stop, make_view, run_loop
    from zermelo.runs.opening import need_torch, open_run, yardsticks_of

    need_torch()
    stop = Stop(parse_duration(duration))
    made = open_run(PRESET, run, [], tell)
    console = Console(stderr=as_json, highlight=False)
    positions = made.config.evaluate.positions
    console.print(
        f"Zermelo learns Connect Four by playing itself, from nothing, for {duration} on this "
        f"machine. After each iteration a solver judges its moves in {positions} positions.",
        soft_wrap=True,
    )
    view = make_view(sys.stderr if as_json else sys.stdout)
    found = run_loop(made, stop, view, yardsticks_of(made.config, stop.check))
    rows = measured(made.metrics)
    if as_json:
        print(json.dumps(found | {"curve": rows}, indent=2))
    else:
        console.print(curve(rows))
        console.print(f"\nWatch how it learned: zermelo web {run}", soft_wrap=True)
        if not stop.interrupted and wants_page(console):
            show_page(run)
            return
        offer_game(console, run, play_now=not stop.interrupted)
    if stop.interrupted:
        raise typer.Exit(INTERRUPTED)


def measured(metrics: Path) -> list[dict[str, Any]]:
    """One row per measured iteration, with stable keys."""
    from zermelo.train.metrics import read_metrics

    rows: list[dict[str, Any]] = []
    games = 0
    for row in read_metrics(metrics):
        games += int(row.get("selfplay", {}).get("games", 0))  # pretraining plays none
        found: dict[str, Any] = row.get("evaluate") or {}
        if "connect4.keeps_value" not in found:
            continue
        rows.append(
            {
                "iteration": row["iteration"],
                "seconds": row["seconds"],
                "games": games,
                "keeps_value": found["connect4.keeps_value"],
                "policy_keeps_value": found["connect4.policy_keeps_value"],
            }
        )
    return rows


def curve(rows: list[dict[str, Any]]) -> Table:
    """For people."""
    table = Table(
        title="Share of moves that keep what the position is worth",
        title_style="bold",
        box=None,
        pad_edge=False,
    )
    for heading in ("iteration", "minutes", "games", "with search", "network alone"):
        table.add_column(heading, justify="right")
    for row in rows:
        table.add_row(
            str(row["iteration"]),
            f"{row['seconds'] / 60:.1f}",
            f"{row['games']:,}",
            f"{row['keeps_value']:.1%}",
            f"{row['policy_keeps_value']:.1%}",
        )
    return table


def wants_page(console: Console) -> bool:
    """Asks, if there is a person with a browser and the page can be served."""
    from zermelo.cli.web import missing_package

    if not (console.is_terminal and sys.stdin is not None and sys.stdin.isatty()):
        return False
    if missing_package() or not has_browser():
        return False
    answer = console.input("Open it in the browser now? [y/N] ")
    return answer.strip().lower() in ("y", "yes")


def has_browser() -> bool:
    """Whether this machine knows one."""
    import webbrowser

    try:
        webbrowser.get()
    except webbrowser.Error:
        return False
    return True


def show_page(run: Path) -> None:
    """Until Ctrl-C."""
    from zermelo.cli.web import web

    web([run], port=0, open_page=True)


def offer_game(console: Console, run: Path, play_now: bool) -> None:
    """A game against what was learned: at once if anybody is there, else how to begin one."""
    from zermelo.cli.play import play

    command = f"zermelo play connect4 --run {run}"
    if not (play_now and someone_answers()):
        console.print(f"\nYour turn: {command}", soft_wrap=True)
        return
    console.print(f"\nYour turn ({command}).", soft_wrap=True)
    play("connect4", against=None, run=run, side="first", position=None)


def someone_answers() -> bool:
    """Whether the standard input is a terminal or has something to read, if only its end."""
    if sys.stdin is None or sys.stdin.closed:
        return False
    try:
        return sys.stdin.isatty() or bool(select.select([sys.stdin], [], [], 0.2)[0])
    except (OSError, ValueError):  # no real file, as in tests
        return True
