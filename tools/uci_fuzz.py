"""Throws damaged commands at the engine: it must live, answer, and play legal moves only.

Usage: python tools/uci_fuzz.py [--lines 10000] [--seed 0] [--weights FILE] [--json]

The lines are mutated commands, random bytes, lines of a megabyte, huge numbers, searches begun
during searches. After every hundred lines `isready` must be answered within a second; every search
must have been answered by one legal `bestmove`; the end of the input must end the process within a
second. The exit code is 1 if anything of that failed.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from typing import Any

from uci_client import Client

import zermelo
from zermelo.errors import UserError
from zermelo.uci.options import Settings, all_rows
from zermelo.uci.protocol import Position, parse_go, parse_position, parse_setoption

READY_SECONDS = 1.0
LAST_SECONDS = 10.0  # for an answer that is still owed at the end
EVERY = 100
NUMBERS = ["0", "1", "-1", "10", "37", "500", "2147483648", "9" * 25, "-" + "9" * 25, "1e9", "0x10"]
NUMBERS += ["3.5", "nan", "", "+7", "١٢"]
FENS = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9",
    "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1",  # stalemate
    "R5k1/5ppp/8/8/8/8/8/6K1 b - - 0 1",  # checkmate
    "8/8/4k3/8/8/4K3/8/8 w - - 0 1",  # nobody can win
    "8/8/8/8/8/8/8/8 w - - 0 1",
    "kk6/8/8/8/8/8/8/KK6 w - - 0 1",
]
MOVES = ["e2e4", "e7e5", "g1f3", "b8c6", "f1b5", "a7a6", "e1g1", "e1h1", "e7e8q", "0000", "a1a1"]
WORDS = ["wtime", "btime", "winc", "binc", "movestogo", "depth", "nodes", "mate", "movetime"]
WORDS += ["searchmoves", "ponder", "infinite", "moves", "fen", "startpos", "name", "value", "perft"]
PLAIN = [
    "uci",
    "isready",
    "ucinewgame",
    "stop",
    "ponderhit",
    "debug on",
    "debug off",
    "d",
    "register",
]
STRINGS = {"WeightsFile", "SyzygyPath", "BookFile"}


class Fuzz:
    """Makes lines, and knows what a correct engine does with them."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.settings = Settings.defaults()
        self.position = Position()
        self.searches: list[Position] = []  # one for each `bestmove` that is owed
        self.ready = 0  # `readyok` that are owed

    def line(self) -> bytes:
        """The next line to send."""
        kind = self.random.random()
        if kind < 0.06:
            line = self.random.randbytes(self.random.randrange(200)).replace(b"\n", b"\0")
        elif kind < 0.0605:
            line = self.random.choice([b"x", b"go ", b"position startpos moves e2e4 "]) * (1 << 18)
            line = line[: 1 << 20]
        else:
            line = self._command().encode("utf-8", "surrogatepass")
            if self.random.random() < 0.1:
                line = self._damaged(line)
        line = line.replace(b"\n", b" ")
        text = line.decode("utf-8", "replace")
        if text.split()[:1] == ["quit"]:
            return b"stop"
        self.follow(text)
        return line

    def follow(self, line: str) -> None:
        """Keeps account of what the engine should know and owe after a line."""
        words = line.split()
        try:
            match words[:1]:
                case ["setoption"]:
                    self.settings = self.settings.with_value(*parse_setoption(line))
                case ["position"]:
                    self.position = parse_position(words[1:], self.settings["UCI_Chess960"])
                case ["go"] if parse_go(words[1:])[0].perft is None:
                    self.searches.append(self.position)
                case ["isready"]:
                    self.ready += 1
        except UserError:
            pass

    def _command(self) -> str:
        pick = self.random.random()
        if pick < 0.3:
            words = ["go", *self._limits()]
        elif pick < 0.55:
            words = ["position", *self._position()]
        elif pick < 0.75:
            words = ["setoption", "name", *self._option()]
        else:
            words = self.random.choice(PLAIN).split()
        while self.random.random() < 0.15:
            self._mutate(words)
        return " ".join(words)

    def _limits(self) -> list[str]:
        words = []
        for _ in range(self.random.randrange(4)):
            word = self.random.choice(WORDS[:12])
            words.append(word)
            if word == "searchmoves":
                words += self.random.choices(MOVES, k=self.random.randrange(4))
            elif word not in ("ponder", "infinite"):
                words.append(self.random.choice(NUMBERS))
        return words

    def _position(self) -> list[str]:
        words = ["startpos"]
        if self.random.random() < 0.6:
            words = ["fen", *self.random.choice(FENS).split()]
        if self.random.random() < 0.5:
            words += ["moves", *self._moves()]
        return words

    def _moves(self) -> list[str]:
        """Legal ones from the usual start, or any."""
        if self.random.random() < 0.5:
            return self.random.choices(MOVES, k=self.random.randrange(8))
        game: Any = zermelo.game("chess")
        state, moves = game.initial(), []
        for _ in range(self.random.randrange(60)):
            if game.outcome(state) is not None:
                break
            action = self.random.choice(game.legal_actions(state))
            moves.append(game.action_text(state, action))
            state = game.play(state, action)
        return moves

    def _option(self) -> list[str]:
        row = self.random.choice(all_rows())
        if row.name in STRINGS:
            value = self.random.choice(["", "<empty>", "/nowhere/x.pb.gz", "/etc", "a b c"])
        else:
            value = self.random.choice([*NUMBERS, *row.choices, "true", "false", "yes"])
        # Hundreds of threads make every answer of a small machine slow.
        if row.name == "Threads":
            value = self.random.choice(["0", "1", "2", "3", "-4", "many"])
        return [row.name, "value", value]

    def _mutate(self, words: list[str]) -> None:
        at = self.random.randrange(len(words) + 1)
        match self.random.randrange(4):
            case 0:
                words.insert(at, self.random.choice([*WORDS, *NUMBERS, *MOVES]))
            case 1 if words:
                words.pop(at % len(words))
            case 2 if words:
                words.insert(at, words[at % len(words)])
            case _:
                self.random.shuffle(words)

    def _damaged(self, line: bytes) -> bytes:
        data = bytearray(line)
        for _ in range(self.random.randrange(1, 5)):
            data.insert(self.random.randrange(len(data) + 1), self.random.randrange(256))
        return bytes(data)


