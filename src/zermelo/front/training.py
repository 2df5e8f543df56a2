"""`train`: the training loop from Python, with the same runs, options and view as the command."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TextIO

from zermelo.errors import UserError
from zermelo.front.run import TrainingRun


def train(
    game: str | os.PathLike[str] | type,
    minutes: float | None = None,
    *,
    iterations: int | None = None,
    run: str | os.PathLike[str] | None = None,
    network: str | None = None,
    seed: int | None = None,
    trust: bool = False,
    quiet: bool = False,
    settings: Mapping[str, Any] | None = None,
) -> TrainingRun:
    """Learns a game by playing it, until the time is over or all iterations are done.

    `game` is a name, a preset, a run file, a Python file, a run to go on with, or a game's class
    that a file has (with its default settings). `settings` are a run's options by name:
    `{"selfplay.simulations": 100}`. A new run begins with `network`, if one is given; a directory
    `run` that is a run already goes on. Ctrl-C stops; everything finished is kept.
    """
    from zermelo.loop import PlainView, Stop, make_view, run_loop
    from zermelo.runs.opening import need_torch, open_run, silent, tell_left_out, yardsticks_of

    if minutes is not None and not minutes > 0:
        raise UserError(f"minutes must be more than 0, not {minutes}")
    need_torch()
    options = dict(settings or {})
    options |= {} if iterations is None else {"loop.iterations": iterations}
    options |= {} if seed is None else {"loop.seed": seed}
    texts = [f"{name}={_text(value)}" for name, value in options.items()]
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        stream: TextIO = nowhere if quiet else sys.stdout

        def tell(sentence: str) -> None:
            print(sentence, file=stream, flush=True)

        directory = None if run is None else Path(run)
        seconds = None if minutes is None else 60.0 * minutes
        stop = Stop(seconds)  # measuring the game counts
        made = open_run(_target(game), directory, texts, tell, network, trust=trust, time=seconds)
        tell_left_out(made, silent if quiet else tell)
        view = PlainView(stream) if quiet else make_view(stream)
        run_loop(made, stop, view, yardsticks_of(made.config, stop.check))
    return TrainingRun(made.path)


def _target(game: str | os.PathLike[str] | type) -> str:
    if not isinstance(game, type):
        if not isinstance(game, str | os.PathLike):
            raise UserError(
                f"{game!r} is an object, which other processes cannot load: pass its class or file"
            )
        return os.fspath(game)
    try:
        file = inspect.getsourcefile(game)
    except (TypeError, OSError):
        file = None
    if file is None or not file.endswith(".py"):
        raise UserError(f"{game.__name__} is in no file that other processes could load: save it")
    return f"{file}:{game.__qualname__}"


def _text(value: Any) -> str:
    return ("off", "on")[value] if isinstance(value, bool) else str(value)
