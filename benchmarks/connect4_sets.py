"""How often a Connect Four network keeps what a position is worth, judged by BitBully's book.

Usage: python benchmarks/connect4_sets.py --weights RUN [--simulations 800] [--sets DIR] [--json]

DIR holds files of lines "moves score" (columns 1 to 7), as ../shared/data/connect4. For each file:
the share of chosen moves that keep the result (win, draw or loss), with the search and by the
policy alone. BitBully and its opening book (both in the dev extra) know nothing of our solver.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import bitbully
import numpy as np

import zermelo
from zermelo.network import NetworkEvaluator, load_network
from zermelo.players.network_path import network_path
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


def search_choices(evaluator: Any, states: list[Any], simulations: int) -> list[int]:
    """What the search plays; all boards share batches, on every core."""
    options = SearchOptions(threads=2, batch=64)
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


def share_kept(judge: Any, games: list[str], choices: list[int]) -> float:
    """Share of the choices whose result is the best that there is."""
    kept = 0
    for moves, choice in zip(games, choices, strict=True):
        scores = judge.score_all_moves(bitbully.Board([int(column) - 1 for column in moves]))
        kept += int(np.sign(scores[choice]) == np.sign(max(scores.values())))
    return kept / len(games)


def main() -> None:
    """A row for each file and one for all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--weights", required=True, help="a run, checkpoint or network file")
    parser.add_argument("--simulations", type=int, default=800)
    parser.add_argument("--precision", default="f32")
    parser.add_argument("--sets", type=Path, default=Path("../shared/data/connect4"))
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    weights = load_network(network_path(arguments.weights), GAME)
    evaluator = NetworkEvaluator(weights, "openvino", arguments.precision, game=GAME)
    judge = bitbully.BitBully(opening_book="12-ply-dist")
    rows, total = {}, {"search": 0.0, "policy": 0.0}
    count = 0
    for path in sorted(arguments.sets.glob("Test_*")):
        games = read_moves(path)
        states = [state_after(moves) for moves in games]
        started = time.perf_counter()
        found = search_choices(evaluator, states, arguments.simulations)
        seconds = time.perf_counter() - started
        row = {
            "positions": len(games),
            "search": share_kept(judge, games, found),
            "policy": share_kept(judge, games, policy_choices(evaluator, states)),
            "seconds": round(seconds, 1),
        }
        rows[path.name] = row
        count += len(games)
        for way in total:
            total[way] += row[way] * len(games)
        if not arguments.json:
            print(f"{path.name:<22} search {row['search']:7.2%}  policy {row['policy']:7.2%}")
    overall = {way: value / count for way, value in total.items()}
    if arguments.json:
        print(json.dumps({"sets": rows, "overall": overall}, indent=2))
    else:
        print(f"{'all':<22} search {overall['search']:7.2%}  policy {overall['policy']:7.2%}")


if __name__ == "__main__":
    main()
