"""Where the games of a match are played in one process: one after another, or many side by side.

Side by side each game has a thread and a table of its own. The searches release the interpreter and
share the network's batches, which is why it is done; a player with a clock is never put there.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable, Iterator

from zermelo.errors import REFUSALS, UserError, place_in_game_file
from zermelo.games.protocol import Game
from zermelo.matches.adjudicate import AdjudicateOptions
from zermelo.matches.game_record import GameRecord, Timing
from zermelo.matches.pairing import Task
from zermelo.matches.play_game import ClosedError, Contestants, Table

Played = tuple[GameRecord, Timing]
Finished = Played | Exception


class Hall:
    """So many boards; games are put in and come out as they end."""

    def __init__(
        self, game: Game, contestants: Contestants, adjudication: AdjudicateOptions
    ) -> None:
        self._tasks: queue.SimpleQueue[Task | None] = queue.SimpleQueue()
        self._finished: queue.SimpleQueue[Finished] = queue.SimpleQueue()
        self._closing = threading.Event()
        tables = [
            Table(game, contestants, adjudication, self._closing) for _ in range(contestants.boards)
        ]
        self._threads = [
            threading.Thread(target=self._serve, args=(table,), daemon=True) for table in tables
        ]
        for thread in self._threads:
            thread.start()

    def put(self, task: Task) -> None:
        """A game that is to be played."""
        self._tasks.put(task)

    def take(self, seconds: float | None = None) -> Finished:
        """The next game that ends, or the error that ended it; queue.Empty if none does in time."""
        return self._finished.get(timeout=seconds)

    def play(self, tasks: Iterable[Task]) -> Iterator[Played]:
        """All of them, in the order in which they end."""
        left = 0
        for task in tasks:
            self.put(task)
            left += 1
        while left:
            try:
                found = self.take(0.2)  # short, so that Ctrl-C is heard
            except queue.Empty:
                continue
            if isinstance(found, Exception):
                raise found
            left -= 1
            yield found

    def close(self) -> None:
        """Games under way end at their next move, without a result."""
        self._closing.set()
        for _ in self._threads:
            self._tasks.put(None)
        for thread in self._threads:
            thread.join(timeout=10.0)

    def _serve(self, table: Table) -> None:
        try:
            while not self._closing.is_set() and (task := self._tasks.get()) is not None:
                try:
                    self._finished.put(table.play(task))
                except ClosedError:
                    return
                except REFUSALS as error:
                    self._finished.put(error)
                except Exception as error:
                    what = f"game {task.number}: {type(error).__name__}: {error}"
                    place = place_in_game_file(error)
                    fault = UserError(f"{place}: {what}") if place else RuntimeError(what)
                    self._finished.put(fault.with_traceback(error.__traceback__))
        finally:
            table.close()
