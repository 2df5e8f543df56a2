"""How strong `UCI_Elo` is: ratings against each other and against Stockfish's levels.

Usage: python benchmarks/chess_levels.py [800 1200 1600 2000] [--games 40] [--minutes M] [--out DIR]
           [--opponents 1350 1500 ...] [--seconds 0.02] [--json]

Every rating meets the next one and, where Stockfish has a level near it, the two nearest. The
engine itself plays, over UCI. With --out each meeting is kept there, and the same command goes on;
--minutes ends it after a while. Reported: points of each meeting, the Elo between neighbours with
its interval, and each rating's performance on Stockfish's scale.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from engine_match import BOOK, RANDOM, TimeIsOverError

from zermelo.matches.adjudicate import AdjudicateOptions
from zermelo.matches.match import MatchOptions, MatchResult, play_match
from zermelo.statistics.performance import performance
from zermelo.statistics.rating import ColourSplit, Score

OURS = f"uci:{sys.executable} -m zermelo.uci"
NEAR = 400  # Elo between a rating and the levels that can tell something about it


def meetings(ratings: Sequence[int], levels: Sequence[int]) -> list[tuple[int, int, bool]]:
    """Pairs, and whether the second is Stockfish."""
    found = [(low, high, False) for low, high in pairwise(sorted(ratings))]
    for rating in sorted(ratings):
        near = sorted(levels, key=lambda level: abs(level - rating))[:2]
        found += [(rating, level, True) for level in near if abs(level - rating) <= NEAR]
    return found


def played(
    ours: int, other: int, stockfish: bool, given: argparse.Namespace, until: float
) -> MatchResult | None:
    """The meeting as far as there was time."""
    # A rating has a number of nodes; the seconds only keep it from waiting for ever.
    specs = [f"{OURS}?UCI_Elo={ours}&seconds=20"]
    if stockfish:
        specs.append(f"uci:stockfish?UCI_Elo={other}&seconds={given.seconds}")
    else:
        specs.append(f"{OURS}?UCI_Elo={other}&seconds=20")
    name = f"{ours}_{'stockfish_' if stockfish else ''}{other}"
    options = MatchOptions(
        games=given.games,
        openings=given.openings,
        seed=ours + other,
        adjudication=AdjudicateOptions(max_plies=400, resign_value=0.95),
        out=None if given.out is None else given.out / name,
    )
    so_far: MatchResult | None = None

    def progress(result: MatchResult) -> None:
        nonlocal so_far
        so_far = result
        if time.monotonic() > until and len(result.records) < given.games:
            raise TimeIsOverError

    try:
        return play_match(specs, "chess", options, progress)
    except TimeIsOverError:
        return so_far


def row(ours: int, other: int, stockfish: bool, split: ColourSplit) -> dict[str, Any]:
    """One meeting, for the first of the two."""
    low, high = split.best.interval()
    return {
        "rating": ours,
        "opponent": f"stockfish {other}" if stockfish else other,
        "score": str(split.total),
        "elo": round(split.best.elo),
        "interval": [round(low), round(high)],
    }


def main() -> None:
    """Plays and prints."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("ratings", nargs="*", type=int, default=[800, 1200, 1600, 2000])
    levels = [1350, 1500, 1700, 1900, 2100]
    parser.add_argument("--opponents", nargs="*", type=int, default=levels)
    parser.add_argument("--seconds", type=float, default=0.02, help="of Stockfish's moves")
    parser.add_argument("--games", type=int, default=40)
    parser.add_argument("--minutes", type=float, default=1e9)
    parser.add_argument("--openings", default=str(BOOK) if BOOK.is_file() else RANDOM)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    until = time.monotonic() + 60 * given.minutes
    rows: list[dict[str, Any]] = []
    against: dict[int, dict[float, Score]] = {}
    for ours, other, stockfish in meetings(given.ratings, given.opponents):
        result = played(ours, other, stockfish, given, until)
        if result is None or not result.records:
            continue
        rows.append(row(ours, other, stockfish, result.split))
        print(rows[-1], file=sys.stderr, flush=True)
        if stockfish:
            against.setdefault(ours, {})[float(other)] = result.split.total
    found = {elo: performance(results) for elo, results in against.items()}
    shown = {elo: [round(p.elo), round(p.low), round(p.high), p.games] for elo, p in found.items()}
    if given.json:
        print(json.dumps({"meetings": rows, "performance": shown}, indent=2))
        return
    for elo, (value, low, high, games) in shown.items():
        print(f"UCI_Elo {elo}: performance {value} [{low}, {high}] in {games} games")


if __name__ == "__main__":
    main()
