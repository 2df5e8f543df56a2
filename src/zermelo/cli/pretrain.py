"""`zermelo pretrain`: begins a run with games, labelled positions, another run or a teacher."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from zermelo.cli.options import RunSetOption
from zermelo.cli.train import existing_run, need_torch, open_run

PLAIN_EVERY = 5.0  # seconds between lines of progress where there is no terminal


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
        int | None, typer.Option(min=1, help="Samples at most; a teacher makes 10,000.")
    ] = None,
    epochs: Annotated[int, typer.Option(min=1, max=1000, help="Times over all samples.")] = 1,
    settings: RunSetOption = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Of everything random.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON at the end.")] = False,
) -> None:
    """Teach a new run what is known already; `zermelo train RUN` goes on from it."""
    need_torch()
    from zermelo.loop import Run, is_run
    from zermelo.loop.pretrain import Pretraining, pretrain, refuse_trained

    place = existing_run(target) or run
    if place is not None and is_run(place):
        refuse_trained(Run.open(place))  # before its options are changed
    texts = list(settings or []) + ([] if seed is None else [f"loop.seed={seed}"])
    made = open_run(target, run, texts)
    try:
        made.lock()
        asked = Pretraining(source, samples, epochs, made.config.loop.seed)
        with Shown() as shown:
            found = pretrain(made, asked, shown)
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


class Shown:
    """Progress: a bar on a terminal, a line now and then elsewhere."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import Progress

        self._console = Console(stderr=True)
        self._bar = Progress(
            console=self._console, transient=True, disable=not self._console.is_terminal
        )
        self._task: Any = None
        self._what = ""
        self._said = time.monotonic()

    def __enter__(self) -> Shown:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def __call__(self, what: str, done: int, total: int) -> None:
        """So much of so much; a total of 0 is not known."""
        if what != self._what:
            if self._task is not None:
                self._bar.remove_task(self._task)
            self._what, self._task = what, self._bar.add_task(what, total=None)
        self._bar.update(self._task, completed=done, total=total or None)
        if not self._console.is_terminal and time.monotonic() - self._said > PLAIN_EVERY:
            self._said = time.monotonic()
            of = f" of {total:,}" if total else ""
            print(f"{what}: {done:,}{of}", file=sys.stderr, flush=True)
