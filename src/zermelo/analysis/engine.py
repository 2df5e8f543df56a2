"""The analysis engine: takes requests at any time, searches many positions together, and answers
each as it is done.

Positions that ask for the same number of simulations share the batches of one `Search.run_many`;
what needs a tree of its own (restricted actions, reports, the tree itself) is searched alone, by a
`LiveSearch`. Knows nothing of files, terminals or pipes. All values are for the player to move.
"""

from __future__ import annotations

import threading
import time
import traceback
from bisect import insort
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import TracebackType
from typing import Any

from zermelo import __version__
from zermelo.analysis.alone import search_alone
from zermelo.analysis.answer import NOTHING, Listener, Task, ending, figures, game_key, head
from zermelo.analysis.request import (
    Analyse,
    Command,
    Id,
    RequestError,
    read_line,
    read_request,
)
from zermelo.evaluator import ChecksGames, Evaluator
from zermelo.games.protocol import Game
from zermelo.search import LiveSearch, Search, SearchOptions

BOARDS = 16  # positions searched together; more fill no batch better, but answer later
MAX_CHUNK_SIMULATIONS = 4_000_000  # of all boards of a chunk: bounds its memory
GATHER = 0.005  # seconds that a first request waits for company


class _Searcher:
    """A thread's searches, and what it is searching."""

    def __init__(self) -> None:
        # Guarded by the engine's lock.
        self.searches: dict[tuple[Any, ...], Search] = {}  # by game
        self.chunk: list[Task] = []
        self.search: Search | LiveSearch | None = None  # the one that runs, if any does


