"""`zermelo doctor`: says in plain sentences what is wrong with a run."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from zermelo.cli.options import JsonOption, RunArgument, TrustOption

if TYPE_CHECKING:
    from zermelo.doctor.diagnose import Finding

MARKS = {"healthy": "[green]healthy[/]", "ill": "[red]ill[/]", "unknown": "[dim]unknown[/]"}


def add_to(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(doctor)


def doctor(
    run: RunArgument,
    quick: Annotated[
        bool, typer.Option("--quick", help="Read only metrics and shard headers.")
    ] = False,
    trust: TrustOption = False,
    as_json: JsonOption = False,
) -> None:
    """Say why a run does not learn, and what to do.

    The exit code is 1 if something is wrong. The doctor changes nothing; the run may be under way.
    """
    from zermelo.doctor.diagnose import diagnose, ill, to_dict

    terminal = Console(stderr=True)
    started = time.perf_counter()
    with terminal.status("doctor") as status:
        findings = diagnose(run, deep=not quick, trust=trust, progress=status.update)
    if as_json:
        found = to_dict(run, findings)
        print(json.dumps(found | {"seconds": round(time.perf_counter() - started, 3)}, indent=2))
    else:
        console = Console()
        table = Table("check", "verdict", "found", show_lines=False)
        for finding in findings:
            table.add_row(finding.check, MARKS[finding.verdict], finding.sentence)
        console.print(table)
        wrong = ill(findings)
        for finding in wrong:
            console.print(f"{finding.check}: {finding.sentence}.", markup=False, soft_wrap=True)
            console.print(f"    {finding.advice}", markup=False, soft_wrap=True)
        if not wrong:
            console.print(all_clear(findings))
    if ill(findings):
        raise typer.Exit(1)


def all_clear(findings: Sequence[Finding]) -> str:
    """What to say of a run in which nothing is ill: how much of it could be judged at all."""
    from zermelo.doctor.diagnose import known

    judged = len(known(findings))
    if not judged:
        return f"Nothing can be said yet: {findings[0].sentence}."
    return f"Nothing wrong was found ({judged} checks healthy, {len(findings) - judged} unknown)."
