"""Shares out the games of a match to processes, or plays them here.

The processes know each other not at all: each has its own players, hears of games and answers with
records. One that dies is replaced, and its games are played again.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field

from zermelo.errors import UserError
from zermelo.games import game as find_game
from zermelo.games.protocol import Game
from zermelo.matches.adjudicate import AdjudicateOptions
from zermelo.matches.game_record import GameRecord, Timing
from zermelo.matches.hall import Hall, Played
from zermelo.matches.pairing import Task
from zermelo.matches.play_game import Contestants, Table
from zermelo.matches.worker import description
from zermelo.processes.child import Child, hearing, module_command
from zermelo.processes.serve import error_of

COMMAND = module_command("zermelo.matches.worker")
TRIES = 2  # of a game whose process died
END_SECONDS = 10.0  # for a process to end, with its engines


# Takes a setup and games; gives them finished, in any order. Closing it ends what plays.
PlayTasks = Callable[["Setup", list[Task]], Generator[Played, None, None]]


@dataclass(frozen=True)
class Setup:
    """All that playing the games of a match needs."""

    game: str | Game
    contestants: Contestants
    adjudication: AdjudicateOptions
    concurrency: int = 1
    elsewhere: PlayTasks | None = None  # plays the games on other machines


def play_tasks(setup: Setup, tasks: Iterable[Task]) -> Generator[Played, None, None]:
    """Finished games, in the order in which they end. Closing the iterator ends the processes."""
    if setup.concurrency <= 1 and setup.elsewhere is None:
        yield from _play_here(setup, tasks)
        return
    for thing, what in ((setup.game, "game"), *((s, "player") for s in setup.contestants.specs)):
        if not isinstance(thing, str):
            raise UserError(f"a {what} that is an object cannot go to other processes: name it")
    if setup.elsewhere is not None:
        yield from setup.elsewhere(setup, list(tasks))
        return
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


@dataclass(eq=False)
class _Worker:
    """One process as we see it."""

    child: Child
    ready: bool = False  # it has read what the match is
    playing: dict[int, Task] = field(default_factory=dict)  # by number


class _Pool:
    """Processes, each with as many games at a time as it has boards. Used by one thread."""

    def __init__(self, setup: Setup, tasks: list[Task]) -> None:
        assert isinstance(setup.game, str)
        self._first = description(setup.game, setup.contestants, setup.adjudication)
        count = max(1, min(setup.concurrency, len(tasks)))
        self._boards = min(setup.contestants.boards, -(-len(tasks) // count))  # used in each
        self._left = len(tasks)
        self._tasks = deque(tasks)
        self._tries: Counter[int] = Counter()  # by number of the game: processes that died with it
        self._found: list[Played] = []
        self._workers: list[_Worker] = []
        for _ in range(min(count, len(tasks))):
            self._workers.append(_Worker(self._start()))

    def played(self) -> Iterator[Played]:
        """Until all are; the first error of any process is raised."""
        while self._left:
            error = self._listen(0.2)
            # All processes have new games by now: what is done with the found ones holds nobody up.
            found, self._found = self._found, []
            self._left -= len(found)
            yield from found
            if error is not None:
                raise error

    def close(self) -> None:
        """Ends the processes, also in the middle of a game."""
        for worker in self._workers:
            worker.child.channel.hang_up()  # it ends itself and its engines
        until = time.monotonic() + END_SECONDS
        for worker in self._workers:
            worker.child.bury(max(0.0, until - time.monotonic()))
        self._workers = []

    def _listen(self, seconds: float) -> Exception | None:
        """Hears all that speak; the first thing that is wrong."""
        team = {worker.child: worker for worker in self._workers}
        first: Exception | None = None
        for child in hearing(team, seconds):
            try:
                self._hear(team[child])
            except Exception as error:
                first = first or error
        return first

    def _hear(self, worker: _Worker) -> None:
        channel = worker.child.channel
        while (message := channel.receive()) is not None:
            if (error := error_of(message)) is not None:
                raise error
            if "ready" in message:
                worker.ready = True
                _tell(worker.child, worker.playing.values())
            else:
                record = GameRecord.from_json(message["record"])
                del worker.playing[record.number]
                self._found.append((record, Timing.from_json(message["timing"])))
        if channel.closed:
            self._replace(worker)
        elif worker.ready:
            self._hand_out(worker)

    def _hand_out(self, worker: _Worker) -> None:
        """As many games as it has boards; without any it ends."""
        while len(worker.playing) < self._boards and self._tasks:
            task = self._tasks.popleft()
            worker.playing[task.number] = task
            _tell(worker.child, [task])
        if not worker.playing:
            worker.child.channel.hang_up()

    def _replace(self, worker: _Worker) -> None:
        """It has gone: another process plays its games, if it had any."""
        code = worker.child.bury(END_SECONDS)
        if not worker.ready:
            self._workers.remove(worker)
            raise RuntimeError("a process that should play games cannot be started")
        self._tries.update(list(worker.playing))
        if tired := [number for number in worker.playing if self._tries[number] >= TRIES]:
            self._workers.remove(worker)
            raise RuntimeError(f"game {tired[0]}: its process died twice ({code})")
        if worker.playing:
            worker.child, worker.ready = self._start(), False
        else:
            self._workers.remove(worker)

    def _start(self) -> Child:
        return Child(COMMAND, self._first)


def _tell(child: Child, tasks: Iterable[Task]) -> None:
    for task in tasks:
        child.channel.send(task.to_dict())
