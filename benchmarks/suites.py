"""Suites of problems by network, simulations and solver: what `zermelo solve` finds, in one table.

Usage: python benchmarks/suites.py --weights FILE --data DIR [--out DIR] [--json]
           [--only mates,wac,puzzles,connect4,othello] [--simulations 100,800] [--limit N]
           [--precision f32]

Each suite is solved by each player; the answers of a pair that is done are kept in DIR, and a run
that was stopped goes on with the next pair. Mates are proven with no network and with one, at 1,000
simulations; WAC and puzzles are played by the raw policy and by searches, solver on and off.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path
from typing import Any

from zermelo.suites.files import read_suite
from zermelo.suites.report import summary
from zermelo.suites.solve import Answer, SuiteSolver

SUITES = {
    "mates": "chess/mates1000.epd",
    "wac": "chess/wacnew.epd",
    "puzzles": "chess/lichess_puzzles_500.csv",
    "connect4": "connect4/Test_L2_R1",
    "othello": "othello/fforum-1-19.obf",
}
# With a network: mini-batches of eight leaves, and its policy as it is.
NETWORK = "leaves_per_tree=8&policy_temperature=1.0&cache_history=off&cache_clock=off"


def players(suite: str, weights: str | None, budgets: list[int], precision: str) -> list[str]:
    """Who solves a suite, the weakest first."""
    network = f"{NETWORK}&precision={precision}"
    if suite in ("connect4", "othello"):
        return [
            f"search?simulations={budget}&evaluator=rollout&solver={solver}"
            for budget in budgets
            for solver in ("off", "on")
        ]
    if suite == "mates":
        bare = ["search?simulations=1000&evaluator=uniform"]
        return bare + ([f"{weights}?simulations=1000&{network}"] if weights else [])
    if not weights:
        return []
    searches = [
        f"{weights}?simulations={budget}&{network}&solver={solver}"
        for budget in budgets
        for solver in ("off", "on")
    ]
    return [f"policy?weights={weights}", *searches]


def solve(path: Path, player: str, limit: int | None, out: Path) -> dict[str, Any]:
    """One pair; from the file of an earlier run if it is there."""
    key = hashlib.sha256(f"{path.name} {limit} {player}".encode()).hexdigest()[:16]
    kept = out / f"{path.stem}-{key}.jsonl"
    if not kept.exists():
        answers = SuiteSolver(read_suite(path, limit), player).answers()
        lines = [json.dumps(answer.to_dict()) + "\n" for answer in answers]
        partial = kept.with_suffix(".partial")
        partial.write_text("".join(lines))
        partial.replace(kept)
    rows = [json.loads(line) for line in kept.read_text().splitlines()]
    found = [Answer(**row | {"themes": tuple(row["themes"])}) for row in rows]
    return {"suite": path.name, "player": player, **summary(found)}


def main() -> None:
    """Prints a line as each pair is done, or one JSON object at the end."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--weights", help="an lc0 network for chess")
    parser.add_argument("--data", type=Path, required=True, help="the folder of the suites")
    parser.add_argument("--out", type=Path, default=Path("suites-out"), help="answers so far")
    parser.add_argument("--only", default=",".join(SUITES))
    parser.add_argument("--simulations", default="100,800")
    parser.add_argument("--precision", default="f32", help="of the network's search")
    parser.add_argument("--limit", type=int, help="problems of each suite")
    parser.add_argument("--json", action="store_true", help="print one JSON object at the end")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    budgets = [int(budget) for budget in arguments.simulations.split(",")]
    rows = []
    for name in arguments.only.split(","):
        path = arguments.data / SUITES[name]
        for player in players(name, arguments.weights, budgets, arguments.precision):
            row = solve(path, player, arguments.limit, arguments.out)
            rows.append(row)
            if not arguments.json:
                show(row)
    if arguments.json:
        print(json.dumps({"benchmark": "suites", "rows": rows}))


def show(row: dict[str, Any]) -> None:
    """One line, at once."""
    mates = row["mates"]
    checked = f", {mates['verified']} of {mates['claimed']} verified" if mates else ""
    print(
        f"{row['suite']}  {row['player']}: {row['solved']} of {row['problems']} "
        f"({row['share']:.1%}; {row['share_low']:.1%} to {row['share_high']:.1%})"
        f"{checked}, {row['seconds']:.0f} s",
        flush=True,
    )


if __name__ == "__main__":
    main()