class AnalysisEngine:
    """`submit` requests from any thread; `answers` yields until `finish` and all is answered.

    A request that is submitted with a listener has its answers told to that alone. It is called by
    a thread that holds the engine's lock: it must be quick, and may submit, but not wait.

    >>> from zermelo.games import game
    >>> from zermelo.search import UniformEvaluator
    >>> with AnalysisEngine(game("tictactoe"), UniformEvaluator(), simulations=100) as engine:
    ...     engine.submit({"id": "a", "position": "XX./OO./..."})
    ...     engine.finish()
    ...     [(answer["id"], answer["best"], answer["mate"]) for answer in engine.answers()]
    [('a', 'c3', 1)]
    """

    def __init__(
        self,
        game: Game,
        evaluator: Evaluator,
        options: SearchOptions | None = None,
        *,
        simulations: int = 800,
        threads: int = 1,
        boards: int = BOARDS,
    ) -> None:
        """`game` and `simulations` are those of requests that name none.

        `threads` search up to `boards` positions each.
        """
        self.game = game
        self.simulations = simulations
        self.boards = boards
        self.threads = threads
        self._evaluator = evaluator
        self._options = (options or SearchOptions()).replace(threads=1)
        # Everything below is guarded by this.
        # Taken by itself, not as the condition, whose __enter__ and __exit__ are Python functions:
        # a Ctrl-C within them would leave it locked for ever.
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        self._waiting: list[Task] = []  # by place
        self._answers: deque[dict[str, Any]] = deque()
        self._open = 0  # tasks without their last answer
        self._taken = 0  # tasks ever accepted
        self._finished = False  # no more requests
        self._stopping = False
        self._idle = 0  # threads that wait
        self._caches: dict[tuple[Any, ...], Any] = {}  # by game, shared by all threads
        self._boards: dict[tuple[Any, ...], LiveSearch] = {}  # by game: trees that are kept
        self._searchers = [_Searcher() for _ in range(threads)]
        self._threads = [
            threading.Thread(target=self._work, args=(searcher,), daemon=True)
            for searcher in self._searchers
        ]
        for thread in self._threads:
            thread.start()

    # Requests.

    def submit(
        self, request: Mapping[str, Any] | str | bytes, listener: Listener | None = None
    ) -> None:
        """Takes an object or a line of JSON; what is wrong with it becomes an answer."""
        try:
            if isinstance(request, str | bytes):
                request = read_line(request)
            read = read_request(request, self.game, self.simulations)
            if isinstance(read, Command):
                self._obey(read, listener)
            else:
                self.add(read, listener)
        except RequestError as error:
            self.reject(str(error), error.field, error.ident, listener)

    def add(self, request: Analyse, listener: Listener | None = None) -> None:
        """Takes a request that is already checked; its positions stay together in the queue."""
        if isinstance(self._evaluator, ChecksGames) and request.game is not self.game:
            try:
                self._evaluator.check_fits(request.game)
            except ValueError as error:
                raise RequestError(f"game: {error}", "game", request.id) from None
        ended = [ending(request.game, state) for _, state in request.turns]
        now = time.monotonic()
        with self._lock:
            if self._finished:
                raise RuntimeError("the engine takes no more requests")
            for (turn, state), end in zip(request.turns, ended, strict=True):
                self._taken += 1
                self._open += 1
                task = Task(request, turn, state, self._taken, now, listener)
                if end is not None:
                    self._close(task, end)
                else:
                    insort(self._waiting, task, key=lambda t: t.place)
            self._changed.notify_all()

    def reject(
        self,
        sentence: str,
        field: str | None = None,
        ident: Id | None = None,
        listener: Listener | None = None,
    ) -> None:
        """Answers a request that was none."""
        answer: dict[str, Any] = {"id": ident, "error": sentence}
        if field is not None:
            answer["field"] = field
        self._tell(listener, answer)

    def finish(self) -> None:
        """No more requests will come: `answers` ends when all are answered."""
        with self._lock:
            self._finished = True
            self._changed.notify_all()

    def stop(self) -> None:
        """Ends all searches soon: those that run answer with what they have, others without."""
        with self._lock:
            self._finished = self._stopping = True
            self._terminate(lambda _: True)
            self._changed.notify_all()

    # Answers.

    def answers(self) -> Iterator[dict[str, Any]]:
        """Every answer that has no listener, in the order in which they are ready."""
        while True:
            with self._lock:
                while not self._answers:
                    if self._finished and self._open == 0:
                        return
                    self._changed.wait()
                answer = self._answers.popleft()
            yield answer

    @property
    def pending(self) -> int:
        """Positions that have no last answer yet."""
        with self._lock:
            return self._open

    @property
    def waiting(self) -> int:
        """Positions whose search has not begun."""
        with self._lock:
            return len(self._waiting)

    def wait_for_room(self, most: int) -> None:
        """Returns when fewer than `most` positions are pending."""
        with self._lock:
            self._changed.wait_for(lambda: self._open < most or self._stopping)

    def __enter__(self) -> AnalysisEngine:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
        for thread in self._threads:
            thread.join()

    # Commands.

    def _obey(self, command: Command, listener: Listener | None) -> None:
        answer = dict(command.echo)
        with self._lock:
            if command.action == "query_version":
                answer["version"] = __version__
            elif command.action == "clear_cache":
                self._forget_caches()
            else:
                turns = command.turns

                def meant(task: Task) -> bool:
                    whose = command.action == "terminate_all" or (
                        task.request.id == command.terminate_id
                    )
                    return whose and (turns is None or task.turn in turns)

                self._terminate(meant)
            self._tell(listener, answer)

    def _forget_caches(self) -> None:
        """Lets every thread make its searches anew, with empty caches. The lock is held.

        A cache may not be emptied while it is used: one that is dies with its last search.
        """
        self._caches.clear()
        self._boards.clear()
        for searcher in self._searchers:
            searcher.searches.clear()

    def _terminate(self, meant: Callable[[Task], bool]) -> None:
        """Answers what waits, and ends what runs. The lock is held."""
        for task in [task for task in self._waiting if meant(task)]:
            self._waiting.remove(task)
            self._close(task, NOTHING)
        for searcher in self._searchers:
            hit = [task for task in searcher.chunk if meant(task)]
            for task in hit:
                task.cancelled = True
            if hit:
                halt = threading.Thread(
                    target=self._halt, args=(searcher, searcher.chunk), daemon=True
                )
                halt.start()

    def _halt(self, searcher: _Searcher, chunk: list[Task]) -> None:
        """Stops a chunk's search; again and again, for a search that begins forgets a stop."""
        with self._lock:
            while searcher.chunk is chunk:
                if searcher.search is not None:
                    searcher.search.stop()
                self._changed.wait(0.01)

    # Searching.

    def _work(self, searcher: _Searcher) -> None:
        while (chunk := self._take(searcher)) is not None:
            try:
                done = self._search(searcher, chunk)
            except (
                Exception
            ) as error:  # the evaluator's or the game's: told, and the engine goes on
                sentence = " ".join(str(error).split()) or type(error).__name__
                done = [{"error": f"the search failed: {sentence}"} for _ in chunk]
            with self._lock:
                searcher.chunk, searcher.search = [], None
                for task, found in zip(chunk, done, strict=True):
                    if found is None:
                        insort(self._waiting, task, key=lambda t: t.place)
                    else:
                        self._close(task, found)
                self._changed.notify_all()

    def _take(self, searcher: _Searcher) -> list[Task] | None:
        """The next tasks for this thread; None when there will be none."""
        with self._lock:
            self._idle += 1
            try:
                while True:
                    if self._finished and self._open == 0:
                        return None
                    pause = None
                    if chunk := self._company():
                        first = chunk[0]
                        pause = first.arrived + GATHER - time.monotonic()
                        hurry = self._finished or first.alone or len(chunk) >= self.boards
                        if hurry or pause <= 0:
                            break
                    self._changed.wait(pause)
                for task in chunk:
                    self._waiting.remove(task)
                searcher.chunk = chunk
                return chunk
            finally:
                self._idle -= 1

    def _company(self) -> list[Task]:
        """The first task that waits with others like it: this thread's share. The lock is held.

        Empty if there is none. Tasks that go on with one tree come one after another.
        """
        boards = {one.chunk[0].board for one in self._searchers if one.chunk} - {None}
        first = next((task for task in self._waiting if task.board not in boards), None)
        if first is None:
            return []
        if first.alone:
            return [first]
        key = first.company
        alike = [task for task in self._waiting if task.company == key]
        most = min(self.boards, max(1, MAX_CHUNK_SIMULATIONS // first.request.simulations))
        return alike[: min(most, -(-len(alike) // max(1, self._idle)))]

    def _search(self, searcher: _Searcher, chunk: list[Task]) -> list[dict[str, Any] | None]:
        """The figures of each task; None for one that has to be searched again."""
        asked = chunk[0].request
        search = self._search_for(searcher, asked.game)
        live = self._live_for(chunk[0], search) if chunk[0].alone else None
        with self._lock:
            searcher.search = live or search
            if all(task.cancelled for task in chunk):
                return [NOTHING for _ in chunk]
        if live is not None:
            tell = partial(self._tell, chunk[0].listener)
            return [search_alone(live, chunk[0], tell)]
        results = search.run_many([task.state for task in chunk], asked.simulations)
        stopped = any(result.stop == "stopped" for result in results)
        return [
            None if stopped and not task.cancelled else figures(task, result)
            for task, result in zip(chunk, results, strict=True)
        ]

    def _live_for(self, task: Task, like: Search) -> LiveSearch:
        """The board that the task goes on with, or one that lives as long as the task."""
        with self._lock:
            live = self._boards.get(task.board) if task.board else None
            if live is None:
                live = LiveSearch(like.game, self._evaluator, like.options, like.cache)
                if task.board:
                    self._boards[task.board] = live
            return live

    def _search_for(self, searcher: _Searcher, game: Game) -> Search:
        key = game_key(game)
        with self._lock:
            if key not in searcher.searches:
                search = Search(game, self._evaluator, self._options, self._caches.get(key))
                if search.cache is not None:
                    self._caches[key] = search.cache
                searcher.searches[key] = search
            return searcher.searches[key]

    def _close(self, task: Task, found: Mapping[str, Any]) -> None:
        """A task's last answer. The lock is held."""
        self._open -= 1
        self._tell(task.listener, head(task, final=True) | dict(found))

    def _tell(self, listener: Listener | None, answer: dict[str, Any]) -> None:
        with self._lock:
            if listener is None:
                self._answers.append(answer)
            else:
                try:
                    listener(answer)
                except Exception:  # the others' answers do not depend on it
                    traceback.print_exc()
            self._changed.notify_all()
