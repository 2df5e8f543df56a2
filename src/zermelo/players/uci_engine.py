"""One external UCI engine as a process: started, asked, watched, ended. Knows chess boards only.

Each way in which an engine can fail is a PlayerError of its own kind. The conversation itself is
python-chess's.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import subprocess
import threading
import time
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import chess
import chess.engine

from zermelo.errors import UserError, nearest
from zermelo.players.protocol import FailureKind, PlayerError
from zermelo.processes.guardian import guard, release

MAX_OUTPUT = 2 << 20  # bytes between a question and its answer; a chatty engine writes 5 % of it
T = TypeVar("T")
_live: set[int] = set()  # process groups of engines


@dataclass(frozen=True)
class Patience:
    """Seconds that an engine is waited for."""

    start: float = 10.0  # until `uciok`
    grace: float = 2.0  # beyond its time for a move, after which it loses on time
    stall: float = 20.0  # beyond that, or if it has no time limit altogether


class _Guarded(chess.engine.UciProtocol):
    """Counts what the engine writes and ends one that floods us."""

    def __init__(self) -> None:
        super().__init__()
        self.unanswered = 0  # bytes since the last line that we sent
        self.drowned = False  # it wrote more than anybody can read
        self.asked = self.heard = 0.0  # when the last `go` was sent, and when it last wrote

    @property
    def flooded(self) -> bool:
        """Also if it wrote much and our patience ended first."""
        return self.drowned or self.unanswered > MAX_OUTPUT // 8

    def send_line(self, line: str) -> None:
        if line != "stop":
            self.unanswered = 0
        if line.startswith("go"):
            self.asked = time.perf_counter()
        if self.transport is not None and not self.transport.is_closing():
            super().send_line(line)

    def pipe_data_received(self, fd: int, data: bytes | str) -> None:
        self.unanswered += len(data)
        self.heard = time.perf_counter()
        if self.unanswered > MAX_OUTPUT and not self.drowned and self.transport is not None:
            self.drowned = True
            _kill_group(self.transport.get_pid())
        if not self.drowned:
            super().pipe_data_received(fd, data)


class UciEngine:
    """A running engine. One thread at a time may ask.

    The conversation is held by an event loop in a daemon thread, which never keeps a program from
    ending.
    """

    def __init__(self, command: list[str], options: Mapping[str, str], patience: Patience) -> None:
        """Starts it; UserError for an option that it does not have."""
        logging.getLogger("chess.engine").setLevel(logging.CRITICAL)  # chatter, bad ponder moves
        self._patience = patience
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._transport: asyncio.SubprocessTransport | None = None
        try:
            self._protocol = self._start(command)
            self._configure(options)
        except BaseException:
            self.close()
            raise

    @property
    def title(self) -> str:
        """As the engine calls itself."""
        return str(self._protocol.id.get("name", "unnamed engine"))

    @property
    def config(self) -> Mapping[str, Any]:
        """Its options as they are set."""
        return self._protocol.config

    def play(
        self,
        board: chess.Board,
        limit: chess.engine.Limit,
        game: object,
        seconds: float | None = None,
    ) -> chess.engine.PlayResult:
        """Its move; later than `seconds` after `go` is a loss. After a PlayerError it is gone."""
        patience = self._patience.stall + (seconds or 0.0) + self._patience.grace
        info = chess.engine.INFO_BASIC | chess.engine.INFO_SCORE
        try:
            question = self._protocol.play(board, limit, game=game, info=info)
            result = self._wait(question, patience)
        except BaseException as error:
            failure = _failure(error, self._protocol, board)
            self.close()
            raise failure from error
        late = self.seconds - (seconds or 0.0)
        if seconds is not None and late > self._patience.grace:
            self.close()
            raise PlayerError("time loss", f"{late:.3f} s too late")
        if not result.move:  # none, or 0000
            self.close()
            raise PlayerError("illegal move", "no move in a position that has some")
        return result

    @property
    def seconds(self) -> float:
        """From the last `go` to its answer, as the pipe saw them: new games are not counted."""
        return self._protocol.heard - self._protocol.asked

    def close(self) -> None:
        """Ends the process and whatever it started."""
        if self._loop.is_closed():
            return
        if self._transport is not None:
            pid = self._transport.get_pid()
            if self._transport.get_returncode() is None:
                _kill_group(pid)
            _live.discard(pid)
            release(pid)
            with contextlib.suppress(TimeoutError):
                self._wait(asyncio.shield(self._returncode), 5.0)
            self._loop.call_soon_threadsafe(self._transport.close)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _wait(self, question: Awaitable[T], seconds: float) -> T:
        """Until it is answered; TimeoutError after so many seconds."""

        async def answer() -> T:
            return await asyncio.wait_for(question, seconds)

        return asyncio.run_coroutine_threadsafe(answer(), self._loop).result()

    def _start(self, command: list[str]) -> _Guarded:
        async def start() -> tuple[asyncio.SubprocessTransport, _Guarded]:
            return await _Guarded.popen(command, setpgrp=True, stderr=subprocess.DEVNULL)

        try:
            self._transport, protocol = self._wait(start(), self._patience.start)
        except OSError as error:
            raise UserError(f"the engine '{command[0]}' cannot be run: {error.strerror}") from None
        self._returncode = protocol.returncode
        _live.add(self._transport.get_pid())
        guard(self._transport.get_pid())
        try:
            self._wait(protocol.initialize(), self._patience.start)
        except (chess.engine.EngineError, OSError) as error:
            kind: FailureKind = "flood" if protocol.flooded else "no start"
            detail = "no answer to uci" if isinstance(error, TimeoutError) else str(error)
            raise PlayerError(kind, detail) from error
        return protocol

    def _configure(self, options: Mapping[str, str]) -> None:
        known = self._protocol.options
        chosen: dict[str, Any] = {}
        for given, text in options.items():
            name = given if given in known else given.replace("_", " ")
            if name not in known:
                raise UserError(f"{self.title} has no option '{given}'; {nearest(given, known)}")
            option = known[name]
            if option.is_managed():
                raise UserError(f"the option {name} is set by the match itself")
            value: Any = text
            if option.type == "check":
                if text.lower() not in ("true", "false", "on", "off"):
                    raise UserError(f"{self.title}: {name} must be on or off, not '{text}'")
                value = text.lower() in ("true", "on")
            try:
                chosen[option.name] = option.parse(value)
            except (chess.engine.EngineError, ValueError) as error:
                raise UserError(f"{self.title}: {error}") from None
        if "UCI_Elo" in chosen and "UCI_LimitStrength" in known:
            chosen.setdefault("UCI_LimitStrength", True)
        try:
            self._wait(self._protocol.configure(chosen), self._patience.start)
        except (chess.engine.EngineError, OSError) as error:
            raise PlayerError("no start", str(error)) from error


def end_all_engines() -> None:
    """Ends every engine of this process at once; for a process that is about to end itself."""
    for pid in list(_live):
        _kill_group(pid)


def _failure(error: BaseException, protocol: _Guarded, board: chess.Board) -> BaseException:
    """What became of a question, by what it raised."""
    failed = isinstance(error, TimeoutError | chess.engine.EngineTerminatedError)
    if failed and protocol.flooded:
        return PlayerError("flood", "far too much output for one move")
    if isinstance(error, chess.engine.EngineTerminatedError | OSError) and not isinstance(
        error, TimeoutError
    ):
        return PlayerError("crash", str(error))
    if isinstance(error, TimeoutError):
        return PlayerError("stall", "no answer")
    if isinstance(error, chess.engine.EngineError):
        return PlayerError("illegal move", f"{error}; {board.fen()}")
    return error


def _kill_group(pid: int | None) -> None:
    """The engine's whole process group, which `setpgrp` gave it."""
    if pid is None:
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(pid, signal.SIGKILL)
        else:
            os.kill(pid, signal.SIGTERM)
