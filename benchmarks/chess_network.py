"""Chess with lc0's networks: speed, precision, one tactic, and the Win At Chess suite.

Usage: python benchmarks/chess_network.py speed --weights FILE [--precision f32] [--json]
       python benchmarks/chess_network.py error --weights FILE [--positions 1000]
       python benchmarks/chess_network.py seed --weights FILE [--simulations 5000] [--like lc0]
       python benchmarks/chess_network.py wac --weights FILE --suite wacnew.epd --out wac.jsonl

`speed`: nodes/s and evaluations/s on ten positions against the bare runtime in the same run.
`error`: what bf16 and int8 change, on positions from games that the network plays with itself.
`seed`: simulations until 1...Qc4+, which forces mate, is played and stays the choice; with our
settings at policy temperature 1, or with lc0's.
`wac`: solved at 800 simulations with the solver on and off, and by the raw policy. It takes long;
every position is written down at once, and a run that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import chess
import numpy as np

import zermelo
from zermelo.cli.bench_chess import chess_speeds
from zermelo.network import NetworkEvaluator, Weights, load_network
from zermelo.network.accuracy import difference
from zermelo.network.measure import bare_openvino_rate
from zermelo.network.own_search import LOOSE_CACHE
from zermelo.network.positions import sample_positions
from zermelo.network.runtime_openvino import supports_bf16
from zermelo.search import Search, SearchOptions
from zermelo.uci.bench import CHESS_POSITIONS

SEED_FEN = "5k2/6pp/p1qN4/1p1p4/3P4/2PKP2Q/PP3r2/3R4 b - - 0 1"
SEED_MOVE = "c6c4"
GAME = zermelo.game("chess?encoder=lc0")
# What lc0 searches with if nothing is set (its src/search/classic/params.cc, April 2026).
LC0_SETTINGS: dict[str, Any] = {
    "c_puct": 1.745,
    "c_puct_factor": 3.894,
    "c_puct_base": 38739,
    "fpu": "reduced",
    "fpu_reduction": 0.33,
    "policy_temperature": 1.359,
    "turn_discount": 1.0,
}
SETTINGS: dict[str, dict[str, Any]] = {"ours": {"policy_temperature": 1.0}, "lc0": LC0_SETTINGS}


def speed(weights: Weights, arguments: argparse.Namespace) -> dict[str, Any]:
    """Ten positions, the bare runtime measured before each."""
    evaluator = NetworkEvaluator(weights, "openvino", arguments.precision, game=GAME)
    evaluator.warm_up(arguments.threads, arguments.leaves)
    rows = []
    for fen in CHESS_POSITIONS[: arguments.positions]:
        bare = bare_openvino_rate(
            weights,
            arguments.precision,
            batch=arguments.leaves,
            threads=arguments.threads,
            seconds=min(2.0, arguments.nodes / 2000),
        )
        (row,) = chess_speeds(
            evaluator, (fen,), arguments.nodes, arguments.threads, arguments.leaves
        )
        row["bare_evaluations_per_second"] = round(bare)
        row["of_bare"] = round(row["evaluations_per_second"] / bare, 3)
        row["nodes_per_evaluation"] = round(row["nodes"] / row["evaluations"], 2)
        rows.append(row)
        show(row, "nodes_per_second", "evaluations_per_second", "of_bare", "nodes_per_evaluation")
    return {"precision": arguments.precision, "threads": arguments.threads, "rows": rows}


def error(weights: Weights, arguments: argparse.Namespace) -> dict[str, Any]:
    """Against f32, on positions that the network itself reaches."""
    exact = NetworkEvaluator(weights, "openvino", "f32", game=GAME)
    positions = sample_positions(GAME, arguments.positions, seed=7, evaluator=exact)
    found = {}
    for backend, precision in (
        ("openvino", "int8"),
        ("openvino" if supports_bf16() else "torch", "bf16"),
    ):
        other = NetworkEvaluator(weights, backend, precision, game=GAME)
        change = difference(exact, other, GAME, positions)
        found[precision] = change.to_dict()
        print(f"{precision}: {change}", flush=True)
    return found


def seed(weights: Weights, arguments: argparse.Namespace) -> dict[str, Any]:
    """One thread, one leaf at a time; looked at after every simulation."""
    evaluator = NetworkEvaluator(weights, "openvino", arguments.precision, game=GAME)
    rows = []
    for auto_extend, solver in product((False, True), repeat=2):
        options = SearchOptions(
            auto_extend=auto_extend, solver=solver, threads=1, **SETTINGS[arguments.like]
        )
        row: dict[str, Any] = {"auto_extend": auto_extend, "solver": solver}
        row |= simulations_until_found(evaluator, options, arguments.simulations)
        rows.append(row)
        show(row, *row)
    return {"fen": SEED_FEN, "move": SEED_MOVE, "rows": rows}


def simulations_until_found(
    evaluator: NetworkEvaluator, options: SearchOptions, budget: int
) -> dict[str, Any]:
    """When the move was first the choice, since when it stayed so, and when it was proven."""
    state = GAME.parse_position(SEED_FEN)
    key = GAME.parse_action(state, SEED_MOVE)
    search = Search(GAME, evaluator, options)
    first = since = proven = None
    for done in range(1, budget + 1):
        result = search.run(state, simulations=1)
        if result.best_action == key:
            first, since = first or done, since or done
        else:
            since = None
        if result.proven is not None:
            proven = done
            break
    return {"first_best": first, "best_from": since, "proven": proven}


def wac(weights: Weights, arguments: argparse.Namespace) -> dict[str, Any]:
    """Each position three ways; answers are appended to the file as they come."""
    out = Path(arguments.out)
    done = read_lines(out)
    evaluator = NetworkEvaluator(weights, "openvino", arguments.precision, game=GAME)
    evaluator.warm_up(arguments.threads, arguments.leaves)
    started = time.perf_counter()
    for index, (name, board, best) in enumerate(read_epd(Path(arguments.suite))):
        if index >= arguments.limit or time.perf_counter() - started > arguments.seconds:
            break
        for way in ("policy", "solver=off", "solver=on"):
            key = f"{weights.name} {arguments.simulations} {way} {name}"
            if key in done:
                continue
            move = answer(evaluator, board, way, arguments)
            done[key] = {"key": key, "way": way, "move": move, "solved": move in best}
            with out.open("a") as file:
                file.write(json.dumps(done[key]) + "\n")
    prefix = f"{weights.name} {arguments.simulations} "
    rows = [row for key, row in done.items() if key.startswith(prefix)]
    solved, seen = Counter(), Counter()
    for row in rows:
        solved[row["way"]] += row["solved"]
        seen[row["way"]] += 1
    found = {way: {"solved": solved[way], "of": seen[way]} for way in seen}
    for way, counts in found.items():
        print(f"{way}: {counts['solved']} of {counts['of']}")
    return found


def answer(
    evaluator: NetworkEvaluator, board: chess.Board, way: str, arguments: argparse.Namespace
) -> str:
    """The move as UCI text."""
    state = GAME.parse_position(board.fen())
    if way == "policy":
        actions = np.array(GAME.legal_actions(state))
        planes = np.asarray(GAME.observe(state), np.float32)[None]
        logits, _ = evaluator(planes)
        return str(GAME.action_text(state, int(actions[logits[0][actions].argmax()])))
    options = SearchOptions(
        solver=way == "solver=on",
        threads=arguments.threads,
        leaves_per_tree=arguments.leaves,
        policy_temperature=1.0,
        **LOOSE_CACHE,
    )
    return Search(GAME, evaluator, options).run(state, arguments.simulations).best.text


def read_epd(path: Path) -> Iterator[tuple[str, chess.Board, set[str]]]:
    """Name, position and best moves of each line."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip():
            continue
        board = chess.Board()
        fields = board.set_epd(line)
        moves = fields.get("bm") or []
        yield str(fields.get("id", number)), board, {move.uci() for move in moves}


