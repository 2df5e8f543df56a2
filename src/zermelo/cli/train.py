"""`zermelo train`: begins a run or goes on with one, until it is done or stopped."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zermelo.cli.options import RunSetOption
from zermelo.errors import UserError, nearest
from zermelo.games import game as find_game
from zermelo.games.parameters import split_spec
from zermelo.games.python_file import looks_like_file
from zermelo.games.registry import game_names

if TYPE_CHECKING:
    from zermelo.config import RunConfig
    from zermelo.loop import Run, Stop

INTERRUPTED = 130
CHECKED_GAMES, CHECKED_PLIES = 3, 200  # random ones of a game's file, before a run of it
# Checks of `zermelo check` without which no run can go on.
FATAL = (
    "attributes", "initial position", "player", "outcome", "legal actions", "observation", "play",
)  # fmt: skip


def add_to(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(train)


def train(
    target: Annotated[
        str,
        typer.Argument(help="A game, a preset, a run file (.toml), a Python file, or a run."),
    ],
    *,
    run: Annotated[
        Path | None, typer.Option(help="The run's directory; an existing run goes on.")
    ] = None,
    settings: RunSetOption = None,
    duration: Annotated[
        str | None, typer.Option("--for", metavar="TIME", help="Stop after 30m, 1h30m, ...")
    ] = None,
    iterations: Annotated[
        int | None, typer.Option(min=1, help="Iterations of the whole run.")
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Of everything random.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON at the end.")] = False,
) -> None:
    """Learn a game by playing it; Ctrl-C stops, the same command with --run goes on."""
    from zermelo.config import duration_text, parse_duration
    from zermelo.loop import Stop, make_view, run_loop

    seconds = None if duration is None else parse_duration(duration)
    need_torch()
    texts = list(settings or [])
    texts += [] if iterations is None else [f"loop.iterations={iterations}"]
    texts += [] if seed is None else [f"loop.seed={seed}"]
    made = open_run(target, run, texts)
    tell_left_out(made)
    stop = Stop(seconds)
    yardsticks = yardsticks_of(made.config, stop)
    found = run_loop(made, stop, make_view(sys.stderr if as_json else sys.stdout), yardsticks)
    if as_json:
        print(json.dumps(found, indent=2))
    else:
        print(ending(found, duration_text(found["seconds"])))
    if found["stopped"] == "interrupted":
        raise typer.Exit(INTERRUPTED)


def yardsticks_of(config: RunConfig, stop: Stop) -> list[Any]:
    """What each new checkpoint is measured with."""
    from zermelo.yardsticks.measure import CheckpointYardsticks

    if not config.evaluate.every:
        return []
    return [CheckpointYardsticks(config.game(), config.evaluate, config.search, stop.check)]


def tell_left_out(run: Run) -> None:
    """Engines among the opponents that are not installed: checkpoints are measured without them."""
    from zermelo.yardsticks.measure import installed

    options = run.config.evaluate
    for opponent in options.opponents.split() if options.every and options.games else ():
        if not installed(opponent):
            note = f"checkpoints are measured without '{opponent}', which is not installed"
            run.log(note)
            print(note, file=sys.stderr)


def ending(found: dict[str, Any], spent: str) -> str:
    """What a person may want to do next."""
    where = found["run"]
    if found["iteration"] >= found["iterations"]:
        more = f"to train on: zermelo train {where} --iterations {2 * found['iterations']}"
        return f"{where}: all {found['iterations']} iterations are done ({spent}); {more}"
    why = found["stopped"]
    return (
        f"{where}: {why} after iteration {found['iteration']} of {found['iterations']} ({spent}); "
        f"to go on: zermelo train {where}"
    )


def need_torch() -> None:
    """Before anything is made."""
    for package in ("torch", "safetensors"):
        if importlib.util.find_spec(package) is None:
            raise UserError(f"training needs the package '{package}': install zermelo[train]")


def open_run(target: str, directory: Path | None, settings: Sequence[str]) -> Run:
    """The run that is meant, new or old, locked and with its options set."""
    from zermelo.config import RunConfig, parse_settings
    from zermelo.config.run_config import merged
    from zermelo.loop import Run, is_run, new_run_path

    changes: dict[str, Any] = dict(parse_settings(settings))
    place = existing_run(target)
    if place is not None and directory is not None and directory.resolve() != place.resolve():
        raise UserError(f"'{target}' is a run itself, so --run {directory} makes no sense")
    if place is None:
        tables, origin = tables_for(target)
        if directory is None or not is_run(directory):
            reasons: list[str] = []
            refuse_unsound(RunConfig.from_tables(tables, origin).game_name)
            if not origin:  # nobody chose anything for this game
                given = typed(RunConfig.from_tables(tables).changed(changes, "--set"), changes)
                measured, reasons = measured_settings(target, given)
                tables = tables | measured
            config = RunConfig.from_tables(tables, origin).changed(changes, "--set")
            check_yardsticks(config)
            made = Run.create(directory or new_run_path(run_name(target)), config)
            if origin:
                reasons = [f"settings of {origin}"]
                print(reasons[0], file=sys.stderr)
            for reason in reasons:
                made.log(reason)
            return made
        place = directory
        Run.open(place).check_game(RunConfig.from_tables(tables, origin).game())
        if origin == target:  # the user's own run file: what it says is wanted
            changes = merged({s: t for s, t in tables.items() if s != "game"}, changes)
    made = Run.open(place)
    made.lock()
    try:
        check_yardsticks(made.config.changed(changes, "--set"))
        made.change(changes, "--set")
    except BaseException:
        made.unlock()
        raise
    return made


def typed(config: RunConfig, changes: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """The changes, which `--set` has as texts, with the values that they have in the options."""
    tables = config.tables()
    return {name: {key: tables[name][key] for key in table} for name, table in changes.items()}


def measured_settings(
    target: str, given: Mapping[str, Mapping[str, Any]]
) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """Settings for a game without a preset, and their reasons, also told on the error stream.

    `given`, the person's own settings, stay; others that depend on them follow them.
    """
    from zermelo.selfplay.automatic import automatic_settings

    print(f"measuring {target} for a few seconds to choose settings", file=sys.stderr)
    settings, reasons = automatic_settings(find_game(target), given=given)
    for reason in reasons:
        print(f"  {reason}", file=sys.stderr)
    return settings, reasons


def refuse_unsound(name: str) -> None:
    """A game's file with a fault that would end the run, before the run is made."""
    from zermelo.testing import check_game

    if not looks_like_file(name):
        return
    report = check_game(find_game(name), games=CHECKED_GAMES, max_plies=CHECKED_PLIES)
    faults = [check for check in report.failures if check.name in FATAL]
    if faults:
        raise UserError(f"{name}: {faults[0].detail}; `zermelo check {name}` says more")


