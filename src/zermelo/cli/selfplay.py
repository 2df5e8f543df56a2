"""`zermelo selfplay`: makes shards with a network, without training anything."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from zermelo.cli.exit_codes import INTERRUPTED
from zermelo.cli.options import JsonOption, RunSetOption, TrustOption
from zermelo.cli.telling import tell


def add_to(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(selfplay)


def selfplay(
    game: Annotated[str, typer.Argument(help="A game, a preset, a run file or a Python file.")],
    *,
    out: Annotated[Path, typer.Option(help="Directory for the shards.")],
    samples: Annotated[
        int, typer.Option(min=1, help="Write at least this many, from whole games.")
    ],
    weights: Annotated[
        str | None,
        typer.Option(help="A network: a file, a checkpoint or a run. By default a new one."),
    ] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Number of processes.")] = None,
    settings: RunSetOption = None,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 0,
    trust: TrustOption = False,
    as_json: JsonOption = False,
) -> None:
    """Play games and write their samples as shards."""
    from zermelo.config import RunConfig, parse_settings
    from zermelo.loop import Stop
    from zermelo.loop.shards import ShardMaker
    from zermelo.runs.directory import refuse_own_part
    from zermelo.runs.target import tables_for
    from zermelo.runs.trust import refuse_strange_game

    refuse_own_part(out)
    tables, origin = tables_for(game)
    config = RunConfig.from_tables(tables, origin)
    if origin == game and not trust:  # a run file, perhaps that of a run
        refuse_strange_game(Path(game).parent, config, game)
    config = config.changed(parse_settings(settings or []), "--set")
    config = config.changed({"loop": {"seed": seed}}, "--seed")
    if workers is not None:
        config = config.changed({"selfplay": {"workers": workers}}, "--workers")
    with Stop() as stop:
        found = ShardMaker(config, out, tell).make(samples, weights, stop)
    if as_json:
        print(json.dumps(found, indent=2))
    else:
        print(summary(found))
    if stop.interrupted:
        raise typer.Exit(INTERRUPTED)


def summary(found: dict[str, Any]) -> str:
    """For people."""
    return (
        f"{found['directory']}: {found['samples']:,} samples of {found['games']:,} games in "
        f"{found['shards']} shards, {found['wall_seconds']:.1f} s with {found['workers']} workers; "
        f"{found.get('simulations_per_second', 0):,.0f} simulations/s, "
        f"{found.get('evaluations_per_second', 0):,.0f} evaluations/s, "
        f"cache {found['cache_hit_share']:.0%}, {found['mean_plies']:.1f} plies a game"
    )
