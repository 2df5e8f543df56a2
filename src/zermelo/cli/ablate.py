"""`zermelo ablate`: which option of the search matters, for this game and this network."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from zermelo.cli.match_report import (
    ConcurrencyOption,
    DrawOption,
    Live,
    MaxPliesOption,
    OpeningsOption,
    OutOption,
    ResignOption,
    SeedOption,
    SprtOption,
    adjudication_of,
    games_of,
    playing_on,
    print_notes,
    print_table,
    short_name,
    sprt_of,
    undecided,
)
from zermelo.cli.options import ClusterOption, GameArgument, JsonOption, finite
from zermelo.errors import UserError

if TYPE_CHECKING:
    from zermelo.matches.ablate import AblationRow, Comparison
    from zermelo.matches.match import MatchResult

OPTIONS = "solver,auto_extend,fpu,turn_discount,tree_reuse"


def add_to(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(ablate)


def ablate(
    game: GameArgument,
    options: Annotated[
        str, typer.Option(help="NAME, NAME=VALUE:VALUE or NAME+NAME, joined by commas.")
    ] = OPTIONS,
    weights: Annotated[
        Path | None, typer.Option(help="A network; without one, random games.")
    ] = None,
    simulations: Annotated[
        int | None, typer.Option(min=1, help="Simulations for each move.")
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(callback=finite, help="Seconds for each move, instead of simulations."),
    ] = None,
    games: Annotated[
        int | None,
        typer.Option(min=1, help="Games of each comparison: 100, or at most 20,000 with --sprt."),
    ] = None,
    sprt: SprtOption = None,
    base: Annotated[
        str, typer.Option(help="Options of both sides, such as c_puct=2&threads=1.")
    ] = "",
    openings: OpeningsOption = "random:4",
    seed: SeedOption = 0,
    concurrency: ConcurrencyOption = 1,
    cluster: ClusterOption = None,
    max_plies: MaxPliesOption = 512,
    resign: ResignOption = None,
    draw: DrawOption = None,
    out: OutOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what each option of the search is worth: on against off."""
    from zermelo.matches.ablate import ablate as rows_of
    from zermelo.matches.ablate import comparisons
    from zermelo.matches.match import MatchOptions

    if simulations is not None and seconds is not None:
        raise UserError("--simulations and --seconds are two ways to be fair: choose one")
    if seconds is not None and not seconds > 0:
        raise UserError(f"--seconds must be above 0, not {seconds:g}")
    budget = f"seconds={seconds}" if seconds else f"simulations={simulations or 100}"
    head = str(weights) if weights else "rollout"
    pairs = comparisons(options)
    settings = MatchOptions(
        games=games_of(games, sprt),
        openings=openings,
        seed=seed,
        concurrency=concurrency,
        sprt=sprt_of(sprt),
        adjudication=adjudication_of(max_plies, resign, draw),
        out=out,
    )
    text = f"{head}?{budget}" + (f"&{base}" if base else "")
    rows: list[AblationRow] = []
    try:
        with playing_on(cluster) as elsewhere, Live() as live:

            def progress(pair: Comparison, result: MatchResult) -> None:
                place = f"{pairs.index(pair) + 1}/{len(pairs)} {pair.option}: "
                live.show(len(result.records), settings.games, place + str(result))

            there = replace(settings, elsewhere=elsewhere)
            for row in rows_of(text, game, pairs, there, progress):
                rows.append(row)
    finally:  # what was played is shown also when an error or Ctrl-C ends the rest
        if rows and as_json:
            listing = {"game": game, "base": text, "interrupted": len(rows) < len(pairs)}
            print(json.dumps(listing | {"rows": [row.to_dict() for row in rows]}, indent=2))
        elif rows:
            show(rows, text)


def show(rows: list[AblationRow], base: str) -> None:
    """One line for each comparison."""
    lines = []
    for row in rows:
        split = row.result.split
        total, best = split.total, split.best
        low, high = best.interval()
        speed = row.speed_ratio
        test = row.result.sprt_state
        lines.append(
            [
                row.comparison.option,
                "{} : {}".format(*row.comparison.values),
                str(total),
                f"{total.score:.1%}",
                f"{best.elo:+.1f}",
                f"{low:+.1f} to {high:+.1f}",
                f"{best.los:.1%}",
                "-" if speed is None else f"{speed:.2f}x",
                *([str(test)] if test else []),
            ]
        )
    heads = ["option", "values", "games", "score", "Elo", "95 %", "LOS", "speed"]
    print_table(heads + (["test"] if rows and rows[0].result.sprt else []), lines, left=2)
    print(f"\n{short_name(base)}: figures are for the first value;")
    print("speed is its simulations per second divided by the second value's")
    for row in rows:
        if open_test := undecided(row.result):
            print(f"{row.comparison.option}: {open_test}")
        print_notes(row.result.to_dict(), f"{row.comparison.option}: ")
