"""`zermelo perft`: counts the paths of a game tree."""

from __future__ import annotations

import json
import time
from typing import Annotated

import typer

from zermelo.cli.options import GameArgument, JsonOption
from zermelo.cli.waiting import interruptible
from zermelo.games import game as find_game
from zermelo.games import perft as counting
from zermelo.games.notation import action_text, parse_position, position_text


def add_to(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(perft)


def perft(
    game: GameArgument,
    depth: Annotated[int, typer.Argument(min=0, max=10_000, help="Length in plies.")],
    position: Annotated[str | None, typer.Option(help="Count from this position.")] = None,
    divide: Annotated[
        bool, typer.Option("--divide", help="Show the count below each action.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Count the lines of play of a length, to test a move generator."""
    rules = find_game(game)
    state = rules.initial() if position is None else parse_position(rules, position)
    started = time.perf_counter()
    parts: dict[str, int] = {}
    if divide:
        counts = interruptible(lambda: counting.divide(rules, state, depth))
        parts = {action_text(rules, state, action): count for action, count in counts.items()}
        paths = sum(counts.values())
    else:
        paths = interruptible(lambda: counting.perft(rules, state, depth))
    seconds = time.perf_counter() - started
    per_second = round(paths / seconds) if seconds > 0 else 0
    if as_json:
        found = {
            "game": rules.name,
            "position": position_text(rules, state),
            "depth": depth,
            "paths": paths,
            "seconds": round(seconds, 6),
            "nodes_per_second": per_second,
        }
        print(json.dumps(found | ({"divide": parts} if divide else {}), indent=2))
        return
    for text, count in parts.items():
        print(f"{text}: {count}")
    print(f"perft({depth}) = {paths}   {seconds:.3f} s   {per_second:,} nodes/s")
