"""`zermelo match`: two players, many games, and what the result is worth."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from zermelo.cli.match_report import (
    ConcurrencyOption,
    DrawOption,
    GameOption,
    Live,
    MaxPliesOption,
    OpeningsOption,
    OutOption,
    ResignOption,
    SeedOption,
    SimulationsOption,
    SprtOption,
    TablebaseOption,
    VisitsOption,
    adjudication_of,
    games_of,
    playing_on,
    print_notes,
    print_table,
    say_interrupted,
    short_name,
    sprt_of,
    undecided,
)
from zermelo.cli.options import ClusterOption, JsonOption
from zermelo.errors import UserError

if TYPE_CHECKING:
    from zermelo.matches.match import MatchResult
    from zermelo.statistics.rating import ColourSplit

TYPICAL = 'zermelo match connect4.onnx "rollout?simulations=1000" --games 100'


def add_to(app: typer.Typer) -> None:
    """Adds the command."""
    # Options such as --a.solver=off are not known beforehand; they arrive among the players.
    app.command(context_settings={"ignore_unknown_options": True})(match)


def match(
    players: Annotated[
        list[str],
        typer.Argument(metavar="A B", help="Two players; --a.NAME=VALUE sets an option of A."),
    ],
    game: GameOption = None,
    games: Annotated[
        int | None,
        typer.Option(min=1, help="Two from each opening: 100, or at most 20,000 with --sprt."),
    ] = None,
    simulations: SimulationsOption = None,
    openings: OpeningsOption = "random:4",
    seed: SeedOption = 0,
    concurrency: ConcurrencyOption = 1,
    cluster: ClusterOption = None,
    sprt: SprtOption = None,
    max_plies: MaxPliesOption = 512,
    resign: ResignOption = None,
    draw: DrawOption = None,
    tablebase: TablebaseOption = "",
    out: OutOption = None,
    as_json: JsonOption = False,
    visits: VisitsOption = None,
) -> None:
    """Play two players against each other.

    Each opening is played twice, with colours swapped.
    """
    from zermelo.matches.contestants import with_budget
    from zermelo.matches.match import MatchOptions, play_match

    specs = with_budget(split_players(players), simulations or visits)
    options = MatchOptions(
        games=games_of(games, sprt),
        openings=openings,
        seed=seed,
        concurrency=concurrency,
        sprt=sprt_of(sprt),
        adjudication=adjudication_of(max_plies, resign, draw, tablebase),
        out=out,
    )
    result: MatchResult | None = None
    interrupted = False
    try:
        with playing_on(cluster) as elsewhere, Live() as live:

            def progress(so_far: MatchResult) -> None:
                nonlocal result
                result = so_far
                live.show(len(so_far.records), options.games, str(so_far))

            result = play_match(specs, game, replace(options, elsewhere=elsewhere), progress)
    except KeyboardInterrupt:
        if result is None:
            raise
        interrupted = True
    if as_json:
        more = {"simulations_per_second": list(result.speeds), "interrupted": interrupted}
        print(json.dumps(result.to_dict() | more, indent=2))
    else:
        show(result)
    if interrupted:
        say_interrupted(len(result.records), options.games, out)
        raise typer.Exit(130)


def show(result: MatchResult) -> None:
    """The table, the line that chess people know, and warnings."""
    split = result.split
    rows = []
    for name, sides in zip(result.names, (split, reversed_split(split)), strict=True):
        total, best = sides.total, sides.best
        low, high = best.interval()
        rows.append(
            [
                short_name(name),
                str(total),
                f"{total.score:.1%}",
                f"{best.elo:+.1f}",
                f"{low:+.1f} to {high:+.1f}",
                f"{best.los:.1%}",
                str(sides.first),
                str(sides.second),
            ]
        )
    heads = ("player", "games", "score", "Elo", "95 %", "LOS", "moving first", "second")
    print_table(heads, rows)
    print(f"\n{result}")
    figures = result.to_dict()
    print(
        f"{result.game}, {figures['games']} games of {figures['mean_plies']:.0f} plies on average"
    )
    if any(result.speeds):
        print("simulations per second: {:,.0f} and {:,.0f}".format(*result.speeds))
    if open_test := undecided(result):
        print(open_test)
    print_notes(figures)


def reversed_split(split: ColourSplit) -> ColourSplit:
    """The same games from the opponent's side."""
    from zermelo.statistics.rating import ColourSplit, Pentanomial

    first, second = split.second.reversed(), split.first.reversed()
    a, b, c, d, e = split.pairs.pairs
    return ColourSplit(first, second, Pentanomial((e, d, c, b, a)))


def split_players(words: list[str]) -> list[str]:
    """The two players, with their own options (`--a.solver=off`, `--b.fpu zero`) in their texts."""
    from zermelo.matches.contestants import add_settings

    given: dict[str, dict[str, str]] = {"a": {}, "b": {}}
    specs: list[str] = []
    rest = iter(words)
    for word in rest:
        if not word.startswith("--"):
            specs.append(word)
            continue
        name, equals, value = word[2:].partition("=")
        side, dot, option = name.partition(".")
        if side not in given or not dot or not option:
            raise UserError(
                f"there is no option '{word}'; a player's own option looks like --a.solver=off"
            )
        given[side][option] = value if equals else next(rest, "")
        if not given[side][option]:
            raise UserError(f"--{name} needs a value, as in --{name}=off")
    if len(specs) != 2:
        raise UserError(f"a match has two players, not {len(specs)}, as in: {TYPICAL}")
    return [add_settings(spec, given[side]) for spec, side in zip(specs, "ab", strict=True)]
