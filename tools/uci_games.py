"""Games on the clock between our UCI engine and another one: is a move ever late, illegal, missing?

Usage: python tools/uci_games.py --games 100 --base 5 --increment 0.05 --weights FILE
       [--opponent stockfish|zermelo] [--elo 1350] [--threads 2] [--out FILE.jsonl]
       [--seed 0] [--json]

Pairs of games begin with the same four random plies, colours swapped. Every finished game is a line
of --out; given again, the command goes on after them. The clock is ours: the time between sending
`go` and reading `bestmove`, as a GUI measures it.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from pathlib import Path
from typing import Any

import chess
import chess.engine

from zermelo.statistics.rating import Score

OURS = "zermelo"
STALL = 60.0  # seconds without an answer
LONGEST = 400  # plies; then it is a draw


def opening(number: int, seed: int) -> chess.Board:
    """Four random plies that decide nothing."""
    chance = random.Random(f"{seed}/{number}")
    while True:
        board = chess.Board()
        for _ in range(4):
            board.push(chance.choice(list(board.legal_moves)))
        if not board.is_check() and any(board.legal_moves):
            return board


def play(number: int, engines: dict[str, Any], given: argparse.Namespace) -> dict[str, Any]:
    """One game; `score` is for us, `end` says how it ended."""
    board = opening(number // 2, given.seed)
    sides = {chess.WHITE: OURS, chess.BLACK: "opponent"}
    if number % 2:
        sides = {colour: sides[not colour] for colour in sides}
    clock = dict.fromkeys(chess.COLORS, given.base)
    longest, least, end, loser = 0.0, given.base, "", None
    for engine in engines.values():  # a GUI waits for `readyok` after `ucinewgame`
        engine.analyse(board, chess.engine.Limit(nodes=1), game=number)
    while not end:
        mover = board.turn
        limit = chess.engine.Limit(
            white_clock=clock[chess.WHITE], black_clock=clock[chess.BLACK],
            white_inc=given.increment, black_inc=given.increment,
        )  # fmt: skip
        started = time.perf_counter()
        try:
            answer = engines[sides[mover]].play(board, limit, game=number)
        except chess.engine.EngineError as error:
            end, loser = f"illegal move or crash: {error}", mover
            break
        except TimeoutError:
            end, loser = "stall", mover
            break
        clock[mover] -= time.perf_counter() - started
        if sides[mover] == OURS:
            longest = max(longest, time.perf_counter() - started)
            least = min(least, clock[mover])
        if clock[mover] < 0:
            end, loser = "time loss", mover
            break
        clock[mover] += given.increment
        board.push(answer.move)
        finished = board.outcome(claim_draw=True)
        if finished is not None:
            end = finished.termination.name.lower()
            loser = None if finished.winner is None else not finished.winner
        elif len(board.move_stack) >= LONGEST:
            end = "too long"
    score = 0.5 if loser is None else float(sides[loser] != OURS)
    fault = end in ("stall", "time loss") or end.startswith("illegal")
    return {
        "game": number,
        "white": sides[chess.WHITE],
        "score": score,
        "end": end,
        "faulty": sides[loser] if fault and loser is not None else None,
        "plies": len(board.move_stack),
        "longest_move": round(longest, 3),
        "least_left": round(least, 3),
        "moves": " ".join(move.uci() for move in board.move_stack),
    }


def start_engines(given: argparse.Namespace) -> dict[str, Any]:
    """Both, ready to play."""
    command = [sys.executable, "-m", "zermelo.uci", "--weights", given.weights]
    ours = chess.engine.SimpleEngine.popen_uci(command, timeout=STALL)
    ours.configure({"Threads": given.threads})
    opponent = command if given.opponent == OURS else given.opponent
    other = chess.engine.SimpleEngine.popen_uci(opponent, timeout=STALL)
    if given.opponent == OURS:
        other.configure({"Threads": given.threads})
    if given.elo:
        other.configure({"UCI_LimitStrength": True, "UCI_Elo": given.elo})
    return {OURS: ours, "opponent": other}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--games", type=int, default=100)
    parser.add_argument("--base", type=float, default=5.0, help="seconds")
    parser.add_argument("--increment", type=float, default=0.05, help="seconds")
    parser.add_argument("--weights", required=True)
    parser.add_argument("--opponent", default="/usr/games/stockfish")
    parser.add_argument("--elo", type=int, default=1350)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("uci_games.jsonl"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    done = (
        [json.loads(line) for line in given.out.read_text().splitlines()]
        if given.out.exists()
        else []
    )
    engines = start_engines(given)
    try:
        with given.out.open("a") as file:
            for number in range(len(done), given.games):
                done.append(play(number, engines, given))
                print(json.dumps(done[-1]), file=file, flush=True)
                shown = {k: v for k, v in done[-1].items() if k != "moves"}
                print(shown, file=sys.stderr, flush=True)
                if done[-1]["faulty"]:  # what failed may not be usable any more
                    for engine in engines.values():
                        engine.close()
                    engines = start_engines(given)
    finally:
        for engine in engines.values():
            engine.close()
    scores = [game["score"] for game in done]
    total = Score(scores.count(1.0), scores.count(0.5), scores.count(0.0))
    report = {
        "tried": len(done),
        "wins": total.wins,
        "draws": total.draws,
        "losses": total.losses,
        "elo": total.elo,
        "elo_interval": list(total.interval()),
        "our_faults": [g["end"] for g in done if g["faulty"] == OURS],
        "opponent_faults": [g["end"] for g in done if g["faulty"] == "opponent"],
        "longest_move": max(g["longest_move"] for g in done),
        "least_left": min(g["least_left"] for g in done),
    }
    print(json.dumps(report) if given.json else report)
    return 1 if report["our_faults"] else 0


if __name__ == "__main__":
    sys.exit(main())
