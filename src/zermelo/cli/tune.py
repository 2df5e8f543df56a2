"""`zermelo tune`: finds constants of the search by play."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zermelo.cli.exit_codes import NO
from zermelo.cli.match_report import (
    ConcurrencyOption,
    Live,
    MaxPliesOption,
    OpeningsOption,
    ResignOption,
    SeedOption,
    adjudication_of,
    print_table,
)
from zermelo.cli.options import GameArgument, JsonOption
from zermelo.errors import UserError

if TYPE_CHECKING:
    from zermelo.matches.match import MatchResult
    from zermelo.tune.tuning import Standing

OPTIONS = "c_puct,fpu_reduction,policy_temperature"


def add_to(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(tune)


def tune(
    game: GameArgument,
    options: Annotated[
        str, typer.Option(help="NAME or NAME=LOW:HIGH, joined by commas.")
    ] = OPTIONS,
    weights: Annotated[
        str | None, typer.Option(help="A network; without one, random games.")
    ] = None,
    simulations: Annotated[int, typer.Option(min=1, help="Simulations for each move.")] = 64,
    base: Annotated[
        str, typer.Option(help="Options of both sides, such as gumbel=off&fpu=reduced.")
    ] = "",
    steps: Annotated[int, typer.Option(min=1, help="Most steps; it may settle before.")] = 200,
    pairs: Annotated[int, typer.Option(min=1, help="Pairs of games for each step.")] = 8,
    check: Annotated[
        int, typer.Option(min=0, help="Games of the match that checks the result; 0 means none.")
    ] = 400,
    openings: OpeningsOption = "random:4",
    seed: SeedOption = 0,
    concurrency: ConcurrencyOption = 1,
    max_plies: MaxPliesOption = 512,
    resign: ResignOption = None,
    out: Annotated[
        Path | None, typer.Option(help="Directory; an interrupted tuning goes on from there.")
    ] = None,
    write: Annotated[
        Path | None,
        typer.Option(help="Network file to write with the constants, if the check is won."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Find constants of the search by play: SPSA over paired games, then a match as a check."""
    from zermelo.matches.match import MatchOptions
    from zermelo.network.open import open_network
    from zermelo.network.places import network_path
    from zermelo.runs.directory import refuse_own_part
    from zermelo.search import SearchOptions
    from zermelo.tune.constants import parse_constants
    from zermelo.tune.tuning import TuneOptions, Tuning

    if write is not None and (weights is None or check == 0):
        raise UserError("--write needs a network (--weights) and a check (--check)")
    if write is not None:
        refuse_own_part(write)
    if write is not None and write.suffix not in (".onnx", ".safetensors"):
        raise UserError(f"'{write.name}' should end in .onnx or .safetensors")
    constants = parse_constants(options)
    given = dict(part.partition("=")[::2] for part in base.split("&") if part)
    for constant in constants:
        if constant.name in given:
            raise UserError(f"{constant.name} is tuned, so --base cannot set it")
    search = open_network(weights, game).search if weights else SearchOptions()
    head = network_path(weights) if weights else "rollout"
    text = f"{head}?simulations={simulations}" + (f"&{base}" if base else "")
    plan = MatchOptions(
        openings=openings,
        seed=seed,
        concurrency=concurrency,
        adjudication=adjudication_of(max_plies, resign),
        out=out,
    )
    tuning = Tuning(
        text, game, constants, search, TuneOptions(steps, pairs, check_games=check, match=plan)
    )
    checked: MatchResult | None = None
    finished = False
    try:
        with Live() as live:
            for standing in tuning.climb():
                live.show(len(standing.path) - 1, steps, sentence(standing))
            if check:

                def progress(result: MatchResult) -> None:
                    live.show(len(result.records), check, f"check: {result}")

                checked = tuning.check(progress)
            finished = True
    finally:  # what is known is shown also when Ctrl-C ends the rest
        found = report(tuning.standing, checked, finished)
        if not as_json:
            show(tuning.standing, checked)
    found["written"] = None
    if write is not None and found["better"]:
        keep(str(weights), write, tuning.standing.values)
        found["written"] = str(write)
    if as_json:
        print(json.dumps(found, indent=2))
    elif write is not None:
        print(f"{write}: written" if found["better"] else f"{write}: not written")
    if write is not None and not found["better"]:
        raise typer.Exit(NO)


def keep(weights: str, target: Path, values: dict[str, float]) -> None:
    """Writes the network with these constants among its own search options."""
    from zermelo.network import save_network
    from zermelo.network.open import open_weights
    from zermelo.network.own_search import changed_options
    from zermelo.search import SearchOptions

    network = open_weights(weights)
    own = changed_options(SearchOptions(**{**network.search, **values}))
    save_network(replace(network, search=own), target)


def sentence(standing: Standing) -> str:
    """The constants in a line."""
    return "  ".join(f"{r['name']} {r['value']:g} ± {r['error']:.2g}" for r in standing.rows())


def report(standing: Standing, checked: MatchResult | None, finished: bool) -> dict[str, Any]:
    """Plain values with stable keys, for JSON; `better` only if the check leaves no doubt."""
    return {
        "constants": standing.rows(),
        "steps": len(standing.path) - 1,
        "games": standing.games,
        "settled": standing.settled,
        "interrupted": not finished,
        "check": checked.to_dict() if checked else None,
        "better": bool(checked and checked.split.best.interval()[0] > 0),
    }


def show(standing: Standing, checked: MatchResult | None) -> None:
    """A line for each constant, and what the check says."""
    rows = [
        [
            row["name"],
            f"{row['begin']:g}",
            f"{row['value']:g}",
            f"± {row['error']:.2g}",
            f"{row['low']:g} to {row['high']:g}",
        ]
        for row in standing.rows()
    ]
    print_table(["constant", "begin", "found", "error", "bounds"], rows, left=1)
    steps = len(standing.path) - 1
    state = "settled" if standing.settled else "not settled"
    print(f"\n{steps} steps, {standing.games} games: {state}")
    if checked is not None:
        low, high = checked.split.best.interval()
        verdict = "better" if low > 0 else "worse" if high < 0 else "no difference that is sure"
        print(f"check on other openings: {checked.split.elo_text} Elo: {verdict}")
