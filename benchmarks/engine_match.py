"""Any two UCI engines against each other at equal time or nodes, from paired openings.

Usage: python benchmarks/engine_match.py A B [--clock 1+0.01 | --seconds S | --nodes N]
           [--games 200] [--openings BOOK] [--out DIR] [--minutes M] [--grace S] [--resign]
           [--seed 0] [--json]

A and B are commands, with options of the engine behind a question mark and joined by `&`:
"zermelo-uci --weights maia-1500.pb.gz?Threads=1&CPuct=2". `seconds`, `nodes`, `depth`, `base` and
`increment` there are limits of that side alone, so a clock can meet a fixed time per move. Other
players of Zermelo are taken too: "maia-1500.pb.gz?simulations=100", "level?elo=1200".

Openings are those of the book that lies at `../shared/data`, else four random plies; each is played
twice with colours swapped. Reported for A: points, Elo with its interval, losses on time and other
failures of either side, seconds and nodes of a move. With --out the match is kept there game by
game, and the same command goes on with it; --minutes ends it after the game under way.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from zermelo.errors import UserError
from zermelo.games.parameters import split_spec
from zermelo.matches.adjudicate import AdjudicateOptions
from zermelo.matches.contestants import add_settings
from zermelo.matches.match import MatchOptions, MatchResult, play_match
from zermelo.network.places import looks_like_network
from zermelo.players import player_names
from zermelo.players.registry import ENGINE

DATA = os.environ.get("ZERMELO_TEST_DATA") or Path(__file__).parents[2] / "shared" / "data"
BOOK = Path(DATA) / "books" / "noob_3moves.epd.zip"
RANDOM = "random:4"
LIMITS = ("seconds", "nodes", "depth", "base")
GRACE = 0.05  # seconds beyond its time that a side may take, for the way through two pipes


class TimeIsOverError(Exception):
    """The minutes are over; what was played is kept."""


def read_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line; exits with 2 if it cannot be read."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("players", nargs=2, metavar=("A", "B"))
    parser.add_argument("--games", type=int, default=200)
    limits = parser.add_mutually_exclusive_group()
    limits.add_argument("--clock", metavar="BASE+INCREMENT", help="seconds of a game and a move")
    limits.add_argument("--seconds", type=float, help="of every move")
    limits.add_argument("--nodes", type=int, help="of every move")
    parser.add_argument("--openings", default=str(BOOK) if BOOK.is_file() else RANDOM)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--minutes", type=float, default=0.0)
    parser.add_argument("--grace", type=float, default=GRACE, help="seconds")
    parser.add_argument("--resign", action="store_true", help="lost games are not played out")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    return parser.parse_args(arguments)


def limits_of(given: argparse.Namespace) -> dict[str, str]:
    """The limits of a side that has none of its own."""
    if given.clock is not None:
        base, _, increment = given.clock.partition("+")
        return {"base": base, "increment": increment or "0"}
    if given.nodes is not None:
        return {"nodes": str(given.nodes)}
    return {"seconds": str(0.1 if given.seconds is None else given.seconds)}


def spec_of(text: str, limits: dict[str, str], grace: float) -> str:
    """The player that a text means; a command becomes an engine, with a limit if it has none."""
    name, own = split_spec(text)
    if name in player_names() or is_network(name):
        return text
    spec = text if text.startswith(ENGINE) else ENGINE + text
    missing = {} if any(key in own for key in LIMITS) else limits
    return add_settings(spec, {"grace": str(grace)} | missing | own)


def is_network(name: str) -> bool:
    """Of a file that is no program, a folder, or one that ships with the package."""
    if os.path.isfile(name):
        return not os.access(name, os.X_OK)
    return os.path.isdir(name) or (os.sep not in name and looks_like_network(name))


def figures(result: MatchResult) -> dict[str, Any]:
    """Everything that is reported, of A unless it is by player."""
    totals = [[0.0, 0, 0], [0.0, 0, 0]]
    seats = {record.number: record.players for record in result.records}
    for timing in result.timings:
        for seat, index in enumerate(seats[timing.number]):
            totals[index][0] += timing.seconds[seat]
            totals[index][1] += timing.moves[seat]
            totals[index][2] += timing.simulations[seat]
    losses = [kinds.get("time loss", 0) for kinds in result.failures.values()]
    return result.to_dict() | {
        "time_losses": losses,
        "seconds_per_move": [spent / max(moves, 1) for spent, moves, _ in totals],
        "nodes_per_move": [nodes / max(moves, 1) for _, moves, nodes in totals],
    }


def told(found: dict[str, Any], result: MatchResult) -> str:
    """For people."""
    lines = [str(result), f"{found['games']} games of {found['mean_plies']:.0f} plies on average"]
    for side, name in enumerate(result.names):
        failed = ", ".join(f"{count} {kind}" for kind, count in result.failures[name].items())
        seconds, nodes = found["seconds_per_move"][side], found["nodes_per_move"][side]
        lines.append(
            f"{'AB'[side]} {name}: {seconds:.4f} s and {nodes:,.0f} nodes a move; "
            f"failures: {failed or 'none'}"
        )
    return "\n".join(lines)


def run(given: argparse.Namespace) -> MatchResult | None:
    """The match as far as it was played; None if not even one game was."""
    specs = [spec_of(text, limits_of(given), given.grace) for text in given.players]
    decided = {"resign_value": 0.95, "resign_moves": 3} if given.resign else {}
    options = MatchOptions(
        games=given.games,
        openings=given.openings,
        seed=given.seed,
        adjudication=AdjudicateOptions(max_plies=400, **decided),
        out=given.out,
    )
    so_far: MatchResult | None = None
    started = time.monotonic()

    def progress(result: MatchResult) -> None:
        nonlocal so_far
        so_far = result
        print(f"{len(result.records)} of {given.games}: {result}", file=sys.stderr)
        over = given.minutes and time.monotonic() - started > 60 * given.minutes
        if over and len(result.records) < given.games:
            raise TimeIsOverError

    try:
        return play_match(specs, "chess", options, progress)
    except TimeIsOverError:
        return so_far


def main(arguments: Sequence[str] | None = None) -> int:
    """Plays and prints; the exit code."""
    given = read_arguments(arguments)
    try:
        result = run(given)
    except UserError as error:
        print(f"engine_match: {error}", file=sys.stderr)
        return 2
    if result is not None:
        found = figures(result)
        print(json.dumps(found, indent=2) if given.json else told(found, result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
