"""The reading side of the engine: one command a line, answered or handed to the searching thread.

Knows the protocol's words and keeps position and options; never waits for a search.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from typing import BinaryIO

from zermelo import __version__
from zermelo.errors import UserError
from zermelo.uci import networks
from zermelo.uci.bench import NODES
from zermelo.uci.engine import Engine
from zermelo.uci.options import Settings, all_rows
from zermelo.uci.protocol import (
    Go,
    Position,
    parse_go,
    parse_position,
    parse_setoption,
    printable,
    read_number,
)
from zermelo.uci.workshop import Load
from zermelo.uci.writer import Writer

LONGEST_LINE = 4 << 20  # bytes; the longest game needs 40,000
LAST_ANSWER_SECONDS = 0.5  # given to a search when the input ends


class Session:
    """One program's talk with the engine."""

    def __init__(
        self,
        writer: Writer,
        settings: Settings | None = None,
        load: Load = networks.load,
        own: str = "",
    ) -> None:
        """See `Workshop`."""
        self.settings = settings or Settings.defaults()
        self.position = Position(chess960=self.settings["UCI_Chess960"])
        self._writer = writer
        self._loads_early = bool(self.settings["WeightsFile"] or own)
        self._engine = Engine(writer, load, own)
        self._commands: dict[str, Callable[[str, list[str]], None]] = {
            "uci": self._uci,
            "isready": self._isready,
            "setoption": self._setoption,
            "ucinewgame": self._ucinewgame,
            "position": self._position,
            "go": self._go,
            "stop": lambda _line, _words: self._engine.stop(),
            "ponderhit": lambda _line, _words: self._engine.ponderhit(),
            "debug": self._debug,
            "register": lambda _line, _words: None,
            "d": self._show,
            "bench": self._bench,
        }

    def handle(self, line: str) -> bool:
        """Does what a line says; False when it says `quit`."""
        words = line.split()
        if not words:
            return True
        name = words[0]
        if name == "quit":
            return False
        command = self._commands.get(name)
        try:
            if command is None:
                raise UserError(f"unknown command '{name}'")
            command(line, words[1:])
        except Exception as error:
            self._error(str(error))
        return True

    def close(self) -> bool:
        """Stops; the last `bestmove` is still printed. Whether everything has ended."""
        return self._engine.close(LAST_ANSWER_SECONDS)

    def _error(self, text: str) -> None:
        self._writer.say(f"info string error {printable(text)}")

    def _uci(self, _line: str, _words: list[str]) -> None:
        lines = [f"id name Zermelo {__version__}", "id author the authors of Zermelo"]
        lines += [row.line() for row in all_rows()]
        self._writer.say_all([*lines, "uciok"])
        if self._loads_early:  # the network is loaded meanwhile
            self._engine.prepare(self.settings)

    def _isready(self, _line: str, _words: list[str]) -> None:
        def ready() -> None:
            self._writer.say("readyok")

        if self._engine.searching:
            ready()
        else:
            self._engine.prepare(self.settings, ready)

    def _setoption(self, line: str, _words: list[str]) -> None:
        name, value = parse_setoption(line)
        self.settings = self.settings.with_value(name, value)

    def _ucinewgame(self, _line: str, _words: list[str]) -> None:
        self._engine.new_game(self.settings)

    def _position(self, _line: str, words: list[str]) -> None:
        self.position = parse_position(words, self.settings["UCI_Chess960"])

    def _go(self, _line: str, words: list[str]) -> None:
        go, problems = parse_go(words)
        if problems:
            self._error("; ".join(problems))
        self._engine.go(go, self.position, self.settings)

    def _bench(self, _line: str, words: list[str]) -> None:
        nodes = read_number(words[0]) if words else NODES
        if nodes is None or nodes < 1:
            raise UserError(f"bench takes a number of nodes, not '{words[0]}'")
        self._engine.go(Go(nodes=nodes, bench=True), self.position, self.settings)

    def _debug(self, _line: str, words: list[str]) -> None:
        self._engine.debug = words[:1] == ["on"]

    def _show(self, _line: str, _words: list[str]) -> None:
        self._writer.say(f"info string position {self.position.text}")


def serve(settings: Settings | None = None) -> int:
    """Speaks UCI on standard input and output until `quit` or the end of the input."""
    output = Writer(sys.stdout.buffer)
    session = Session(output, settings, own=networks.own_network())
    try:
        # A reader of our own: a library that forks closes sys.stdin in its child, and would wait
        # for ever for a lock that this thread holds while it reads.
        for line in read_lines(open(0, "rb", closefd=False)):  # noqa: SIM115
            if not session.handle(line) or output.closed:
                break
    except KeyboardInterrupt:
        pass
    session.close()
    # A runtime may still be compiling, a thread searching: nothing of theirs is worth waiting for.
    sys.stderr.flush()
    os._exit(0)


def read_lines(stream: BinaryIO) -> Iterator[str]:
    """Lines of text, whatever bytes come; what is too long for a line is cut off."""
    while data := stream.readline(LONGEST_LINE):
        line = data.decode("utf-8", "replace")
        while not data.endswith(b"\n") and len(data) == LONGEST_LINE:
            data = stream.readline(LONGEST_LINE)
        yield line
