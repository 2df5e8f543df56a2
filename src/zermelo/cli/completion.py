"""What a shell completes in a command: games, presets, runs, options of runs and of the search.

Nothing slow is imported before it is asked for. Where nothing is found, shells complete files.
"""

from __future__ import annotations

from collections.abc import Iterable


def games(incomplete: str) -> list[str]:
    """Games by name."""
    from zermelo.games.registry import game_names

    return _beginning(incomplete, game_names())


def runs(incomplete: str) -> list[str]:
    """Runs where they are made unless a directory is named."""
    from zermelo.runs.directory import RUNS, is_run

    found = sorted(RUNS.iterdir()) if RUNS.is_dir() else []
    return _beginning(incomplete, [str(path) for path in found if is_run(path)])


def games_and_runs(incomplete: str) -> list[str]:
    """What can be played."""
    return games(incomplete) + runs(incomplete)


def targets(incomplete: str) -> list[str]:
    """What can be trained."""
    from zermelo.config.presets import preset_names
    from zermelo.games.registry import game_names

    return _beginning(incomplete, {*game_names(), *preset_names()}) + runs(incomplete)


def run_options(incomplete: str) -> list[str]:
    """Options of a run, with their sections or, where no section begins so, without."""
    from zermelo.config.sections import rows_of, section_kinds

    names = [f"{section}.{row['name']}" for section in section_kinds() for row in rows_of(section)]
    keys = {name.partition(".")[2] for name in names}
    return [f"{name}=" for name in _beginning(incomplete, names) or _beginning(incomplete, keys)]


def search_options(incomplete: str) -> list[str]:
    """Options of the search."""
    from zermelo.search import SearchOptions

    return [f"{name}=" for name in _beginning(incomplete, SearchOptions().to_dict())]


def _beginning(incomplete: str, names: Iterable[str]) -> list[str]:
    return sorted(name for name in names if name.startswith(incomplete))
