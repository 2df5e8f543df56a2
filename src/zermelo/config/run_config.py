"""`RunConfig`: every option of a run, made from a run file and `--set`, and written back whole.

A run file is TOML; its sections are the stages' folder names. What it does not say has its default.
"""

from __future__ import annotations

import dataclasses
import os
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zermelo import _core
from zermelo.config.options import ClusterOptions, LoopOptions, NetworkSettings
from zermelo.config.sections import make_section, rows_of, section_kinds, values_of
from zermelo.config.toml_file import Tables, toml_text
from zermelo.errors import UserError, nearest
from zermelo.files import read_toml
from zermelo.games import game as find_game
from zermelo.games.protocol import Game
from zermelo.games.python_file import looks_like_file
from zermelo.selfplay.options import PoolOptions
from zermelo.train.origin import HEAD_KEYS

if TYPE_CHECKING:
    from zermelo.replay import ReplayOptions
    from zermelo.train import TrainOptions
    from zermelo.yardsticks.options import EvaluateOptions

FORMAT = 1  # of the run file and the run directory
GAME_KEYS = ("game_sha256", "game_actions", "game_shape")  # of a Python game, at the start
END = "end"  # "open" if nobody chose how many iterations there are
HEAD = ("format", "version", "commit", "made", END, *GAME_KEYS, *HEAD_KEYS)  # before the sections

# What a run is built on; the sentence says why it cannot change.
FIXED = {
    ("game", "name"): "its samples and checkpoints are of that game",
    ("loop", "seed"): "its games so far were played with that seed",
    ("train", "optimiser"): "its checkpoints hold the moments of that optimiser",
}
FIXED_SECTIONS = {"network": "its checkpoints have a network of those sizes"}


@dataclasses.dataclass(frozen=True)
class RunConfig:
    """All options of a run, by section."""

    game_name: str
    network: NetworkSettings
    search: _core.SearchOptions
    selfplay: _core.SelfPlayOptions
    pool: PoolOptions
    replay: ReplayOptions
    train: TrainOptions
    loop: LoopOptions
    evaluate: EvaluateOptions
    cluster: ClusterOptions

    @classmethod
    def from_tables(cls, tables: Mapping[str, Any], origin: str = "") -> RunConfig:
        """Checks everything; `origin` (a file's name) begins the messages."""
        begin = f"{origin}: " if origin else ""
        for section, table in tables.items():
            if section not in section_kinds():
                what = "section" if isinstance(table, Mapping) else "key"
                near = nearest(section, section_kinds())
                raise UserError(f"{begin}there is no {what} '{section}'; {near}")
            if not isinstance(table, Mapping):
                raise UserError(f"{begin}'{section}' is a section, not a value: write [{section}]")
            for key, value in table.items():
                if not isinstance(value, bool | int | float | str):
                    raise UserError(f"{begin}[{section}]: {key} is not a plain value")
        made = {name: make_section(name, tables.get(name, {}), origin) for name in section_kinds()}
        name = made["game"][0].name
        if not name:
            raise UserError(f"{begin}[game] has no name: say which game is played")
        refuse_no_samples(made["selfplay"][0], begin)
        return cls(
            game_name=absolute_game(name),
            network=made["network"][0],
            search=made["search"][0],
            selfplay=made["selfplay"][0],
            pool=made["selfplay"][1],
            replay=made["replay"][0],
            train=made["train"][0],
            loop=made["loop"][0],
            evaluate=with_absolute_suite(made["evaluate"][0]),
            cluster=made["cluster"][0],
        )

    def tables(self) -> Tables:
        """Every option, as a run file states it."""
        made: dict[str, tuple[Any, ...]] = {
            "network": (self.network,),
            "search": (self.search,),
            "selfplay": (self.selfplay, self.pool),
            "replay": (self.replay,),
            "train": (self.train,),
            "loop": (self.loop,),
            "evaluate": (self.evaluate,),
            "cluster": (self.cluster,),
        }
        sections = {name: values_of(name, options) for name, options in made.items()}
        return {"game": {"name": self.game_name}, **sections}

    def game(self) -> Game:
        """The rules."""
        return find_game(self.game_name)

    def to_toml(self, head: Mapping[str, Any]) -> str:
        """The whole run file with a remark on every option."""
        notes = {f"{s}.{row['name']}": row["doc"] for s in section_kinds() for row in rows_of(s)}
        return toml_text(head, self.tables(), notes)

    def changed(self, changes: Tables, origin: str = "") -> RunConfig:
        """With some options set anew."""
        return RunConfig.from_tables(merged(self.tables(), changes), origin)


