"""`zermelo train`: begins a run or goes on with one, until it is done or stopped."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zermelo.cli.completion import targets
from zermelo.cli.exit_codes import INTERRUPTED
from zermelo.cli.options import ClusterOption, RunSetOption, TrustOption
from zermelo.cli.telling import tell
from zermelo.processes.patience import wait_patiently

if TYPE_CHECKING:
    from zermelo.loop import Stop
    from zermelo.loop.measure import Evaluate
    from zermelo.runs.directory import Run
    from zermelo.selfplay.pool import MakePool
    from zermelo.yardsticks.measure import CheckpointYardsticks


def add_to(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(train)


def train(
    target: Annotated[
        str,
        typer.Argument(
            help="A game, a preset, a run file (.toml), a Python file, a run, or a copy's URL.",
            autocompletion=targets,
        ),
    ],
    *,
    run: Annotated[
        Path | None, typer.Option(help="Directory of the run; an existing run continues.")
    ] = None,
    network: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="NETWORK",
            help="Begin a new run with the network of a run, a checkpoint or a file.",
        ),
    ] = None,
    settings: RunSetOption = None,
    duration: Annotated[
        str | None,
        typer.Option("--for", metavar="TIME", help="Stop after this time, such as 30m or 1h30m."),
    ] = None,
    iterations: Annotated[
        int | None, typer.Option(min=1, help="Stop after this iteration of the run.")
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Random seed.")] = None,
    cluster: ClusterOption = None,
    trust: TrustOption = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON at the end.")] = False,
) -> None:
    """Learn a game by playing it.

    Ctrl-C stops; the same command with --run goes on.
    """
    from zermelo.config import duration_text, parse_duration
    from zermelo.loop import Stop, make_view, run_loop
    from zermelo.runs.copies import bring_back, copying, is_url, place_of
    from zermelo.runs.opening import need_torch, open_run, tell_left_out, yardsticks_of

    seconds = None if duration is None else parse_duration(duration)
    wait_patiently()
    need_torch()
    if cluster is not None:
        from zermelo.cluster.needed import need_ray

        need_ray()
    if is_url(target):
        target, run = str(bring_back(target, run or place_of(target), tell)), None
    texts = list(settings or [])
    texts += [] if iterations is None else [f"loop.iterations={iterations}"]
    texts += [] if seed is None else [f"loop.seed={seed}"]
    stop = Stop(seconds)  # measuring the game counts
    made = open_run(target, run, texts, tell, network, trust=trust, time=seconds)
    tell_left_out(made, tell)
    stream = sys.stderr if as_json else sys.stdout
    copy_to = made.config.cluster.copy_to
    here = yardsticks_of(made.config, stop.check)
    with copying(made.path, copy_to, tell), stages_for(cluster, made, here, stop) as stages:
        yardsticks, pool = stages
        found = run_loop(made, stop, make_view(stream), yardsticks, pool)
    if as_json:
        print(json.dumps(found, indent=2))
    else:
        print(ending(found, duration_text(found["seconds"])))
    if found["stopped"] == "interrupted":
        raise typer.Exit(INTERRUPTED)


@contextmanager
def stages_for(
    cluster: str | None, run: Run, here: list[CheckpointYardsticks], stop: Stop
) -> Iterator[tuple[Sequence[Evaluate], MakePool]]:
    """What measures, and what makes the run's workers: on this machine, or on a cluster."""
    if cluster is None:
        from zermelo.selfplay.local_pool import LocalPool

        yield here, LocalPool
        return
    from zermelo.cluster.connection import connect
    from zermelo.cluster.pool import pool_on
    from zermelo.cluster.yardsticks import measured_by

    options = run.config.cluster
    tell(f"joining the cluster '{cluster}'")
    with connect(cluster, options.object_store_mib) as joined:
        if joined.dashboard:
            tell(f"Ray's dashboard: {joined.dashboard}")
        yield measured_by(joined, here, stop.check), pool_on(joined, options)


def ending(found: dict[str, Any], spent: str) -> str:
    """What a person may want to do next."""
    from zermelo.loop.stop import TIME_OVER

    where = found["run"]
    if found["iteration"] >= found["iterations"]:
        more = f"to train on: zermelo train {where} --iterations {2 * found['iterations']}"
        return f"{where}: all {found['iterations']} iterations are done ({spent}); {more}"
    why = found["stopped"]
    of = "" if why == TIME_OVER else f" of {found['iterations']}"
    return (
        f"{where}: {why} after iteration {found['iteration']}{of} ({spent}); "
        f"to go on: zermelo train {where}"
    )
