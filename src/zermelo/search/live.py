"""`LiveSearch`: the owner of one board's search, of its tree, and of those who watch it.

>>> import zermelo
>>> live = LiveSearch(zermelo.game("tictactoe"), zermelo.search.UniformEvaluator())
>>> _ = live.follow(live.game.parse_position("XX./OO./..."))
>>> heard = []
>>> unsubscribe = live.subscribe(heard.append)
>>> live.start(Limits(simulations=50))
>>> live.wait() is heard[-1], heard[-1].final, heard[-1].best.text
(True, True, 'c3')

Knows nothing of who asks and why. Threads: one search runs at a time, in a thread of its own
(`start`) or in the caller's (`run`), and any thread may call anything. `stop`, `subscribe` and
`result` never wait. `follow`, `start`, `run`, `forget` and `close` steer the board: they end a
search that runs and wait for its end, one steering thread after another. Listeners are called in
the searching thread about fifty times a second: they must be quick, may `stop`, and cannot steer.
"""

from __future__ import annotations

import atexit
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from weakref import WeakSet

from zermelo._core import EvaluationCache, SearchOptions
from zermelo.evaluator import Evaluator
from zermelo.games import game as find_game
from zermelo.games.protocol import Game, State
from zermelo.search.limits import Limits
from zermelo.search.listeners import Listeners
from zermelo.search.path import path_between
from zermelo.search.result import SearchResult
from zermelo.search.search import Search
from zermelo.search.tree_export import Place, TreeExport

Listener = Callable[[SearchResult], None]
Ended = Callable[[BaseException | None], None]  # with what ended a search too early, if anything
LAST_SECONDS = 5.0  # that a search has to end when the interpreter does


class _Run:
    """One search from its start to its last update."""

    def __init__(self, search: Search, state: State, limits: Limits) -> None:
        self.search = search
        self.state = state
        self.limits = limits
        self.stopped = False  # set by any thread, and stays so
        self.ended = threading.Event()
        # Written by whoever begins it.
        self.thread: threading.Thread | None = None  # that searches
        self.listener: Listener | None = None  # of this search alone
        # Written by that thread.
        self.result: SearchResult | None = None  # the newest
        self.error: BaseException | None = None  # that ended it