def read_lines(path: Path) -> dict[str, dict[str, Any]]:
    """What an earlier run wrote; a last line that was cut off is done again."""
    found = {}
    for line in path.read_text().splitlines() if path.exists() else []:
        try:
            row = json.loads(line)
        except ValueError:
            continue
        found[row["key"]] = row
    return found


def show(row: dict[str, Any], *names: str) -> None:
    """One line, at once."""
    print("  ".join(f"{name} {row[name]}" for name in names), flush=True)


def main() -> None:
    """Prints figures as they come, and with --json everything at the end."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("speed", "error", "seed", "wac"))
    parser.add_argument("--weights", required=True, help="an lc0 network")
    parser.add_argument("--precision", default="f32")
    parser.add_argument("--like", default="ours", choices=SETTINGS, help="seed: whose settings")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--leaves", type=int, default=8, help="in a batch")
    parser.add_argument("--nodes", type=int, default=10_000, help="speed: for each position")
    parser.add_argument("--positions", type=int, help="speed: of the ten; error: how many")
    parser.add_argument("--simulations", type=int, help="wac: of each search; seed: at most")
    parser.add_argument("--suite", default="wacnew.epd")
    parser.add_argument("--out", default="wac.jsonl")
    parser.add_argument("--limit", type=int, default=300, help="wac: positions")
    parser.add_argument("--seconds", type=float, default=1e9, help="wac: stop after so long")
    parser.add_argument("--json", action="store_true", help="print one JSON object at the end")
    arguments = parser.parse_args()
    arguments.positions = arguments.positions or {"speed": 10}.get(arguments.what, 1000)
    arguments.simulations = arguments.simulations or {"wac": 800}.get(arguments.what, 5000)
    weights = load_network(arguments.weights, GAME)
    found = {"speed": speed, "error": error, "seed": seed, "wac": wac}[arguments.what](
        weights, arguments
    )
    if arguments.json:
        print(json.dumps({"benchmark": f"chess_network {arguments.what}", **found}))


if __name__ == "__main__":
    main()
