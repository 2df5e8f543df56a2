"""Goes through the UCI protocol step by step and says which steps hold.

Usage: python tools/uci_conformance.py [--weights FILE] [--fastchess PROGRAM] [--json]

The first 40 steps are those of `fastchess --compliance`, which is run too where it is given; then
what else a GUI relies on. The exit code is 1 if a step fails.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import chess
from uci_client import Client

SECONDS = 60.0  # for any answer
MIDDLE = "3r2k1/p5n1/1pq1p2p/2p3p1/2P1P1n1/1P1P2pP/PN1Q2K1/5R2 w - - 0 27"
BLACK = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"
CASTLING = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"
Step = tuple[str, Callable[[], bool]]


class Conversation:
    """With one engine; `board` is what it was told, `lines` what it said last."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.board = chess.Board()
        self.lines: list[str] = []
        self.greeting: list[str] = []

    def uci(self) -> bool:
        """The greeting ends by `uciok`."""
        self.client.send("uci")
        self.greeting = self.client.until("uciok", SECONDS)[1]
        return True

    def says(self, pattern: str) -> bool:
        """Whether a line of the greeting is so."""
        return any(re.fullmatch(pattern, line) for line in self.greeting)

    def send(self, *lines: str) -> bool:
        for line in lines:
            self.client.send(line)
        return True

    def is_ready(self) -> bool:
        self.client.send("isready")
        self.lines = self.client.until("readyok", SECONDS)[1]
        return True

    def position(self, text: str, *moves: str, chess960: bool = False) -> bool:
        """Sets it here and there."""
        self.board = chess.Board(text or chess.STARTING_FEN, chess960=chess960)
        for move in moves:
            self.board.push_uci(move)
        place = f"fen {text}" if text else "startpos"
        return self.send(f"position {place}" + (" moves " + " ".join(moves) if moves else ""))

    def best_move(self) -> bool:
        """One line of it comes, with a legal move."""
        self.lines = self.client.until("bestmove", SECONDS)[1]
        words = self.lines[-1].split()
        return chess.Move.from_uci(words[1]) in self.board.legal_moves

    def go(self, limits: str) -> bool:
        return self.send(f"go {limits}") and self.best_move()

    @property
    def info(self) -> str:
        """The last line that tells of a search."""
        told = [line for line in self.lines if line.startswith("info ") and " pv " in line]
        return told[-1] if told else ""

    def info_is_valid(self) -> bool:
        """Whole numbers behind time, nps and nodes; the line's moves can be played."""
        words = self.info.split()
        for name in ("time", "nps", "nodes"):
            if name in words and not words[words.index(name) + 1].isdigit():
                return False
        board = self.board.copy()
        for move in words[words.index("pv") + 1 :]:
            board.push_uci(move)  # raises if it is not legal
        return True

    def has_score(self) -> bool:
        return re.search(r" score (cp|mate) -?\d+", self.info) is not None


def steps(talk: Conversation) -> Iterator[Step]:
    """What fastchess asks, in its order."""
    yield "the engine starts and answers uci", talk.uci
    yield "isready is answered", talk.is_ready
    yield "it has a name", lambda: talk.says("id name .+")
    yield "it has an author", lambda: talk.says("id author .+")
    yield "ucinewgame is taken", lambda: talk.send("ucinewgame")
    yield "the usual start is taken", lambda: talk.position("")
    yield "isready is answered after it", talk.is_ready
    yield "a FEN is taken", lambda: talk.position(MIDDLE)
    yield "isready is answered after the FEN", talk.is_ready
    yield from of_search(talk, "wtime 100")
    yield "a position with Black to move is taken", lambda: talk.position(BLACK)
    for limits in (
        "btime 100",
        "wtime 100 winc 100 btime 100 binc 100",
        "btime 100 binc 100 wtime 100 winc 100",
    ):
        yield from of_search(talk, limits)
    yield "the score is there still", talk.has_score
    yield "another ucinewgame is taken", lambda: talk.send("ucinewgame")
    for moves in ((), ("e2e4", "e7e5")):
        text = " ".join(moves) or "none"
        yield f"the start with moves is taken: {text}", partial(talk.position, "", *moves)
        yield f"go is taken after moves: {text}", lambda: talk.send("go wtime 100 btime 100")
        yield f"a legal move is answered after moves: {text}", talk.best_move
        yield f"its info line is valid after moves: {text}", talk.info_is_valid


