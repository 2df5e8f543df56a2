"""Counts chess move paths with the core and with python-chess and compares their speed.

Usage: python benchmarks/perft.py [--seconds 5] [--json]

Both count the same positions without playing the last ply. The core goes deeper, since it would
otherwise be done before the clock can tell; where both count the same depth they must agree. A run
is repeated until `--seconds` are spent and the fastest one counts.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from collections.abc import Callable

import chess

import zermelo

# name, FEN, depth for python-chess, depth for the core
POSITIONS = [
    ("start", chess.STARTING_FEN, 4, 6),
    ("kiwipete", "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", 3, 5),
    ("endgame", "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", 4, 6),
]


def python_chess_perft(board: chess.Board, depth: int) -> int:
    """Paths of length `depth`, the last ply counted only."""
    if depth == 1:
        return board.legal_moves.count()
    paths = 0
    for move in board.legal_moves:
        board.push(move)
        paths += python_chess_perft(board, depth - 1)
        board.pop()
    return paths


def best_rate(count: Callable[[], int], seconds: float) -> tuple[int, float]:
    """The count, and nodes per second of the fastest of as many runs as fit."""
    spent, fastest, nodes = 0.0, float("inf"), 0
    while spent == 0.0 or spent + fastest <= seconds:
        start = time.perf_counter()
        nodes = count()
        taken = time.perf_counter() - start
        spent += taken
        fastest = min(fastest, taken)
    return nodes, nodes / fastest


def measure(seconds: float) -> list[dict[str, object]]:
    """One row per position."""
    game = zermelo.game("chess")
    rows: list[dict[str, object]] = []
    share = seconds / (2 * len(POSITIONS))
    for name, fen, slow_depth, fast_depth in POSITIONS:
        board = chess.Board(fen)
        state = game.parse_position(fen)
        slow_nodes, slow_rate = best_rate(
            lambda b=board, d=slow_depth: python_chess_perft(b, d), share
        )
        if game.perft(state, slow_depth) != slow_nodes:
            raise SystemExit(f"{name}: the counts at depth {slow_depth} differ")
        fast_nodes, fast_rate = best_rate(lambda s=state, d=fast_depth: game.perft(s, d), share)
        rows.append(
            {
                "position": name,
                "depth": fast_depth,
                "nodes": fast_nodes,
                "zermelo_nodes_per_second": round(fast_rate),
                "python_chess_nodes_per_second": round(slow_rate),
                "ratio": round(fast_rate / slow_rate, 1),
            }
        )
    return rows


def main() -> None:
    """Prints a table, or one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=5.0, help="time to spend, about")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    rows = measure(arguments.seconds)
    if arguments.json:
        machine = {"machine": platform.machine(), "python_chess": chess.__version__}
        print(json.dumps({"benchmark": "perft", **machine, "rows": rows}))
        return
    print(f"{'position':10} {'depth':>5} {'zermelo':>12} {'python-chess':>13} {'ratio':>7}")
    for row in rows:
        fast, slow = row["zermelo_nodes_per_second"], row["python_chess_nodes_per_second"]
        print(f"{row['position']:10} {row['depth']:>5} {fast:>12,} {slow:>13,} {row['ratio']:>6,}x")


if __name__ == "__main__":
    main()
