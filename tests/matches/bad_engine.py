"""A UCI engine that misbehaves as its argument says; run as a program by the tests."""

from __future__ import annotations

import sys
import time

import chess


def main(manner: str) -> None:
    board = chess.Board()
    if manner == "exits":
        return
    for line in sys.stdin:
        words = line.split()
        if not words:
            continue
        if words[0] == "uci":
            if manner == "silent":
                time.sleep(3600)
            while manner == "floods uci":
                say(*["id author nobody"] * 4096)
            say("id name Bad Engine", "option name UCI_Elo type spin default 1500 min 500 max 3000")
            say("option name Move Overhead type spin default 0 min 0 max 100", "uciok")
        elif words[0] == "isready":
            say("readyok")
        elif words[0] == "position":
            board = position(words)
        elif words[0] == "go":
            answer(manner, board)
        elif words[0] == "quit":
            return


def position(words: list[str]) -> chess.Board:
    moves = words.index("moves") if "moves" in words else len(words)
    board = chess.Board() if words[1] == "startpos" else chess.Board(" ".join(words[2:moves]))
    for move in words[moves + 1 :]:
        board.push_uci(move)
    return board


def answer(manner: str, board: chess.Board) -> None:
    if manner == "crashes":
        sys.exit(3)
    if manner == "stalls":
        time.sleep(3600)
    while manner == "floods":
        say(*["info depth 1 score cp 0 nodes 1"] * 4096)
    while manner == "floods without an end of line":
        sys.stdout.write("x" * 65536)
    if manner == "is late":
        time.sleep(1.5)
    if manner == "plays an illegal move":
        say("bestmove a1a8")
    elif manner == "plays nonsense":
        say("bestmove zzzz")
    elif manner == "plays nothing":
        say("bestmove (none)")
    elif manner == "plays a null move":
        say("bestmove 0000")
    else:
        say("info depth 3 score cp 25 nodes 120 pv e2e4")
        say(f"bestmove {next(iter(board.legal_moves)).uci()}")
    if manner == "crashes between moves":
        sys.exit(3)


def say(*lines: str) -> None:
    sys.stdout.write("".join(line + "\n" for line in lines))
    sys.stdout.flush()


if __name__ == "__main__":
    try:
        main(" ".join(sys.argv[1:]))
    except BrokenPipeError:
        sys.stderr.close()
