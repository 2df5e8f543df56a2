"""`zermelo solve`: how many problems of a suite a player solves, and with how many simulations."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zermelo.cli.options import PIPED_WIDTH, ClusterOption, JsonOption
from zermelo.errors import UserError

if TYPE_CHECKING:
    from rich.console import Console

    from zermelo.suites.files import Suite
    from zermelo.suites.solve import Answer

    Solve = Callable[[Suite, str], Iterator[Answer]]

THEMES = 20  # rows of the table; JSON has all
PLAIN_EVERY = 25  # problems between two lines of progress without a terminal


def add_to(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(solve)


def solve(
    suite: Annotated[
        Path, typer.Argument(help="An EPD, puzzle CSV, Connect Four or Othello file.")
    ],
    player: Annotated[
        list[str] | None,
        typer.Option("--player", "-p", help="A player, as in a match; repeatable, to compare."),
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Solve only this many problems.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write the answers to this file, one JSON object per line.")
    ] = None,
    cluster: ClusterOption = None,
    failed: Annotated[bool, typer.Option("--failed", help="List the problems not solved.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Let players solve mates, puzzles or positions with known scores."""
    from zermelo.suites.files import read_suite
    from zermelo.suites.report import summary

    problems = read_suite(suite, limit)
    if out is not None:
        require_writable(out)
    players = player or ["search?simulations=800"]
    reports: list[dict[str, Any]] = []
    interrupted = False
    with solving_on(cluster) as elsewhere:
        for spec in players:
            name, answers, interrupted = run(problems, spec, elsewhere)
            if out is not None:
                write_answers(out, name, answers, append=bool(reports))
            report = {"player": name, **summary(answers)}
            told = {"answers": [a.to_dict() for a in answers]} if as_json else {}
            reports.append(report | told)
            if not as_json:
                show(problems, reports[-1], answers if failed else [])
            if interrupted:
                break
    if as_json:
        listing = {"suite": problems.name, "kind": problems.kind, "game": problems.game}
        print(json.dumps(listing | {"interrupted": interrupted, "players": reports}, indent=2))
    elif len(reports) > 1:
        compare(reports)
    if interrupted:
        raise typer.Exit(130)


@contextmanager
def solving_on(cluster: str | None) -> Iterator[Solve | None]:
    """What solves a suite on a cluster; None solves it here."""
    if cluster is None:
        yield None
        return
    from zermelo.cluster.needed import need_ray

    need_ray()
    from zermelo.cluster.connection import connect
    from zermelo.cluster.suites import answers_on

    with connect(cluster) as joined:
        yield partial(answers_on, joined)


def run(suite: Suite, spec: str, elsewhere: Solve | None = None) -> tuple[str, list[Answer], bool]:
    """The player's name, its answers so far, and whether Ctrl-C ended it."""
    from zermelo.suites.solve import SuiteSolver

    solver = SuiteSolver(suite, spec)
    answers: list[Answer] = []
    progress = Progress(solver.player.name, len(suite.problems))
    try:
        for answer in elsewhere(suite, spec) if elsewhere else solver.answers():
            answers.append(answer)
            progress.show(len(answers), sum(a.solved for a in answers))
    except KeyboardInterrupt:
        return solver.player.name, answers, True
    finally:
        progress.end()
    return solver.player.name, answers, False


class Progress:
    """On the standard error: a line that is drawn again, or a plain one now and then."""

    def __init__(self, name: str, problems: int) -> None:
        self.name = name
        self.problems = problems
        self._live = sys.stderr.isatty()

    def show(self, done: int, solved: int) -> None:
        """After each problem."""
        text = f"{self.name}: {done} of {self.problems}, {solved} solved ({solved / done:.1%})"
        if self._live:
            print(f"\r\x1b[K{text[:120]}", end="", file=sys.stderr, flush=True)
        elif done % PLAIN_EVERY == 0 and done < self.problems:
            print(text, file=sys.stderr, flush=True)

    def end(self) -> None:
        """Makes room for what comes next."""
        if self._live:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def require_writable(path: Path) -> None:
    """Refuses a file that could not be written once all problems are solved."""
    if not path.resolve().parent.is_dir():
        raise UserError(f"--out '{path}': there is no folder '{path.parent}'")
    try:
        path.open("a").close()
    except OSError as error:
        raise UserError(f"--out '{path}' cannot be written: {error.strerror}") from None