def check_yardsticks(config: RunConfig) -> None:
    """Refuses opponents, openings and suites that there are not, before anything is written."""
    from zermelo.yardsticks.measure import yardsticks_for

    if config.evaluate.every:
        yardsticks_for(config.game(), config.evaluate, config.search)


def existing_run(target: str) -> Path | None:
    """The run's directory if the target is one, or the run file in it."""
    from zermelo.loop import is_run

    path = Path(target)
    if path.is_dir():
        if is_run(path):
            return path
        if names_game(target):  # which happens to be a directory's name too
            return None
        raise UserError(f"'{target}' is not a run: it has no run.toml")
    if path.name == "run.toml" and is_run(path.parent) and (path.parent / "lock").exists():
        return path.parent
    return None


def names_game(target: str) -> bool:
    """Whether the target is a game or a preset."""
    try:
        tables_for(target)
    except UserError:
        return False
    return True


def tables_for(target: str) -> tuple[dict[str, Any], str]:
    """The options that a run file, a preset or a game's name stand for, and where they are from."""
    from zermelo.config import find_preset, read_run_file

    if target.endswith(".toml"):
        return read_run_file(Path(target))[1], target
    preset = find_preset(target)
    if preset is not None:
        return read_run_file(preset)[1], f"preset {target}"
    if not looks_like_file(target) and ("/" in target or "\\" in target):
        raise UserError(f"there is no run, run file or game '{target}'")
    refuse_unknown(target)
    find_game(target)
    return {"game": {"name": target}}, ""


def refuse_unknown(target: str) -> None:
    """A name that is no game's, with the game or preset that was probably meant."""
    from zermelo.config.presets import preset_directories

    name = split_spec(target)[0]
    if not looks_like_file(target) and name not in game_names():
        presets = [file.stem for place in preset_directories() for file in place.glob("*.toml")]
        hint = nearest(name, {*game_names(), *presets})
        raise UserError(f"there is no game or preset '{name}'; {hint}")


def run_name(target: str) -> str:
    """A directory's name for a new run."""
    path = target.partition(".py")[0] if looks_like_file(target) else target
    return re.sub(r"[^A-Za-z0-9]+", "-", Path(path).name.removesuffix(".toml")).strip("-")
