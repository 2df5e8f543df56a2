"""`zermelo tournament`: many players, a crosstable and a rating list."""

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
    TablebaseOption,
    VisitsOption,
    adjudication_of,
    playing_on,
    print_notes,
    print_table,
    say_interrupted,
    short_name,
)
from zermelo.cli.options import ClusterOption, JsonOption, finite

if TYPE_CHECKING:
    from zermelo.matches.tournament import TournamentResult
    from zermelo.statistics.bradley_terry import Ratings


def add_to(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(tournament)


def tournament(
    players: Annotated[list[str], typer.Argument(metavar="PLAYER...", help="Two or more players.")],
    game: GameOption = None,
    kind: Annotated[
        str, typer.Option(help="round-robin, or gauntlet: the first player against the others.")
    ] = "round-robin",
    games: Annotated[int, typer.Option(min=2, help="Games of each pairing; an even number.")] = 20,
    simulations: SimulationsOption = None,
    anchor: Annotated[str | None, typer.Option(help="Player whose rating is fixed.")] = None,
    anchor_elo: Annotated[float, typer.Option(callback=finite, help="Rating of the anchor.")] = 0.0,
    openings: OpeningsOption = "random:4",
    seed: SeedOption = 0,
    concurrency: ConcurrencyOption = 1,
    cluster: ClusterOption = None,
    max_plies: MaxPliesOption = 512,
    resign: ResignOption = None,
    draw: DrawOption = None,
    tablebase: TablebaseOption = "",
    out: OutOption = None,
    as_json: JsonOption = False,
    visits: VisitsOption = None,
) -> None:
    """Play many players against each other and rate them."""
    from zermelo.matches.contestants import with_budget
    from zermelo.matches.match import MatchOptions
    from zermelo.matches.tournament import play_tournament

    options = MatchOptions(
        games=games,
        openings=openings,
        seed=seed,
        concurrency=concurrency,
        adjudication=adjudication_of(max_plies, resign, draw, tablebase),
        out=out,
    )
    specs = with_budget(players, simulations or visits)
    if anchor in players:
        anchor = specs[players.index(anchor)]
    result: TournamentResult | None = None
    games_in_all = 0
    interrupted = False
    try:
        with playing_on(cluster) as elsewhere, Live() as live:

            def progress(so_far: TournamentResult, total: int) -> None:
                nonlocal result, games_in_all
                result, games_in_all = so_far, total
                best = so_far.ratings.rows[0]
                text = f"best so far: {short_name(best.name)} {best.elo or 0:+.0f}"
                live.show(len(so_far.records), total, text)

            there = replace(options, elsewhere=elsewhere)
            result = play_tournament(specs, game, there, kind, anchor, anchor_elo, progress)
    except KeyboardInterrupt:
        if result is None:
            raise
        interrupted = True
    if as_json:
        print(json.dumps(result.to_dict() | {"interrupted": interrupted}, indent=2))
    else:
        show(result)
    if interrupted:
        say_interrupted(len(result.records), games_in_all, out)
        raise typer.Exit(130)


def show(result: TournamentResult) -> None:
    """The rating list, and who beat whom."""
    ratings = result.ratings
    show_list(result, ratings)
    print()
    show_crosstable(result, ratings)
    if ratings.first_advantage is not None:
        print(
            "\nmoving first is worth {:+.0f} Elo (standard error {:.0f})".format(
                *ratings.first_advantage
            )
        )
    figures = result.to_dict()
    print(f"{result.game}, {figures['games']} games")
    print_notes(figures)


def show_list(result: TournamentResult, ratings: Ratings) -> None:
    """The best first. LOS is the likelihood of being stronger than the next in the list."""
    rows = []
    for place, row in enumerate(ratings.rows):
        margin = ratings.margin(row.name)
        elo = "-" if row.elo is None or margin is None else f"{row.elo:+.1f} ± {margin:.1f}"
        split = result.split(result.names.index(row.name))
        figures = [str(row.score), f"{row.score.score:.1%}", _los(ratings, place)]
        seats = [str(split.first), str(split.second)]
        rows.append([str(place + 1), short_name(row.name), elo, *figures, *seats])
    heads = ("", "player", "Elo (95 %)", "games", "score", "LOS over next", "P1-W", "P1-B")
    print_table(heads, rows, left=2)


def _los(ratings: Ratings, place: int) -> str:
    """Over the next in the list; the last one and those without a rating have none."""
    pair = ratings.rows[place : place + 2]
    if len(pair) < 2 or pair[1].elo is None:
        return "-"
    return f"{ratings.los(pair[0].name, pair[1].name):.1%}"


def show_crosstable(result: TournamentResult, ratings: Ratings) -> None:
    """Points of everybody against everybody, in the order of the list."""
    order = [result.names.index(row.name) for row in ratings.rows]
    places = [str(place) for place in range(1, len(order) + 1)]
    rows = [
        [place, short_name(result.names[player]), *(_cell(result, player, o) for o in order)]
        for place, player in zip(places, order, strict=True)
    ]
    print_table(["", "player", *places], rows, left=2)


def _cell(result: TournamentResult, player: int, other: int) -> str:
    """Points of one player against another."""
    if player == other:
        return "·"
    total = result.split(player, other).total
    return f"{total.points:g}/{total.games}" if total.games else "-"