def is_legal(position: Position, move: str) -> bool:
    """Whether the engine's move can be played; (none) where there is none."""
    import chess

    game: Any = zermelo.game(f"chess?chess960={'on' if position.chess960 else 'off'}")
    fen = game.position_text(game.parse_position(position.text))
    board = chess.Board(fen, chess960=position.chess960)
    if not any(board.legal_moves):
        return move == "(none)"
    return move in {board.uci(legal) for legal in board.legal_moves}


def fuzz(lines: int, seed: int, arguments: list[str]) -> dict[str, object]:
    """Sends the lines; what came of it."""
    client, maker = Client(arguments), Fuzz(seed)
    spoken: list[str] = []
    slowest = 0.0
    for number in range(1, lines + 1):
        client.send(maker.line())
        if number % EVERY == 0 or number == lines:
            maker.ready += 1
            asked = client.send("isready")
            while maker.ready:
                came, heard = client.until("readyok", 30)
                spoken += heard
                maker.ready -= 1
            slowest = max(slowest, came - asked)
    asked = client.send("stop")
    while sum(line.startswith("bestmove") for line in spoken) < len(maker.searches):
        try:
            spoken += client.until("bestmove", LAST_SECONDS)[1]
        except (TimeoutError, EOFError):
            break
    last = time.perf_counter() - asked
    seconds, code, heard = client.end_of_input()
    spoken += heard
    moves = [line.split()[1] for line in spoken if line.startswith("bestmove")]
    pairs = list(zip(maker.searches, moves, strict=False))
    illegal = [f"{move} in {p.text[:200]}" for p, move in pairs if not is_legal(p, move)]
    return {
        "tried": lines,
        "seed": seed,
        "searches": len(maker.searches),
        "bestmoves": len(moves),
        "illegal": illegal,
        "error_lines": sum(line.startswith("info string error") for line in spoken),
        "slowest_ready_ms": round(slowest * 1000, 1),
        "last_answer_ms": round(last * 1000, 1),
        "end_of_input_ms": round(seconds * 1000, 1),
        "exit_code": code,
        "ok": len(moves) == len(maker.searches)
        and not illegal
        and slowest <= READY_SECONDS
        and seconds <= 1.0
        and code == 0,
    }


def main() -> int:
    """Prints what came of it."""
    parser = argparse.ArgumentParser(description="Throw damaged commands at the UCI engine.")
    parser.add_argument("--lines", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--weights")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    arguments = ["--weights", chosen.weights] if chosen.weights else []
    found = fuzz(chosen.lines, chosen.seed, arguments)
    if chosen.json:
        print(json.dumps(found))
    else:
        for name, value in found.items():
            print(f"{name:<20} {value}")
    return 0 if found["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
