"""Shares out the games of a match to processes, or plays them here.

The processes know each other not at all: each has its own players, reads games from a pipe and
writes records to another. One that dies is replaced, and its game is played again.
"""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from zermelo.errors import UserError
from zermelo.games import game as find_game
from zermelo.games.protocol import Game
from zermelo.matches.adjudicate import AdjudicateOptions
from zermelo.matches.game_record import GameRecord, Timing
from zermelo.matches.hall import Hall, Played
from zermelo.matches.pairing import Task
from zermelo.matches.play_game import Contestants, Table
from zermelo.matches.worker import description

COMMAND = (sys.executable, "-m", "zermelo.matches.worker")
TRIES = 2  # of a game whose process died


@dataclass(frozen=True)
class Setup:
    """All that playing the games of a match needs."""

    game: str | Game
    contestants: Contestants
    adjudication: AdjudicateOptions
    concurrency: int = 1


def play_tasks(setup: Setup, tasks: Iterable[Task]) -> Generator[Played, None, None]:
    """Finished games, in the order in which they end. Closing the iterator ends the processes."""
    if setup.concurrency <= 1:
        yield from _play_here(setup, tasks)
        return
    for thing, what in ((setup.game, "game"), *((s, "player") for s in setup.contestants.specs)):
        if not isinstance(thing, str):
            raise UserError(f"a {what} that is an object cannot go to other processes: name it")
    with closing(_Pool(setup, list(tasks))) as pool:
        yield from pool.played()


def _play_here(setup: Setup, tasks: Iterable[Task]) -> Iterator[Played]:
    game, contestants = find_game(setup.game), setup.contestants
    if contestants.boards > 1:
        with closing(Hall(game, contestants, setup.adjudication)) as hall:
            yield from hall.play(tasks)
        return
    with closing(Table(game, contestants, setup.adjudication)) as table:
        for task in tasks:
            yield table.play(task)


class _Pool:
    """Processes, each with a thread here that hands it as many games at a time as it has boards."""

    def __init__(self, setup: Setup, tasks: list[Task]) -> None:
        assert isinstance(setup.game, str)
        self._first_line = description(setup.game, setup.contestants, setup.adjudication)
        count = min(setup.concurrency, len(tasks))
        self._boards = min(setup.contestants.boards, -(-len(tasks) // count))  # used in each
        self._tasks: queue.SimpleQueue[Task] = queue.SimpleQueue()
        for task in tasks:
            self._tasks.put(task)
        self._left = len(tasks)
        self._done: queue.SimpleQueue[Played | BaseException] = queue.SimpleQueue()
        self._closing = threading.Event()
        self._lock = threading.Lock()
        self._processes: set[subprocess.Popen[bytes]] = set()  # guarded by _lock
        self._threads = [threading.Thread(target=self._serve, daemon=True) for _ in range(count)]
        for thread in self._threads:
            thread.start()

    def played(self) -> Iterator[Played]:
        """Until all are; the first error of any process is raised."""
        while self._left:
            try:
                found = self._done.get(timeout=0.2)  # short, so that Ctrl-C is heard
            except queue.Empty:
                continue
            if isinstance(found, BaseException):
                raise found
            self._left -= 1
            yield found

    def close(self) -> None:
        """Ends the processes, also in the middle of a game."""
        self._closing.set()
        with self._lock:
            for process in self._processes:
                if process.stdin is not None:
                    _quietly(process.stdin.close)  # it ends itself and its engines
        for thread in self._threads:
            thread.join(timeout=10.0)
        with self._lock:
            for process in self._processes:
                process.kill()

    def _serve(self) -> None:
        process: subprocess.Popen[bytes] | None = None
        playing: dict[int, tuple[Task, int]] = {}  # by number: the game and which try it is
        try:
            while not self._closing.is_set():
                while len(playing) < self._boards and (task := self._next()):
                    playing[task.number] = task, 1
                    if process is not None:
                        _tell(process, task.to_dict())
                if not playing:
                    break
                if process is None and (process := self._start()) is not None:
                    for task, _ in playing.values():
                        _tell(process, task.to_dict())
                answer = None if process is None else _hear(process)
                if answer is not None:
                    record, timing = _played(answer)
                    del playing[record.number]
                    self._done.put((record, timing))
                elif process is not None and not self._closing.is_set():
                    code, process = self._end(process), None
                    playing = {n: (task, tries + 1) for n, (task, tries) in playing.items()}
                    if tired := [n for n, (_, tries) in playing.items() if tries > TRIES]:
                        raise RuntimeError(f"game {tired[0]}: its process died twice ({code})")
        except BaseException as error:
            self._done.put(error)
        finally:
            if process is not None:
                self._end(process)

    def _next(self) -> Task | None:
        try:
            return self._tasks.get_nowait()
        except queue.Empty:
            return None

    def _start(self) -> subprocess.Popen[bytes] | None:
        """A process that has read what the match is; None when we are closing."""
        with self._lock:
            if self._closing.is_set():
                return None
            # A group of its own: Ctrl-C is for us, and we end it.
            process = subprocess.Popen(
                COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, process_group=0
            )
            self._processes.add(process)
        _tell(process, self._first_line)
        answer = _hear(process)
        if answer is None and not self._closing.is_set():
            raise RuntimeError("a process that should play games cannot be started")
        if answer is not None and "ready" not in answer:
            self._end(process)
            _played(answer)
        return process

    def _end(self, process: subprocess.Popen[bytes]) -> int:
        with self._lock:
            self._processes.discard(process)
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                _quietly(pipe.close)
        try:
            return process.wait(timeout=5.0)
        except subprocess.TimeoutExpired:
            process.kill()
            return process.wait()


def _tell(process: subprocess.Popen[bytes], message: dict[str, Any]) -> None:
    """One line to it; that it is gone shows when it is heard."""
    assert process.stdin is not None
    stdin, line = process.stdin, json.dumps(message).encode() + b"\n"
    _quietly(lambda: (stdin.write(line), stdin.flush()))


def _hear(process: subprocess.Popen[bytes]) -> dict[str, Any] | None:
    """One line from it; None if it is gone."""
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
    except (OSError, ValueError):
        return None
    if not line.endswith(b"\n"):
        return None
    answer: dict[str, Any] = json.loads(line)
    return answer


def _played(answer: dict[str, Any]) -> Played:
    if "refused" in answer:
        raise UserError(answer["refused"])
    if "broken" in answer:
        raise RuntimeError(answer["broken"])
    return GameRecord.from_json(answer["record"]), Timing.from_json(answer["timing"])


def _quietly(action: Callable[[], object]) -> None:
    """A pipe to a process that is gone may object to being used or closed."""
    try:
        action()
    except (OSError, ValueError):
        return
