"""`zermelo pretrain`: begins a run with games, labelled positions, another run or a teacher."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from zermelo.cli.match_report import Live
from zermelo.cli.options import RunSetOption, TrustOption
from zermelo.cli.telling import tell


def add_to(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(pretrain)


def pretrain(
    target: Annotated[
        str, typer.Argument(help="A game, a preset, a run file (.toml) or a Python file.")
    ],
    *,
    source: Annotated[
        str,
        typer.Option(
            "--from",
            help="games.pgn, games.jsonl, positions.epd, a run, teacher:perfect, teacher:uci:PATH.",
        ),
    ],
    run: Annotated[Path | None, typer.Option(help="Directory of the new run.")] = None,
    samples: Annotated[
        int | None, typer.Option(min=1, help="Most samples to use; a teacher makes 10,000.")
    ] = None,
    epochs: Annotated[int, typer.Option(min=1, max=1000, help="Passes over all samples.")] = 1,
    settings: RunSetOption = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Random seed.")] = None,
    trust: TrustOption = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON at the end.")] = False,
) -> None:
    """Teach a new run what is already known.

    `zermelo train RUN` goes on from it.
    """
    from zermelo.runs.opening import need_torch, open_run

    need_torch()
    from zermelo.pretrain.pretrain import Pretraining, pretrain, refuse_trained
    from zermelo.runs.directory import Run, is_run
    from zermelo.runs.target import existing_run

    place = existing_run(target) or run
    if place is not None and is_run(place):
        refuse_trained(Run.open(place))  # before its options are changed
    texts = list(settings or []) + ([] if seed is None else [f"loop.seed={seed}"])
    made = open_run(target, run, texts, tell, trust=trust)
    try:
        made.lock()
        asked = Pretraining(source, samples, epochs, made.config.loop.seed)
        with Live() as live:
            found = pretrain(made, asked, lambda what, done, total: live.show(done, total, what))
    except BaseException:
        if made.new and not any(made.replay.glob("*.zshard")):  # nothing to go on with
            made.remove()
        raise
    finally:
        made.unlock()
    if as_json:
        print(json.dumps(found, indent=2))
    else:
        print(summary(found))


def summary(found: dict[str, Any]) -> str:
    """What came of it, and how to go on."""
    training = found["train"]["training"]
    accuracy = training["policy_accuracy"]
    agrees = "" if accuracy is None else f", the policy agrees in {accuracy:.1%}"
    damaged = "".join(f"damaged and left out: {problem}\n" for problem in found["damaged"])
    return (
        f"{damaged}"
        f"{found['run']}: {found['samples']:,} samples of {found['positions']:,} positions, "
        f"loss {training['loss']:.3f}{agrees} ({found['seconds']:.0f} s)\n"
        f"to go on with self-play: zermelo train {found['run']}"
    )
