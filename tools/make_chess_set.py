"""Makes the chess problems that ship with the package: mates that every defence was tried against.

    python tools/make_chess_set.py src/zermelo/data/chess_mates.epd

The positions are of games of a player that takes what it can and else moves at random. Our search
proves a mate without a network; then every other first move is refuted within the same number of
moves, by python-chess's rules. So one move alone mates in time, and the search knew no other win.
Same seed, same file; it takes some minutes.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import chess

import zermelo
from zermelo.search import Search, SearchOptions, UniformEvaluator
from zermelo.suites.mate_proof import ProofTree, verify_mate

SEED = 20261  # of the file in the package
WANTED = {1: 8, 2: 24, 3: 12}  # moves to mate: problems
SIMULATIONS = 20_000  # of the proof
LEGAL = 12  # moves at least, or chance alone solves the problem
PIECES = 8  # on the board at least: positions of games, not of endings that random play drags on
CAPTURE = 0.6  # share of the moves that take what is worth most, if anything can be taken
FIRST_PLY, LAST_PLY = 20, 120


def main() -> None:
    """The file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--share", type=float, default=1.0, help="of the problems, for a trial")
    given = parser.parse_args()
    wanted = {moves: max(1, round(given.share * count)) for moves, count in WANTED.items()}
    lines = list(problems(given.seed, wanted))
    random.Random(f"chess set {given.seed}").shuffle(lines)
    given.file.write_text("\n".join(lines) + "\n")


def problems(seed: int, wanted: dict[int, int]) -> Iterator[str]:
    """EPD lines, one of a game at most, until there are enough of each length."""
    missing = dict(wanted)
    number = 0
    while any(missing.values()):
        chance = random.Random(f"chess set {seed} {number}")
        number += 1
        for board in game(chance):
            found = problem(board, {moves for moves, count in missing.items() if count})
            if found is None:
                continue
            moves, move = found
            missing[moves] -= 1
            name = f"mate {moves}.{wanted[moves] - missing[moves]}"
            yield f'{board.epd()} bm {board.san(move)}; id "{name}";'
            print(f"game {number}: {name}", file=sys.stderr, flush=True)
            break


def game(chance: random.Random) -> Iterator[chess.Board]:
    """Positions of one game, not all, since neighbours are alike."""
    board = chess.Board()
    while not board.is_game_over() and board.ply() < LAST_PLY:
        if board.ply() >= FIRST_PLY and chance.random() < 0.25:
            yield board.copy(stack=False)
        board.push(any_move(board, chance))


def any_move(board: chess.Board, chance: random.Random) -> chess.Move:
    """Takes the piece that is worth most, or moves at random."""
    moves = sorted(board.legal_moves, key=chess.Move.uci)
    taking = [move for move in moves if board.is_capture(move)]
    if taking and chance.random() < CAPTURE:
        return max(taking, key=lambda move: board.piece_type_at(move.to_square) or chess.PAWN)
    return chance.choice(moves)


def problem(board: chess.Board, lengths: set[int]) -> tuple[int, chess.Move] | None:
    """The shortest mate, if it has one of the lengths and one first move alone."""
    moves = list(board.legal_moves)
    if len(moves) < LEGAL or chess.popcount(board.occupied) < PIECES:
        return None
    rules: Any = zermelo.game("chess")
    options = SearchOptions(cache_mib=0)
    found = Search(rules, UniformEvaluator(), options).run(
        rules.parse_position(board.fen()), SIMULATIONS
    )
    claimed = found.proven.mate if found.proven else None
    if claimed is None or not 0 < claimed <= max(lengths):
        return None
    for length in range(1, claimed + 1):
        first = mating(board, length)
        if first is None:  # not decided
            return None
        if first:
            won = {row.text for row in found.rows() if row.certain and row.certain.result > 0}
            alone = len(first) == 1 and won <= {first[0].uci()}
            return (length, first[0]) if alone and length in lengths else None
    return None


def mating(board: chess.Board, moves: int) -> list[chess.Move] | None:
    """First moves that mate in at most so many; empty if there are none, None if undecided."""
    found = []
    for move in board.legal_moves:
        board.push(move)
        forced = board.is_checkmate() or (
            moves > 1 and verify_mate(board, -(moves - 1), ProofTree([]))
        )
        board.pop()
        if forced is None:
            return None
        if forced:
            found.append(move)
    return found


if __name__ == "__main__":
    main()