class LiveSearch:
    """One board's search. Its tree goes on from position to position where they follow."""

    def __init__(
        self,
        game: Game | str,
        evaluator: Evaluator,
        options: SearchOptions | None = None,
        cache: EvaluationCache | None = None,
    ) -> None:
        """`cache` may be shared by searches of one game and evaluator; None makes its own."""
        self.game: Any = find_game(game)
        self.options = options or SearchOptions()
        self._evaluator = evaluator
        self._search = Search(self.game, evaluator, self.options, cache)
        self.cache = self._search.cache
        self._steer = threading.Lock()  # held by whoever steers, never while a search runs
        # Written by whoever steers.
        self._state: State | None = None  # of the board
        self._at_tree = False  # whether the tree stands there too
        self._closed = False
        self._last: _Run | None = None  # the search that runs, or that ended last
        self._listeners: Listeners[tuple[Listener, Ended | None]] = Listeners()
        self._running: _Run | None = None  # written under the listeners' lock, read without it
        _boards.add(self)

    # --- never waits ------------------------------------------------------------------------------

    def stop(self) -> None:
        """Ends the search that runs, if one does, also one that has only just been started.

        Without one it does nothing: the next search runs as if nobody had asked. Takes no lock: a
        signal's handler may call it.
        """
        run = self._running
        if run is not None:
            run.stopped = True
            run.search.stop()  # forgotten if the search begins now; the next look stops it then

    def subscribe(self, listener: Listener, ended: Ended | None = None) -> Callable[[], None]:
        """Calls `listener` with the results of every search; the return value ends that.

        Whoever subscribes before a search has ended gets its last result, which is `final`, and
        then `ended`, with None or with what ended it too early; the last result may be missing
        then. What a listener raises ends the search and comes out of `run` or `wait`. A call that
        is under way when another thread unsubscribes still comes to its end.
        """
        return self._listeners.add((listener, ended))

    @property
    def running(self) -> bool:
        """Whether a search is under way, its last update included."""
        return self._running is not None

    @property
    def result(self) -> SearchResult | None:
        """The newest of the search that runs, or of the last one; not of an earlier one."""
        run = self._last
        return None if run is None else run.result

    @property
    def state(self) -> State | None:
        """Where the board stands."""
        return self._state

    def tree(self, max_depth: int = 4, min_visits: int = 1) -> TreeExport:
        """The tree down to a depth, without rarely visited nodes; refused while a search runs."""
        return self._search.tree(max_depth, min_visits)

    def look(self, path: Sequence[int] = ()) -> Place | None:
        """A node of the tree; None beyond it. While a search runs, only listeners may look."""
        return self._search.look(path)

    # --- steers -----------------------------------------------------------------------------------

    def follow(
        self,
        state: State,
        actions: Sequence[int] | None = None,
        *,
        turns: int = 1,
        bare: bool = False,
    ) -> State:
        """The board stands at `state` from now on; returns the state that will be searched.

        The tree moves along if the position lies at most so many turns ahead, or along `actions` if
        the way from the last position is known; else the next search starts anew. A `bare` state
        came without its past: if it follows, it is searched as the tree knows it.
        """
        with self._steering():
            path = None if actions is None or not self._at_tree else list(actions)
            if actions is None and self._search.state is not None:
                path = path_between(self.game, self._search.state, state, turns)
            for action in path or ():
                self._search.advance(action)
            if bare and path is not None:
                state = self._search.state
            self._state, self._at_tree = state, path is not None
            return state

    def start(self, limits: Limits) -> None:
        """Begins to search the position in a thread of its own."""
        with self._steering():
            run = self._prepare(limits)
            run.thread = threading.Thread(
                target=self._perform, args=(run,), name="live search", daemon=True
            )
            self._begin(run)
            try:
                run.thread.start()
            except BaseException:
                self._end(run)
                raise

    def run(self, limits: Limits, listener: Listener | None = None) -> SearchResult:
        """Searches the position in the caller's thread; `listener` is told of this search alone."""
        thread = threading.current_thread()
        try:
            with self._steering():
                run = self._prepare(limits)
                run.thread, run.listener = thread, listener
                self._begin(run)
            self._perform(run)
        finally:
            begun = self._running  # still, after a Ctrl-C on the way: nobody shall wait for it
            if begun is not None and begun.thread is thread:
                self._end(begun)
        if run.error is not None:
            raise run.error
        assert run.result is not None
        return run.result

    def wait(self, timeout: float | None = None) -> SearchResult | None:
        """The result of the search that runs, or of the last one; raises what ended it early.

        None if there was none, or if so many seconds were not enough.
        """
        self._refuse_listeners()
        run = self._last
        if run is None or not run.ended.wait(timeout):
            return None
        if run.error is not None:
            raise run.error
        return run.result

    def forget(self, evaluations: bool = True) -> None:
        """A new game: no position, no tree and, if they shall go too, no cached evaluations."""
        with self._steering():
            self._clear()
            if evaluations and self.cache is not None:
                self.cache.clear()

    def close(self) -> None:
        """Ends everything: nobody is told any more, nothing can be searched."""
        with self._steering(closing=True):
            if not self._closed:
                self._clear()
                self._closed = True
                self._listeners.clear()

    # --- within -----------------------------------------------------------------------------------

    def _refuse_listeners(self) -> None:
        run = self._running
        if run is not None and run.thread is threading.current_thread():
            raise RuntimeError("a listener cannot steer the search that it listens to")

    @contextmanager
    def _steering(self, closing: bool = False) -> Iterator[None]:
        """No search runs within, and no other thread steers."""
        self._refuse_listeners()
        with self._steer:
            run = self._running
            if run is not None:
                self.stop()
                run.ended.wait()
            if self._closed and not closing:
                raise RuntimeError("the search is closed")
            yield

    def _clear(self) -> None:
        self._search.clear()
        self._state, self._at_tree, self._last = None, False, None

    def _prepare(self, limits: Limits) -> _Run:
        if self._state is None:
            raise ValueError("there is no position to search: follow one first")
        # Gumbel shares out a number of simulations: without one, a search goes without it.
        gumbel = bool(self.options.gumbel) and limits.known
        if bool(self._search.options.gumbel) != gumbel:
            options = self.options.replace(gumbel=gumbel)
            self._search = Search(self.game, self._evaluator, options, self.cache)
            self._at_tree = False
        return _Run(self._search, self._state, limits)

    def _begin(self, run: _Run) -> None:
        self._last = run
        with self._listeners.lock:
            self._running = run

    def _end(self, run: _Run) -> None:
        with self._listeners.lock:
            if self._running is run:  # another one may have begun since everybody was told
                self._running = None
        run.ended.set()

    def _perform(self, run: _Run) -> None:
        """Searches, and tells everybody of the end, whatever the end is."""
        try:
            try:
                run.result = self._search_on(run)
            except BaseException as raised:  # comes out of `run` or `wait`
                run.error = raised
                if run.search.state is run.state:
                    run.result = run.search.result()
            self._at_tree = self._at_tree or run.search.state is run.state
            self._tell_end(run)
        finally:
            self._end(run)

    def _search_on(self, run: _Run) -> SearchResult:
        limits, search = run.limits, run.search

        def progress(result: SearchResult) -> None:
            if run.stopped:
                search.stop()
            run.result = result
            if run.listener is not None:
                run.listener(result)
            for listener, _ in self._listeners.present().values():
                listener(result)

        kept = None
        if limits.nodes is not None:
            # Makes the root known, and with it how many visits its tree already has.
            kept = search.run(run.state, 0, allowed=limits.allowed)
            if run.stopped or limits.further(kept) <= 0:
                return kept
        return search.run(
            run.state,
            limits.further(kept),
            seconds=limits.seconds,
            allowed=limits.allowed,
            progress=progress,
        )

    def _tell_end(self, run: _Run) -> None:
        """The last update and the end, once to each, also to those who come meanwhile."""
        if run.listener is not None:
            self._tell(run, run.listener, None)
        told: set[object] = set()
        while True:
            with self._listeners.lock:
                present = self._listeners.present()
                new = {key: pair for key, pair in present.items() if key not in told}
                if not new:  # whoever comes now comes after the end
                    self._running = None
                    return
            told.update(new)
            for listener, ended in new.values():
                self._tell(run, listener, ended)

    def _tell(self, run: _Run, listener: Listener, ended: Ended | None) -> None:
        """What one of them raises does not keep the end from the others."""
        try:
            if run.result is not None:
                listener(run.result)
            if ended is not None:
                ended(run.error)
        except BaseException as raised:
            run.error = run.error or raised


_boards: WeakSet[LiveSearch] = WeakSet()


@atexit.register
def _end_with_the_interpreter() -> None:
    """A thread that comes back from the core while the interpreter goes would end in a crash."""
    for live in list(_boards):
        live._closed = True
        live.stop()
    for live in list(_boards):
        run = live._last
        if run is not None:
            run.ended.wait(LAST_SECONDS)
