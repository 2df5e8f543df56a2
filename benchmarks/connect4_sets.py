"""How often a Connect Four network keeps what a position is worth, judged by BitBully's book.

Usage: python benchmarks/connect4_sets.py --weights RUN [--simulations 800] [--set OPTION=VALUE ...]
--sets DIR [--json]

A run's own options of the search do not count here: all networks are judged with the defaults and
what `--set` changes.

DIR holds files of lines "moves score" (columns 1 to 7). For each file:
the share of chosen moves that keep the result (win, draw or loss), with the search and by the
policy alone. BitBully and its opening book (both in the dev extra) know nothing of our solver.
"""

from __future__ import annotations

import argparse
import json
import time
from functools import cache
from pathlib import Path
from typing import Any

import bitbully
import numpy as np

import zermelo
from zermelo.cli.options import read_settings
from zermelo.network import NetworkEvaluator, load_network
from zermelo.network.places import network_path
from zermelo.search import Search, SearchOptions

GAME = zermelo.game("connect4")


def read_moves(path: Path) -> list[str]:
    """The first word of each line."""
    return [line.split()[0] for line in path.read_text().splitlines() if line.strip()]


def state_after(moves: str) -> Any:
    """The position that the columns lead to."""
    state = GAME.initial()
    for column in moves:
        state = GAME.play(state, GAME.parse_action(state, column))
    return state


def search_choices(
    evaluator: Any, states: list[Any], simulations: int, changes: dict[str, Any]
) -> list[int]:
    """What the search plays; all boards share batches, on every core."""
    options = SearchOptions(**{"threads": 2, "batch": 64} | changes)
    results = Search(GAME, evaluator, options).run_many(states, simulations)
    return [result.best_action for result in results]


def policy_choices(evaluator: Any, states: list[Any]) -> list[int]:
    """The legal action that the network likes best."""
    planes = np.stack([np.asarray(GAME.observe(state), np.float32) for state in states])
    logits, _ = evaluator(planes)
    found = []
    for row, state in zip(logits, states, strict=True):
        legal = list(GAME.legal_actions(state))
        found.append(legal[int(np.argmax(row[legal]))])
    return found


@cache
def keeping_moves(path: Path) -> list[set[int]]:
    """For each position of a file the columns, from 0, whose result is the best that there is."""
    judge = bitbully.BitBully(opening_book="12-ply-dist")
    found = []
    for moves in read_moves(path):
        scores = judge.score_all_moves(bitbully.Board([int(column) - 1 for column in moves]))
        best = np.sign(max(scores.values()))
        found.append({column for column, score in scores.items() if np.sign(score) == best})
    return found


def share_kept(keeping: list[set[int]], choices: list[int]) -> float:
    """Share of the choices that keep the result."""
    kept = sum(choice in moves for moves, choice in zip(keeping, choices, strict=True))
    return kept / len(keeping)


def measured(
    weights: str,
    simulations: int,
    folder: Path,
    precision: str = "f32",
    changes: dict[str, Any] | None = None,
) -> dict[str, dict[str, float]]:
    """For each file, and for "all": positions, shares kept by search and policy, seconds."""
    network = load_network(network_path(weights), GAME)
    evaluator = NetworkEvaluator(network, "openvino", precision, game=GAME)
    rows = {}
    for path in sorted(folder.glob("Test_*")):
        states = [state_after(moves) for moves in read_moves(path)]
        started = time.perf_counter()
        found = search_choices(evaluator, states, simulations, changes or {})
        seconds = time.perf_counter() - started
        keeping = keeping_moves(path)
        rows[path.name] = {
            "positions": len(states),
            "search": share_kept(keeping, found),
            "policy": share_kept(keeping, policy_choices(evaluator, states)),
            "seconds": round(seconds, 1),
        }
    if not rows:
        raise SystemExit(f"{folder} has no files Test_*: give --sets DIR")
    count = sum(row["positions"] for row in rows.values())
    shares = {
        way: sum(row[way] * row["positions"] for row in rows.values()) / count
        for way in ("search", "policy")
    }
    seconds = sum(row["seconds"] for row in rows.values())
    return rows | {"all": {"positions": count, **shares, "seconds": round(seconds, 1)}}


def main() -> None:
    """A row for each file and one for all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--weights", required=True, help="a run, checkpoint or network file")
    parser.add_argument("--simulations", type=int, default=800)
    parser.add_argument("--precision", default="f32")
    parser.add_argument("--set", action="append", default=[], metavar="OPTION=VALUE")
    parser.add_argument("--sets", type=Path, required=True)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    changes = read_settings(given.set)
    rows = measured(given.weights, given.simulations, given.sets, given.precision, changes)
    if given.json:
        print(json.dumps(rows, indent=2))
        return
    for name, row in rows.items():
        print(f"{name:<22} search {row['search']:7.2%}  policy {row['policy']:7.2%}")


if __name__ == "__main__":
    main()
