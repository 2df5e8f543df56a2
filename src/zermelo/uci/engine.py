"""The searching thread: does what it is asked for, one thing after another, and answers.

The reading thread puts work into its queue and is never kept waiting. Every `go` is answered by one
`bestmove` with a legal move, whatever goes wrong meanwhile; `go perft` and `bench` alone are
answered by counts.
"""

from __future__ import annotations

import queue
import random
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from zermelo import _core
from zermelo.errors import REFUSALS
from zermelo.games.protocol import State
from zermelo.search.thinking import Memory
from zermelo.uci import networks
from zermelo.uci.bench import bench_lines
from zermelo.uci.options import Settings
from zermelo.uci.perft import perft_lines
from zermelo.uci.positions import any_move, board_at, end_line, follow, without_past
from zermelo.uci.protocol import Go, Position, printable
from zermelo.uci.running import Running
from zermelo.uci.search_run import SearchRun
from zermelo.uci.workshop import Load, Workshop
from zermelo.uci.writer import Writer


class Engine:
    """Searches in a thread of its own. Its public methods are for the reading thread."""

    def __init__(self, writer: Writer, load: Load = networks.load, own: str = "") -> None:
        """See `Workshop`."""
        self._writer = writer
        self._queue: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._latest: Running | None = None  # the reading thread's
        self._newest = Settings.defaults()  # written by the reading thread
        self.debug = False
        # The searching thread's.
        self._workshop = Workshop(self._comment, load, own)
        self._memory = Memory()  # of the last move's search
        self._chance = random.Random()  # of an engine of limited strength
        self._stands_at: Position | None = None  # that the search was moved to last
        self._thread = threading.Thread(target=self._work, name="search", daemon=True)
        self._thread.start()

    # --- asked by the reading thread --------------------------------------------------------------

    def go(self, go: Go, position: Position, settings: Settings) -> None:
        """Begins a search; one that still runs is stopped and answered first."""
        self._give_up()
        running = Running(go, position, settings, time.perf_counter(), self.debug)
        self._latest = running
        self._queue.put(lambda: self._run(running))

    def stop(self) -> None:
        """Ends the search under way, if there is one."""
        if self._latest is not None:
            self._latest.stop()

    def ponderhit(self) -> None:
        """The expected move was played."""
        if self._latest is not None:
            self._latest.ponderhit()

    @property
    def searching(self) -> bool:
        """Whether a `go` is not answered yet."""
        return self._latest is not None and not self._latest.finished.is_set()

    def prepare(self, settings: Settings, then: Callable[[], None] | None = None) -> None:
        """Loads what the options name, then calls `then` in the searching thread.

        Whoever waits for that may start a clock next: nothing is left then to be made ready.
        """
        self._newest = settings

        def work() -> None:
            try:
                self._workshop.ready(self._newest)  # what was named meanwhile is what counts
                if then is not None:
                    self._workshop.make_all(self._newest)
            finally:
                if then is not None:
                    then()

        self._queue.put(work)

    def new_game(self, settings: Settings) -> None:
        """Forgets tree, cache and expectations."""
        self._newest = settings
        self._give_up()
        self._queue.put(self._forget)

    def close(self, seconds: float) -> bool:
        """Stops and waits for the last answer, so long at most; whether the thread has ended."""
        self._give_up()
        self._queue.put(None)
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _give_up(self) -> None:
        """Nobody wants the answer of the search under way any more; it is given all the same."""
        if self._latest is not None:
            self._latest.unwanted.set()
            self._latest.stop()

    # --- the searching thread ---------------------------------------------------------------------

    def _work(self) -> None:
        while True:
            job = self._next_job()
            if job is None:
                return
            try:
                job()
            except Exception as error:  # the engine lives on
                self._comment(f"error {error}")

    def _next_job(self) -> Callable[[], None] | None:
        """The next thing to do; while there is none, what makes the next search begin faster."""
        while True:
            try:
                return self._queue.get_nowait()
            except queue.Empty:
                pass
            try:
                if not self._workshop.warm_a_little():
                    return self._queue.get()
            except Exception as error:
                self._comment(f"error {error}")

    def _comment(self, text: str) -> None:
        self._writer.say(f"info string {printable(text)}")

    def _forget(self) -> None:
        self._memory = Memory(lag=self._memory.lag)
        self._stands_at = None
        # A person wants another game each time, a test the same.
        seeded = "Seed" in self._newest.given
        self._chance = random.Random(self._newest["Seed"] if seeded else None)
        if self._workshop.live is not None:
            self._workshop.live.forget()

    def _run(self, running: Running) -> None:
        """One `go` from beginning to end."""
        answer: str | None = "bestmove (none)"
        try:
            answer = self._answer(running)
        except Exception as error:
            self._comment(f"error {error}")
            counts = running.go.perft or running.go.bench
            answer = None if counts else f"bestmove {any_move(running.position)}"
        finally:
            running.end()
            while not running.released.wait(0.5):
                if self._writer.closed:
                    break
            if answer is not None:
                self._writer.say(answer)
            running.finished.set()

    def _answer(self, running: Running) -> str | None:
        """The line that ends a `go`; it waits until it may be said."""
        if running.go.perft is not None:
            self._perft(running, running.go.perft)
            return None
        if running.go.bench:
            self._bench(running)
            return None
        if running.unwanted.is_set():
            return f"bestmove {any_move(running.position)}"
        live = self._workshop.search_for(
            running.settings,
            running.position.chess960,
            running.go.counted or running.level is not None,
            gumbel=running.level is None,  # a level chooses by visits
            analysis=running.go.endless or running.go.mate is not None,
        )
        if self._workshop.refused:
            self._comment(f"error {self._workshop.refused}")
        game: Any = live.game
        state = follow(live, self._stands_at, running.position)
        self._stands_at = running.position
        if game.outcome(state) is not None:
            if not game.legal_moves(state):
                self._writer.say(end_line(game, state))
                return "bestmove (none)"
            state = without_past(game, state)
            if game.outcome(state) is not None:  # nobody can win any more
                self._writer.say("info depth 1 score cp 0")
                return f"bestmove {any_move(running.position)}"
            live.follow(state, turns=0)
            self._stands_at = None
        hits_before = self._hits()
        allowed = self._allowed(running, game, state)
        if (move := self._from_book(running, game, state, allowed)) is not None:
            self._comment(f"{move} is from the book")
            return f"bestmove {move}"
        run = SearchRun(
            self._writer,
            running,
            live,
            allowed,
            self._memory,
            hits=lambda: self._hits() - hits_before,
            chance=self._chance,
        )
        answer = run.bestmove()
        self._memory = run.memory
        return answer

    def _perft(self, running: Running, depth: int) -> None:
        rules = _core.Chess(chess960=running.position.chess960)
        state = without_past(rules, rules.parse_position(running.position.text))
        for line in perft_lines(rules, state, depth, running.stopped.is_set):
            self._writer.say(line)

    def _bench(self, running: Running) -> None:
        live = self._workshop.search_for(running.settings, chess960=False, counted=True)
        self._stands_at = None
        for line in bench_lines(live, running.go.nodes or 1, running.stopped.is_set):
            self._writer.say(line)

    def _hits(self) -> int:
        tablebase = self._workshop.tablebase
        return 0 if tablebase is None else int(tablebase.hits)

    def _allowed(self, running: Running, game: Any, state: State) -> list[int]:
        """The root actions to which the search is restricted; empty: all."""
        wanted: list[int] = []
        illegal: list[str] = []
        for text in running.go.searchmoves:
            try:
                wanted.append(game.parse_action(state, text))
            except REFUSALS:
                illegal.append(text)
        if illegal:
            self._comment(f"error searchmoves: not legal here: {' '.join(illegal)}")
        tablebase = self._workshop.tablebase
        if tablebase is None or wanted or running.level is not None:
            return wanted
        kept = tablebase.root_moves(board_at(game, state))
        return [game.parse_action(state, move.uci()) for move in kept]

    def _from_book(
        self, running: Running, game: Any, state: State, allowed: Sequence[int]
    ) -> str | None:
        book, go = self._workshop.book, running.go
        if book is None or go.endless or go.ponder or go.mate is not None:
            return None
        move = book.choose(board_at(game, state))
        if move is None:
            return None
        action = game.parse_action(state, move.uci())
        if allowed and action not in allowed:
            return None
        text: str = game.action_text(state, action)
        return text