def refuse_no_samples(options: _core.SelfPlayOptions, begin: str) -> None:
    """Raises if no search of self-play would give a sample: a run would wait for ever."""
    full = options.full_search_probability or options.always_full_plies
    if not (full or options.fast_samples):
        raise UserError(
            f"{begin}[selfplay]: no game would give a sample, since full_search_probability and "
            "always_full_plies are 0 and fast_samples is off"
        )


def read_run_file(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """What stands before the sections, and the sections; not checked but for the format."""
    content = read_toml(path)
    head = {key: content.pop(key) for key in HEAD if key in content}
    wanted = head.get("format", FORMAT)
    if wanted != FORMAT:
        made_by = head.get("version", "another version")
        raise UserError(
            f"{path} has format {wanted} of zermelo {made_by}; this is zermelo "
            f"{metadata.version('zermelo')}, which reads format {FORMAT}"
        )
    return head, content


def new_head(made: str) -> dict[str, Any]:
    """What stands before the sections of a new run file; `made` is the date."""
    version = metadata.version("zermelo")
    return {"format": FORMAT, "version": version, "commit": source_commit(), "made": made}


def source_commit() -> str:
    """The commit of the checkout that the program runs from; empty without one."""
    place = Path(__file__).resolve().parents[3]
    if not (place / ".git").exists():
        return ""
    command = ["git", "-C", str(place), "rev-parse", "HEAD"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def absolute_game(name: str) -> str:
    """A Python file by its whole path, so that a run can be resumed from anywhere."""
    if not looks_like_file(name):
        return name
    place, dot, rest = name.partition(".py")
    return str(Path(place + dot).expanduser().resolve()) + rest


def with_absolute_suite(options: EvaluateOptions) -> EvaluateOptions:
    """The suite by its whole path, for the same reason.

    Links are not followed, since the metrics are called by the file's name.
    """
    if not options.suite:
        return options
    place = os.path.abspath(os.path.expanduser(options.suite))
    return dataclasses.replace(options, suite=place)


def merged(tables: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """`tables` with the values of `changes`."""
    found = dict(tables)
    for name, table in changes.items():
        below = found.get(name)
        if isinstance(below, Mapping) and isinstance(table, Mapping):
            found[name] = {**below, **table}
        else:
            found[name] = table
    return found


def parse_settings(settings: Iterable[str]) -> Tables:
    """`--set section.key=value`, or `key=value` where only one section has the key."""
    tables: Tables = {}
    for text in settings:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise UserError(f"--set {text}: write it as section.key=value")
        section, key = _place_of(name.strip())
        tables.setdefault(section, {})[key] = value.strip()
    return tables


def _place_of(name: str) -> tuple[str, str]:
    section, dot, key = name.partition(".")
    known = {s: [row["name"] for row in rows_of(s)] for s in section_kinds()}
    if dot:
        if section not in known:
            raise UserError(
                f"--set {name}: there is no section '{section}'; " + nearest(section, known)
            )
        return section, key
    places = [s for s, keys in known.items() if name in keys]
    if len(places) > 1:
        raise UserError(f"--set {name}: say which of " + ", ".join(f"{s}.{name}" for s in places))
    if not places:
        every = {key for keys in known.values() for key in keys}
        near = nearest(name, every)
        where = "" if near.startswith("did you mean") else "; any run's run.toml has all of them"
        raise UserError(f"--set {name}: there is no such option; {near}{where}")
    return places[0], name


def refuse_incompatible(old: RunConfig, new: RunConfig, run: str) -> None:
    """Raises for a change that would make the run's files useless."""
    before, after = old.tables(), new.tables()
    for section, table in before.items():
        for key, value in table.items():
            reason = FIXED.get((section, key)) or FIXED_SECTIONS.get(section)
            if reason and after[section][key] != value:
                raise UserError(
                    f"{run}: {section}.{key} is {value!r} and cannot become "
                    f"{after[section][key]!r}: {reason}"
                )


def differences(old: RunConfig, new: RunConfig) -> Sequence[str]:
    """`section.key: old -> new` for every option that differs."""
    before, after = old.tables(), new.tables()
    return [
        f"{section}.{key}: {value} -> {after[section][key]}"
        for section, table in before.items()
        for key, value in table.items()
        if after[section][key] != value
    ]
