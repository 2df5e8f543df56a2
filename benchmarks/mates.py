"""How many simulations the search needs to prove a forced mate, with no network at all.

Usage: python benchmarks/mates.py [--simulations 100000] [--verify] [--json]

The suite is `tests/data/mates/mate{1,2,3}.epd`: 60 positions each whose shortest mate was found by
exhaustive search, half of them from games of random players, half from sparse random boards. The
evaluator is uniform, so every proof is the solver's (S11). A claimed mate is right when it is no
shorter than the shortest one; `exact` counts those that are the shortest.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import chess

import zermelo
from zermelo.search import Search, SearchOptions, UniformEvaluator

SUITE = Path(__file__).parents[1] / "tests" / "data" / "mates"
BUDGETS = (100, 1_000, 10_000, 100_000)


def read_suite(moves: int) -> list[str]:
    """FENs whose shortest forced mate takes the mover `moves` moves."""
    fens = []
    for line in (SUITE / f"mate{moves}.epd").read_text().splitlines():
        board, operations = chess.Board.from_epd(line)
        if operations["dm"] != moves:
            raise ValueError(f"mate{moves}.epd holds a mate in {operations['dm']}: {line}")
        fens.append(board.fen())
    return fens


def mates_within(board: chess.Board, moves: int) -> bool:
    """Whether the mover can force mate in at most so many moves, by trying everything."""
    replies = []
    for move in board.legal_moves:
        board.push(move)
        mate = board.is_checkmate()
        if moves > 1 and not mate:
            # Checks and tight positions first: they hold most of the mates.
            replies.append((not board.is_check(), board.legal_moves.count(), move))
        board.pop()
        if mate:
            return True
    for _, count, move in sorted(replies, key=lambda reply: reply[:2]):
        if count == 0:  # stalemate
            continue
        board.push(move)
        forced = not board.is_insufficient_material() and mated_within(board, moves - 1)
        board.pop()
        if forced:
            return True
    return False


def mated_within(board: chess.Board, moves: int) -> bool:
    """Whether every answer of the mover, who has one, lets the other side mate within `moves`."""
    for move in board.legal_moves:
        board.push(move)
        forced = mates_within(board, moves)
        board.pop()
        if not forced:
            return False
    return True


def shortest_mate(board: chess.Board, most: int) -> int | None:
    """Moves of the shortest forced mate of the mover, None when there is none within `most`."""
    return next((moves for moves in range(1, most + 1) if mates_within(board, moves)), None)


def prove(fen: str, simulations: int) -> tuple[int, int] | None:
    """(simulations until the proof, claimed mate), or None when nothing was proven."""
    game = zermelo.game("chess")
    search = Search(game, UniformEvaluator(), SearchOptions(cache_mib=0))
    result = search.run(game.parse_position(fen), simulations=simulations)
    if result.mate is None:
        return None
    return result.root_visits - 1, result.mate


def measure(moves: int, simulations: int) -> dict[str, object]:
    """One row of the table."""
    fens = read_suite(moves)
    start = time.perf_counter()
    proofs = [prove(fen, simulations) for fen in fens]
    seconds = time.perf_counter() - start
    needed = sorted(proof[0] for proof in proofs if proof)
    claims = [proof[1] for proof in proofs if proof]
    wrong = [fen for fen, proof in zip(fens, proofs, strict=True) if proof and proof[1] < moves]
    return {
        "mate": moves,
        "positions": len(fens),
        "proven": {
            str(budget): sum(n <= budget for n in needed) / len(fens)
            for budget in BUDGETS
            if budget <= simulations
        },
        "median_simulations": needed[len(fens) // 2] if len(needed) > len(fens) // 2 else None,
        "most_simulations": needed[-1] if len(needed) == len(fens) else None,
        "exact": sum(claim == moves for claim in claims) / max(1, len(claims)),
        "longest_claim": max(claims, default=None),
        "wrong": wrong,
        "seconds": round(seconds, 2),
    }


def main() -> None:
    """Prints a table, or one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simulations", type=int, default=100_000, help="budget of a position")
    parser.add_argument("--verify", action="store_true", help="solve the suite exactly first")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    if arguments.verify:
        for moves in (1, 2, 3):
            for fen in read_suite(moves):
                if shortest_mate(chess.Board(fen), moves) != moves:
                    raise SystemExit(f"{fen} is no mate in {moves}")
    rows = [measure(moves, arguments.simulations) for moves in (1, 2, 3)]
    if arguments.json:
        print(json.dumps({"benchmark": "mates", "rows": rows}))
        return
    budgets = [budget for budget in BUDGETS if budget <= arguments.simulations]
    print("mate in  positions" + "".join(f"{f'<= {b:,}':>12}" for b in budgets), end="")
    print(f"{'median':>9}{'most':>9}{'exact':>8}{'wrong':>7}{'seconds':>9}")
    for row in rows:
        shares = row["proven"]
        assert isinstance(shares, dict)
        print(f"{row['mate']:>7}  {row['positions']:>9}", end="")
        print("".join(f"{shares[str(b)]:>12.0%}" for b in budgets), end="")
        print(f"{row['median_simulations'] or '-':>9}{row['most_simulations'] or '-':>9}", end="")
        print(f"{row['exact']:>8.0%}{len(row['wrong']):>7}{row['seconds']:>9}")  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