def of_search(talk: Conversation, limits: str) -> Iterator[Step]:
    """The five steps of one search."""
    yield f"go {limits} is taken", lambda: talk.send(f"go {limits}")
    yield f"go {limits}: a legal move is answered", talk.best_move
    yield f"go {limits}: there is an info line", lambda: bool(talk.info)
    yield f"go {limits}: the info line is valid", talk.info_is_valid
    yield f"go {limits}: it has a score", talk.has_score


def from_start(talk: Conversation, limits: str) -> bool:
    """Whether a search of the first position answers."""
    return bool(talk.position("") and talk.go(limits))


def more(talk: Conversation) -> Iterator[Step]:
    """What else a GUI relies on."""
    for limits in ("depth 2", "nodes 50", "movetime 50", "movestogo 5 wtime 500 btime 500"):
        yield f"go {limits} is answered", partial(from_start, talk, limits)
    yield (
        "only the moves of searchmoves are played",
        lambda: talk.go("nodes 20 searchmoves a2a3") and "bestmove a2a3" in talk.lines[-1],
    )
    yield (
        "isready is answered while it searches",
        lambda: talk.send("go infinite") and talk.is_ready(),
    )
    yield (
        "an infinite search has not answered by itself",
        lambda: not any(line.startswith("bestmove") for line in talk.lines),
    )
    yield "stop ends it with a move", lambda: talk.send("stop") and talk.best_move()
    yield (
        "ponderhit ends pondering by the clock",
        lambda: talk.send("go ponder wtime 300 btime 300", "ponderhit") and talk.best_move(),
    )
    yield (
        "stop ends pondering",
        lambda: talk.send("go ponder wtime 9000 btime 9000", "stop") and talk.best_move(),
    )
    yield (
        "MultiPV shows as many lines",
        lambda: (
            talk.send("setoption name MultiPV value 3")
            and talk.go("nodes 100")
            and any(" multipv 3 " in line for line in talk.lines)
            and talk.send("setoption name MultiPV value 1")
        ),
    )
    yield (
        "an unknown option is named and nothing else happens",
        lambda: (
            talk.send("setoption name Nothing value 1")
            and talk.is_ready()
            and any(line.startswith("info string") for line in talk.lines)
        ),
    )
    yield (
        "options are declared with the types of the protocol",
        lambda: all(
            re.match(r"option name .+ type (check|spin|combo|button|string)", line)
            for line in talk.greeting
            if line.startswith("option ")
        ),
    )
    yield (
        "Chess960: castling is taken by the rook's square",
        lambda: (
            talk.send("setoption name UCI_Chess960 value true")
            and talk.position(CASTLING, "e1h1", chess960=True)
            and talk.go("nodes 20")
            and talk.send("setoption name UCI_Chess960 value false")
        ),
    )
    yield (
        "a position without moves is answered by (none)",
        lambda: (
            talk.send("position fen 7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "go nodes 5")
            and talk.client.until("bestmove", SECONDS)[1][-1].startswith("bestmove (none)")
        ),
    )
    yield "an unknown command does no harm", lambda: talk.send("hello world") and talk.is_ready()
    yield "quit ends it with 0", lambda: talk.send("quit") and talk.client.end_of_input()[1] == 0


def holds(check: Callable[[], bool]) -> bool:
    """Whatever else comes of a step is its failure."""
    try:
        return bool(check())
    except (EOFError, TimeoutError, ValueError, OSError) as error:
        print(f"  {error}", file=sys.stderr)
        return False


def by_fastchess(program: str, arguments: list[str]) -> dict[str, int]:
    """How many steps of its own it passes."""
    engine = str(Path(sys.executable).with_name("zermelo-uci"))
    words = [program, "--compliance", engine, " ".join(arguments)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=600)
    passed = len(re.findall(r"Passed", done.stdout))
    return {"steps": passed, "code": done.returncode}


def main() -> int:
    """Prints each step."""
    parser = argparse.ArgumentParser(description="Go through the UCI protocol step by step.")
    parser.add_argument("--weights")
    parser.add_argument("--fastchess", help="its program, to be run too")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    arguments = ["--weights", chosen.weights] if chosen.weights else []
    talk = Conversation(Client(arguments))
    results = {}
    for number, (name, check) in enumerate([*steps(talk), *more(talk)], start=1):
        results[f"{number}. {name}"] = holds(check)
        if not chosen.json:
            print("holds" if results[f"{number}. {name}"] else "FAILS", f"{number}. {name}")
    failed = [name for name, held in results.items() if not held]
    found: dict[str, Any] = {"tried": len(results), "failed": len(failed), "which": failed}
    if chosen.fastchess:
        found["fastchess"] = by_fastchess(chosen.fastchess, arguments)
        failed += ["fastchess"] if found["fastchess"]["code"] else []
    print(json.dumps(found))
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
