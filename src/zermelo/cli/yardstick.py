"""`zermelo yardstick`: how strong a network is, by figures that do not depend on its rivals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zermelo.cli.evaluators import open_evaluator, rules_for
from zermelo.cli.match_report import Live, OpeningsOption, SeedOption, print_table
from zermelo.cli.options import (
    MOST_SIMULATIONS,
    BackendOption,
    GameArgument,
    JsonOption,
    SearchSetOption,
    WeightsOption,
    read_settings,
)
from zermelo.errors import UserError
from zermelo.network.own_search import EXACT_CACHE, changed_options
from zermelo.options import value_text
from zermelo.search import SearchOptions

if TYPE_CHECKING:
    from zermelo.games.protocol import Game
    from zermelo.yardsticks.measure import EvaluateOptions
    from zermelo.yardsticks.perfect import PerfectGames

SHARES = ("keeps_value", "keeps_score", "solved", "score", "score_low", "score_high")
COUNTS = ("positions", "judged", "games", "failures", "wins", "unique_games", "first_mistake")
MISTAKES = 5  # lines that are shown; JSON has all
UNSAID = ("threads", *EXACT_CACHE)  # of the machine, and what every yardstick has


def add_to(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(yardstick)


def yardstick(
    game: GameArgument,
    *,
    weights: WeightsOption = None,
    evaluator: Annotated[
        str | None, typer.Option(help="Without a network: uniform, rollout or hash.")
    ] = None,
    simulations: Annotated[
        int,
        typer.Option(min=1, max=MOST_SIMULATIONS, metavar="N", help="Simulations for each choice."),
    ] = 100,
    positions: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Only these positions: 'generated', a file or a folder; repeatable.",
        ),
    ] = None,
    perfect: Annotated[
        int, typer.Option(min=0, help="Games against the perfect player of Connect Four.")
    ] = 0,
    opponents: Annotated[
        str | None, typer.Option(help="Players, separated by blanks; 'policy' does not search.")
    ] = None,
    games: Annotated[int | None, typer.Option(min=1, help="Games against each opponent.")] = None,
    openings: OpeningsOption = "random:4",
    suite: Annotated[Path | None, typer.Option(help="An EPD file of chess problems.")] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Use only this many positions or problems.")
    ] = None,
    exact: Annotated[
        bool,
        typer.Option("--exact", help="Also check in files that moves keep the exact score; slow."),
    ] = False,
    cache: Annotated[
        Path | None, typer.Option(help="File that keeps solved Connect Four positions.")
    ] = None,
    seed: SeedOption = 0,
    threads: Annotated[
        int, typer.Option(min=0, help="Threads of the search and the solver; 0 means one per core.")
    ] = 0,
    settings: SearchSetOption = None,
    backend: BackendOption = "auto",
    as_json: JsonOption = False,
) -> None:
    """Measure a network against fixed standards.

    They are known positions, perfect play and fixed opponents.
    """
    from zermelo.cli.waiting import interruptible
    from zermelo.cores import available_cores
    from zermelo.yardsticks.measure import installed, measure
    from zermelo.yardsticks.wanted import Wanted, evaluate_options

    if (weights is None) == (evaluator is None):
        raise UserError("which network? Give --weights FILE, or --evaluator uniform without one")
    if games is not None and opponents is None and (positions or perfect or suite):
        raise UserError("--games counts games against --opponents, and none is named")
    for opponent in (opponents or "").split():
        if not installed(opponent):
            raise UserError(f"--opponents: '{opponent}' is not installed")
    rules = rules_for(game, weights)
    threads = threads or available_cores()
    given = read_settings(settings or ()) | {"threads": threads}
    SearchOptions(**given)  # a mistake shows before a network is made ready
    opened = open_evaluator(rules, weights, backend, evaluator or "", seed)
    options, title = opened.searched(given), opened.title
    plan = evaluate_options(
        simulations=simulations,
        opponents=opponents,
        games=games,
        openings=openings,
        suite=None if suite is None else str(suite),
        positions=limit,
        perfect_games=perfect or None,
        seed=seed,
        threads=threads,
    )
    with Live() as live:

        def progress(text: str, done: int, of: int) -> None:
            live.show(done, of, text)

        wanted = Wanted(rules, plan, options, progress, cache, threads, exact, limit)
        chosen = (
            wanted.of_sets(positions or [], bool(opponents), perfect)
            if positions or perfect or suite
            else wanted.usual()
        )
        if not chosen:
            raise UserError(f"there is no yardstick for {rules.name} with these options")
        figures = interruptible(lambda: measure(chosen, opened.evaluator))
    games_lost = next((y.last for y in chosen if hasattr(y, "last")), None)
    if as_json:
        print(json.dumps(report(rules, title, plan, options, figures, games_lost), indent=2))
    else:
        show(rules, title, plan, options, figures, games_lost)


def report(
    game: Game,
    title: str,
    plan: EvaluateOptions,
    search: SearchOptions,
    figures: dict[str, float],
    games: PerfectGames | None,
) -> dict[str, Any]:
    """Plain values with stable keys."""
    mistakes = games.mistakes.most_common() if games else []
    return {
        "game": game.name,
        "evaluator": title,
        "simulations": plan.simulations,
        "search": changed_options(search, UNSAID),
        "metrics": figures,
        "mistakes": [{"moves": moves(line), "games": count} for line, count in mistakes],
    }


def show(
    game: Game,
    title: str,
    plan: EvaluateOptions,
    search: SearchOptions,
    figures: dict[str, float],
    games: PerfectGames | None,
) -> None:
    """A table, one row for each figure."""
    print(f"{game.name}, {title}, {plan.simulations} simulations")
    changed = changed_options(search, UNSAID)
    changes = [f"{name} {value_text(value)}" for name, value in changed.items()]
    print(f"search: {', '.join(changes) or 'defaults'}\n")
    rows = [(key, text(key, value)) for key, value in figures.items() if key != "seconds"]
    print_table(("measure", "figure"), rows)
    for line, count in games.mistakes.most_common(MISTAKES) if games else ():
        print(f"the win was given away by {moves(line)} in {count} games")
    print(f"\n{figures['seconds']:.1f} s")


def text(key: str, value: float) -> str:
    """A figure with its unit."""
    last = key.rpartition(".")[2].removeprefix("policy_")
    if last in SHARES:
        return f"{value:.2%}"
    if last == "never_loses":
        return "yes" if value else "no"
    if last in COUNTS or last.startswith("losses"):
        return f"{value:.0f}"
    return f"{value:+.1f}" if last == "elo" else f"{value:.3f}"


def moves(line: tuple[int, ...]) -> str:
    """Columns from 1 to 7, as files of positions have them."""
    return "".join(str(column + 1) for column in line)