def write_answers(path: Path, name: str, answers: list[Answer], append: bool) -> None:
    """One line per problem."""
    with path.open("a" if append else "w") as file:
        for answer in answers:
            file.write(json.dumps({"player": name, **answer.to_dict()}) + "\n")


def make_console() -> Console:
    """Wide enough for tables in a file or pipe."""
    from rich.console import Console

    console = Console(highlight=False, markup=False)
    if not console.is_terminal:
        console.width = max(console.width, PIPED_WIDTH)
    return console


def show(suite: Suite, report: dict[str, Any], answers: list[Answer]) -> None:
    """One player's figures."""
    console = make_console()
    console.print(f"{suite.name} ({suite.kind}), {report['player']}", style="bold", soft_wrap=True)
    for line in headlines(suite, report):
        console.print("  " + line, soft_wrap=True)
    if report["themes"]:
        console.print(themes(report["themes"]))
    for answer in answers:
        if not answer.solved:
            console.print(f"  {answer.name}: {answer.given}, not {answer.wanted}", soft_wrap=True)


def headlines(suite: Suite, report: dict[str, Any]) -> list[str]:
    """The figures in sentences."""
    solved = {"mates": "proven", "connect4": "result kept", "othello": "result kept"}
    lines = [
        f"{solved.get(suite.kind, 'solved')} {report['solved']} of {report['problems']}: "
        f"{report['share']:.1%} ({report['share_low']:.1%} to {report['share_high']:.1%}), "
        f"{report['seconds']:.1f} s"
    ]
    if report["optimal"] is not None:
        share = report["optimal"] / report["problems"]
        lines.append(f"best score kept {report['optimal']} of {report['problems']}: {share:.1%}")
    if report["value_error"] is not None:
        lines.append(f"value off by {report['value_error']:.3f} on average (of at most 2)")
    if report["simulations"] is not None:
        table = report["simulations"]
        within = ", ".join(f"{int(b):,}: {share:.1%}" for b, share in table["within"].items())
        lines.append(f"solved for good within simulations {within}")
        median, most = table["median_of_solved"], table["most"]
        lines.append(f"median of the solved {median:g} simulations, most {most:,}")
    if report["mates"] is not None:
        mates = report["mates"]
        lines.append(
            f"{mates['claimed']} mates claimed: {mates['verified']} verified against every "
            f"defence, {len(mates['undecided'])} undecided, {len(mates['wrong'])} wrong; "
            f"{mates['exact']} of the stated length"
        )
    return lines


def themes(rows: list[dict[str, Any]]) -> Any:
    """The table by theme."""
    from rich.table import Table

    table = Table(box=None, pad_edge=True)
    for name in ("theme", "problems", "solved", "share", "median simulations"):
        table.add_column(name, justify="left" if name == "theme" else "right")
    for row in rows[:THEMES]:
        median = row["median_simulations"]
        cells = (row["problems"], row["solved"], f"{row['share']:.1%}")
        table.add_row(row["theme"], *map(str, cells), "-" if median is None else f"{median:g}")
    if len(rows) > THEMES:
        table.add_row(f"and {len(rows) - THEMES} more")
    return table


def compare(reports: list[dict[str, Any]]) -> None:
    """All players in one table."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for name in ("player", "solved", "share", "95 % interval", "median simulations", "seconds"):
        table.add_column(name, justify="left" if name == "player" else "right", overflow="fold")
    for report in reports:
        median = report["simulations"] and report["simulations"]["median_of_solved"]
        table.add_row(
            report["player"],
            f"{report['solved']} of {report['problems']}",
            f"{report['share']:.1%}",
            f"{report['share_low']:.1%} to {report['share_high']:.1%}",
            "-" if median is None else f"{median:g}",
            f"{report['seconds']:.1f}",
        )
    make_console().print(table)
