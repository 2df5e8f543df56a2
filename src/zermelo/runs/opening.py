"""Opens the run that is meant, new or old, and refuses what would end it later.

Prints nothing: what a person may want to know meanwhile goes to `tell`, a sentence at a time. Does
not train; the loop does that with the run that comes out of here.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from zermelo.config import RunConfig, parse_settings
from zermelo.config.run_config import merged
from zermelo.errors import UserError
from zermelo.games import game as find_game
from zermelo.games.python_file import looks_like_file
from zermelo.runs.beginning import begin_with, refuse_other_beginning, tell_beginning
from zermelo.runs.directory import Run, is_run, new_run_path
from zermelo.runs.open_end import further, mark_open
from zermelo.runs.target import existing_run, run_name, tables_for
from zermelo.runs.trust import deed, mark, named_code, refuse, strange_code
from zermelo.selfplay import automatic
from zermelo.testing import check_game
from zermelo.train.origin import Origin
from zermelo.yardsticks.measure import CheckpointYardsticks, installed, yardsticks_for

Tell = Callable[[str], None]

CHECKED_GAMES, CHECKED_PLIES = 3, 200  # random ones of a game's file, before a run of it
# Checks of `zermelo check` without which no run can go on.
FATAL = (
    "attributes", "initial position", "player", "outcome", "legal actions", "observation", "play",
)  # fmt: skip


def silent(sentence: str) -> None:
    """For those who need not know."""


def need_torch() -> None:
    """Before anything is made."""
    for package in ("torch", "safetensors"):
        if importlib.util.find_spec(package) is None:
            raise UserError(f"training needs the package '{package}': install zermelo[train]")


def open_run(
    target: str,
    directory: Path | None,
    settings: Sequence[str],
    tell: Tell = silent,
    network: str | None = None,
    *,
    trust: bool = False,
    time: float | None = None,
) -> Run:
    """The run that is meant, new or old, locked and with its options set.

    A new one begins with `network`, a reference, if there is one; an old one must have begun so.
    A new one's automatic settings are planned for `time`, in seconds, if there is one; an old one
    with such settings gets room for it.
    Files and programs that a received run or a run file names are run only with `trust`.
    """
    changes: dict[str, Any] = dict(parse_settings(settings))
    place = existing_run(target)
    if place is not None and directory is not None and directory.resolve() != place.resolve():
        raise UserError(f"'{target}' is a run itself: leave out --run {directory}")
    if place is None:
        tables, origin = tables_for(target)
        if origin == target:
            named = RunConfig.from_tables(tables, origin)
            allow(target, strange_code(named), named.changed(changes, "--set"), trust, tell)
        if directory is None or not is_run(directory):
            reasons: list[str] = []
            refuse_unsound(RunConfig.from_tables(tables, origin).game_name)
            begun: Origin | None = None
            if network is not None:
                asked = merged(tables if origin == target else {}, changes)
                begun, follow = begin_with(network, tables["game"]["name"], asked)
                changes = merged(follow, changes)
            if not origin:  # nobody chose anything for this game
                given = typed(RunConfig.from_tables(tables).changed(changes, "--set"), changes)
                measured, reasons = measured_settings(target, given, tell, time)
                tables = tables | measured
            config = RunConfig.from_tables(tables, origin).changed(changes, "--set")
            check_yardsticks(config)
            made = Run.create(directory or new_run_path(run_name(target)), config, begun)
            if origin:
                reasons = [f"settings of {origin}"]
                tell(reasons[0])
            else:
                mark_open(made, changes)
            for reason in reasons:
                made.log(reason)
            if begun is not None:
                tell_beginning(made, begun, tell)
            return made
        place = directory
        allow_run(Run.open(place), changes, trust, tell)
        Run.open(place).check_game(RunConfig.from_tables(tables, origin).game())
        if origin == target:  # the user's own run file: what it says is wanted
            changes = merged({s: t for s, t in tables.items() if s != "game"}, changes)
    refuse_other_beginning(Run.open(place), network)
    made = Run.open(place)
    allow_run(made, changes, trust, tell)
    if made.plays_copy:
        tell(f"the game's file is gone, so the run's copy is played: '{made.config.game_name}'")
    elif changed := made.check_unchanged():
        tell(changed)
    made.lock()
    try:
        changes = merged(further(made, changes, time), changes)
        check_yardsticks(made.config.changed(changes, "--set"))
        made.change(changes, "--set")
    except BaseException:
        made.unlock()
        raise
    return made


def allow_run(run: Run, changes: dict[str, Any], trust: bool, tell: Tell) -> None:
    """Refuses a received run that names code, or says what is run and remembers the trust."""
    after = run.config.changed(changes, "--set")
    allow(str(run.path), strange_code(run.config, run.path), after, trust, tell)
    if trust:
        mark(run.path, run.config)


def allow(whose: str, strange: list[str], after: RunConfig, trust: bool, tell: Tell) -> None:
    """Refuses strangers' code that is still named after the changes, or says that it is run."""
    strange = [text for text in strange if text in named_code(after)]
    if not trust:
        refuse(f"'{whose}'", strange)
    for text in strange:
        tell(f"trusting {whose}, which may {deed(text)}")


def typed(config: RunConfig, changes: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """The changes, which `--set` has as texts, with the values that they have in the options."""
    tables = config.tables()
    return {name: {key: tables[name][key] for key in table} for name, table in changes.items()}


def measured_settings(
    target: str,
    given: Mapping[str, Mapping[str, Any]],
    tell: Tell = silent,
    time: float | None = None,
) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """Settings for a game without a preset, and their reasons, which are also told.

    `given`, the person's own settings, stay; others that depend on them follow them.
    """
    tell(f"measuring {target} for a few seconds to choose settings")
    settings, reasons = automatic.automatic_settings(find_game(target), given=given, time=time)
    for reason in reasons:
        tell(f"  {reason}")
    return settings, reasons


def refuse_unsound(name: str) -> None:
    """A game's file with a fault that would end the run, before the run is made."""
    if not looks_like_file(name):
        return
    report = check_game(find_game(name), games=CHECKED_GAMES, max_plies=CHECKED_PLIES)
    faults = [check for check in report.failures if check.name in FATAL]
    if faults:
        raise UserError(f"{name}: {faults[0].detail}; `zermelo check {name}` says more")


def check_yardsticks(config: RunConfig) -> None:
    """Refuses opponents, openings and suites that there are not, before anything is written."""
    if config.evaluate.every:
        yardsticks_for(config.game(), config.evaluate, config.search)


def yardsticks_of(config: RunConfig, poll: Callable[[], None]) -> list[CheckpointYardsticks]:
    """What each new checkpoint is measured with; `poll` is called often and may raise."""
    if not config.evaluate.every:
        return []
    return [CheckpointYardsticks(config.game(), config.evaluate, config.search, poll)]


def tell_left_out(run: Run, tell: Tell) -> None:
    """Engines among the opponents that are not installed: checkpoints are measured without them."""
    options = run.config.evaluate
    players = options.players if options.every and options.games else []
    missing = [player for player in players if not installed(player)]
    for program in dict.fromkeys(player.partition("?")[0] for player in missing):
        note = f"checkpoints are measured without '{program}', which is not installed"
        run.log(note)
        tell(note)
