"""`zermelo replay inspect|verify|stats|show`: looks at samples of a run, and changes nothing."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from zermelo.cli.options import JsonOption
from zermelo.cli.replay_show import show
from zermelo.errors import REFUSALS, UserError
from zermelo.files import TEMPORARY
from zermelo.games.notation import outcome_text
from zermelo.games.protocol import Game
from zermelo.games.registry import named_game
from zermelo.replay import Shard, ShardHeader, read_header, read_shard
from zermelo.replay import games as whole_games
from zermelo.replay.figures import FLAG_NAMES, ReplayFigures
from zermelo.replay.samples import DRAW_SCALE, NO_ACTION, VALUE_SCALE, WHOLE_SHARE
from zermelo.replay.shard import SUFFIX, parse_name
from zermelo.replay.store import DAMAGED

PathArgument = Annotated[Path, typer.Argument(help="A run, a directory of shards, or a shard.")]
PLAIN_EVERY = 5.0  # seconds between lines of progress where there is no terminal


def add_to(app: typer.Typer) -> None:
    """Adds the commands."""
    group = typer.Typer(help="Look at the samples of a run.")

    @group.callback(invoke_without_command=True)
    def root(context: typer.Context) -> None:
        if context.invoked_subcommand is None:
            print(context.get_help())

    group.command()(inspect)
    group.command()(verify)
    group.command()(stats)
    group.command()(show)
    app.add_typer(group, name="replay")


def inspect(
    path: PathArgument,
    rows: Annotated[
        int, typer.Option(min=0, help="Show this many rows of a shard, or of a run's newest.")
    ] = 0,
    games: Annotated[
        int, typer.Option(min=0, help="Show this many games of a shard, or of a run's newest.")
    ] = 0,
    as_json: JsonOption = False,
) -> None:
    """Show what shards say of themselves; reads no rows but those asked for."""
    if path.is_file():
        _inspect_shard(path, rows, games, as_json)
        return
    if rows or games:
        _inspect_shard(newest_shard(path), rows, games, as_json)
        return
    found: list[dict[str, Any]] = []
    for shard in shard_paths(path):
        row: dict[str, Any] = {"name": shard.name, "bytes": shard.stat().st_size}
        try:
            found.append(row | _header_row(read_header(shard)))
        except UserError as error:
            found.append(row | {"problem": str(error)})
    directory = shard_directory(path)
    whole = {
        "directory": str(directory),
        "samples": sum(row.get("samples", 0) for row in found),
        "shards": found,
        "set_aside": _set_aside(directory),
        "unfinished": [each.name for each in directory.glob(f".*{SUFFIX}.*{TEMPORARY}")],
    }
    if as_json:
        print(json.dumps(whole, indent=2))
        return
    table = Table("shard", "game", "samples", "games", "iterations", "bytes")
    for row in found:
        if "problem" in row:
            table.add_row(row["name"], row["problem"])
            continue
        first, last = row["iterations"]
        span = str(first) if first == last else f"{first}-{last}"
        figures = (f"{row[key]:,}" for key in ("samples", "games"))
        table.add_row(row["name"], row["game"], *figures, span, f"{row['bytes']:,}")
    Console().print(table)
    print(f"{len(found)} shards, {whole['samples']:,} samples in {directory}")
    for each in whole["set_aside"]:
        print(f"set aside: {each['name']}: {each['reason']}")
    for name in whole["unfinished"]:
        print(f"unfinished: {name}")


def verify(path: PathArgument, as_json: JsonOption = False) -> None:
    """Check every byte and row; exit code 1 if a shard is damaged, or of another game."""
    started = time.perf_counter()
    rows: list[tuple[Path, str, int]] = []  # file, game, samples
    problems: list[dict[str, str]] = []
    for shard_path, shard in read_all(path, "verify"):
        if isinstance(shard, str):
            problems.append({"path": str(shard_path), "reason": shard})
        else:
            rows.append((shard_path, shard.header.schema.game, len(shard.samples)))
    game = Counter(row[1] for row in rows).most_common(1)[0][0] if rows else ""
    for each, other, _ in rows:
        if other != game:
            reason = f"'{each}' is of the game {other!r}, the others are of {game!r}"
            problems.append({"path": str(each), "reason": f"{reason}: training leaves it out"})
    rows = [row for row in rows if row[1] == game]
    sound, samples = len(rows), sum(row[2] for row in rows)
    size = sum(row[0].stat().st_size for row in rows)
    seconds = time.perf_counter() - started
    found = {
        "shards": sound + len(problems),
        "sound": sound,
        "samples": samples,
        "bytes": size,
        "damaged": problems,
        "seconds": round(seconds, 3),
    }
    if as_json:
        print(json.dumps(found, indent=2))
    else:
        for problem in problems:
            print(problem["reason"])
        print(f"{sound} of {found['shards']} shards are sound: {samples:,} samples, {size:,} bytes")
    if problems:
        raise typer.Exit(1)


def stats(path: PathArgument, as_json: JsonOption = False) -> None:
    """Add up what the samples are: lengths, results, entropies, duplicates."""
    figures = ReplayFigures()
    problems = []
    for shard_path, shard in read_all(path, "stats"):
        if isinstance(shard, str):
            problems.append({"path": str(shard_path), "reason": shard})
        else:
            figures.add(shard, shard_path.stat().st_size)
    found = figures.to_dict() | {"damaged": problems}
    if as_json:
        print(json.dumps(found, indent=2))
        return
    _show_stats(found)
    for problem in problems:
        print(f"left out: {problem['reason']}")


# --- finding and reading --------------------------------------------------------------------------


def newest_shard(path: Path) -> Path:
    """The last one of the latest iteration."""
    places = [(parse_name(each.name), each) for each in shard_paths(path)]
    named = [(place, each) for place, each in places if place is not None]
    if not named:
        raise UserError(f"'{path}' has no shards")
    return max(named, key=lambda pair: (pair[0][0], pair[0][2]))[1]


def shard_directory(path: Path) -> Path:
    """Of a run or of shards."""
    inner = path / "replay"
    return inner if inner.is_dir() else path


def shard_paths(path: Path) -> list[Path]:
    """The shards of a run or directory, or the one that is named; at least one."""
    if path.is_file():
        return [path]
    if not path.exists():
        raise UserError(f"there is no run, directory or shard '{path}'")
    directory = shard_directory(path)
    found = sorted(each for each in directory.iterdir() if parse_name(each.name))
    if not found:
        raise UserError(f"there are no shards in '{directory}'")
    return found


def read_all(path: Path, what: str) -> Iterator[tuple[Path, Shard | str]]:
    """Every shard, checked, or the sentence that says what is wrong with it; shows progress."""
    paths = shard_paths(path)
    games: dict[str, Game | None] = {}
    terminal = Console(stderr=True)
    said = time.monotonic()
    with Progress(console=terminal, transient=True, disable=not terminal.is_terminal) as progress:
        task = progress.add_task(what, total=len(paths))
        for done, shard_path in enumerate(paths, 1):
            yield shard_path, _read(shard_path, games)
            progress.advance(task)
            if not terminal.is_terminal and time.monotonic() - said > PLAIN_EVERY:
                said = time.monotonic()
                terminal.print(f"{what}: {done} of {len(paths)} shards")


def _read(path: Path, games: dict[str, Game | None]) -> Shard | str:
    """Held against the rules where the game is known by the name in the header."""
    try:
        name = read_header(path).schema.game
        if name not in games:
            try:
                games[name] = named_game(name)  # never a file's code
            except REFUSALS:  # only its name is known: held against the shard's own schema
                games[name] = None
        return read_shard(path, games[name])
    except FileNotFoundError:
        return f"'{path}' is gone"
    except UserError as error:
        return str(error)


def _set_aside(directory: Path) -> list[dict[str, str]]:
    found = []
    for reason in sorted((directory / DAMAGED).glob("*.reason.txt")):
        name = reason.name.removesuffix(".reason.txt")
        found.append({"name": name, "reason": reason.read_text(errors="replace").strip()})
    return found


# --- showing --------------------------------------------------------------------------------------


def _header_row(header: ShardHeader) -> dict[str, Any]:
    first, last = header.iterations
    return {
        "game": header.schema.game,
        "iteration": header.iteration,
        "worker": header.worker,
        "number": header.number,
        "samples": header.samples,
        "games": header.games,
        "iterations": [first, last],
    }


def _inspect_shard(path: Path, rows: int, games: int, as_json: bool) -> None:
    header = read_header(path)
    found: dict[str, Any] = {"path": str(path), "bytes": path.stat().st_size}
    found["header"] = header.to_dict()
    if rows:
        found["rows"] = sample_rows(read_shard(path), rows)
    if games:
        found["games"] = game_rows(read_shard(path), games)
    if as_json:
        print(json.dumps(found, indent=2))
        return
    per_sample = found["bytes"] / header.samples
    print(f"{path}: {found['bytes']:,} bytes, {per_sample:.1f} a sample")
    for key, value in found["header"].items():
        if key not in ("columns", "statistics"):
            print(f"  {key}: {json.dumps(value)}")
    for name, value in header.statistics.items():
        shown = f"{len(value)} entries" if isinstance(value, list) else json.dumps(value)
        print(f"  statistics.{name}: {shown}")
    for name, dtype, shape in header.columns:
        print(f"  column {name}: {dtype} {list(shape)}")
    for row in found.get("rows", ()):
        policy = ", ".join(f"{action} {share:.1%}" for action, share in row["policy"][:5])
        print(
            f"  game {row['game']} ply {row['ply']}: result {row['result']:+d}, value "
            f"{row['value']:+.3f}, draw {row['draw']:.3f}, {row['legal']} legal; {policy}"
        )
    for game in found.get("games", ()):
        why = "".join(f", {name}" for name in game["flags"])
        print(f"  game {game['game']}: {game['outcome']}{why}: {' '.join(game['actions'])}")
    if games and not header.records:
        print("  no games: it has no records of whole games")


def sample_rows(shard: Shard, count: int) -> list[dict[str, Any]]:
    """The first rows in words; policies by share, largest first."""
    samples, found = shard.samples, []
    starts = samples.starts()
    for row in range(min(count, len(samples))):
        entries = slice(starts[row], starts[row] + samples.policy_counts[row])
        shares = (samples.policy_shares[entries] / WHOLE_SHARE).tolist()
        policy = zip(samples.policy_actions[entries].tolist(), shares, strict=True)
        found.append(
            {
                "game": int(samples.games[row]),
                "ply": int(samples.plies[row]),
                "plies_left": int(samples.plies_left[row]),
                "iteration": int(samples.iterations[row]),
                "result": int(samples.results[row]),
                "value": float(samples.values[row] / VALUE_SCALE),
                "draw": float(samples.draws[row] / DRAW_SCALE),
                "flags": int(samples.flags[row]),
                "symmetries": int(samples.symmetries[row]),
                "legal": int(samples.policy_counts[row]),
                "played": None if samples.played[row] == NO_ACTION else int(samples.played[row]),
                "policy": sorted(policy, key=lambda pair: -pair[1]),
            }
        )
    return found


def game_rows(shard: Shard, count: int) -> list[dict[str, Any]]:
    """The first whole games in words; actions by number where only the game's name is known."""
    try:
        game = named_game(shard.header.schema.game)
    except REFUSALS:
        game = None
    return [
        {
            "game": one.number,
            "outcome": outcome_text(one.outcome),
            "flags": [name for name, flag in FLAG_NAMES.items() if one.flags & flag],
            "samples": len(one.rows),
            "actions": list(map(str, one.actions)) if game is None else one.texts(game),
        }
        for one in whole_games(shard)[:count]
    ]


def _show_stats(found: dict[str, Any]) -> None:
    print(
        f"{found['samples']:,} samples of {found['games']:,} games in {found['shards']} shards, "
        f"{found['bytes_per_sample']:.0f} bytes each"
    )
    print(f"{found['positions']:,} positions; {found['duplicates']:.1%} of the samples repeat one")
    table = Table("iteration", "samples", "games", "plies", "drawn", "policy targets", "entropy")
    table.add_column("value error")
    for row in [*found["iterations"], found | {"iteration": "all"}]:
        table.add_row(
            str(row["iteration"]),
            f"{row['samples']:,}",
            f"{row['games']:,}",
            f"{row['plies_per_game']:.1f}",
            f"{row['drawn_games_share']:.1%}",
            f"{row['full_share']:.1%}",
            f"{row['policy_entropy']:.3f}",
            f"{row['root_value_error']:.3f}",
        )
    Console().print(table)
