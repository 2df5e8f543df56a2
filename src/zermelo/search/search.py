"""`Search`: the native search behind a small Python class."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from zermelo import _core
from zermelo.evaluator import Evaluator
from zermelo.games import game as find_game
from zermelo.games.native import native_game
from zermelo.games.protocol import Game, State
from zermelo.search.result import SearchResult
from zermelo.search.tree_export import Child, Place, TreeExport

Progress = Callable[[SearchResult], None]


class Search:
    """Searches positions of one game with one evaluator.

    >>> import zermelo
    >>> game = zermelo.game("tictactoe")
    >>> search = Search(game, _core.UniformEvaluator())
    >>> search.run(game.parse_position("XX./OO./..."), simulations=50).best.text
    'c3'

    The tree of the last `run` is kept: running the same position again continues it, and `advance`
    moves its root to the position after an action.
    """

    def __init__(
        self,
        game: Game | str,
        evaluator: Evaluator,
        options: _core.SearchOptions | None = None,
        cache: _core.EvaluationCache | None = None,
    ) -> None:
        """`cache` may be shared by searches of one game and evaluator; None makes its own."""
        self.game: Any = find_game(game)
        self.options = options or _core.SearchOptions()
        native = native_game(self.game)
        if cache is None and self.options.cache_mib:
            cache = _core.EvaluationCache(int(self.options.cache_mib), native.num_actions)
        self.cache = cache
        self._native = _core.make_search(native, evaluator, self.options, cache)
        self._state: State | None = None  # where the tree stands

    def run(
        self,
        state: State | None = None,
        simulations: int | None = None,
        *,
        seconds: float = 0.0,
        full: bool = False,
        allowed: Sequence[int] = (),
        progress: Progress | None = None,
    ) -> SearchResult:
        """Searches `state` for so many further simulations, or for so many seconds, or both.

        Without a state it is the start. `full` makes it a full search of self-play: root noise,
        minimum root visits, discounting of a reused tree. `allowed` restricts the root's actions.
        `progress` gets the result so far about fifty times a second.
        """
        if not -math.inf < seconds < math.inf:
            raise ValueError(f"seconds is {seconds}, not a number of seconds")
        if simulations is None:
            if seconds <= 0:
                raise ValueError("a search needs simulations or seconds")
            simulations = 2**62
        if simulations < 0:
            raise ValueError(f"simulations is {simulations}, not at least 0")
        state = self.game.initial() if state is None else state
        report = None
        if progress is not None:

            def report(native: _core.NativeResult) -> None:
                progress(SearchResult(native, self.game, state, final=False))

        # A position or action that is refused leaves the tree where it was.
        if self.game.outcome(state) is not None:
            raise ValueError("the game is over: there is nothing to search")
        if refused := set(allowed) - set(self.game.legal_actions(state)):
            raise ValueError(f"action {min(refused)} is not legal here, so it cannot be allowed")
        self._require_idle()
        self._state = state
        native = self._native.run(state, simulations, seconds, full, list(allowed), report)
        return SearchResult(native, self.game, state)

    def run_many(
        self,
        states: Iterable[State],
        simulations: int,
        *,
        seconds: float = 0.0,
        full: bool = False,
    ) -> list[SearchResult]:
        """Searches many positions together, each in a fresh tree; leaves share batches (S18)."""
        states = list(states)
        if simulations < 0:
            raise ValueError(f"simulations is {simulations}, not at least 0")
        natives = self._native.run_many(states, simulations, seconds, full)
        return [SearchResult(n, self.game, s) for n, s in zip(natives, states, strict=True)]

    def advance(self, action: int) -> bool:
        """Plays `action` on the tree's board (S5); tells whether a searched subtree was kept."""
        if self._state is None:
            raise ValueError("there is no tree to advance: run a search first")
        self._require_idle()
        self._state = self.game.play(self._state, action)
        return bool(self._native.advance(action))

    @property
    def state(self) -> State | None:
        """Where the tree stands; None without one."""
        return self._state

    def result(self) -> SearchResult | None:
        """The table of the tree as it stands; None when its root was not searched yet."""
        native = self._native.result()
        if native is None or not len(native.actions):
            return None
        return SearchResult(native, self.game, self._state)

    def tree(self, max_depth: int = 4, min_visits: int = 1) -> TreeExport:
        """The tree down to a depth, without rarely visited nodes; as JSON or Graphviz."""
        rows = self._native.export_tree(max_depth, min_visits)
        return TreeExport(rows, self.game, self._state)

    def look(self, path: Sequence[int] = ()) -> Place | None:
        """The node that some actions lead to from the root; None beyond the tree.

        While a search runs, only its `progress` may look.
        """
        found = self._native.look(list(path))
        if found is None:
            return None
        visits, chosen, rows = found
        return Place(visits, chosen, [Child(*row) for row in rows])

    def stop(self) -> None:
        """Ends a running search soon; may be called from any thread."""
        self._native.stop()

    def clear(self) -> None:
        """Forgets the tree."""
        self._native.clear()
        self._state = None

    def swap_evaluator(self, evaluator: Evaluator) -> None:
        """Uses another network from the next run on; forgets the old one's tree and cache."""
        self._native.set_evaluator(evaluator)
        self.clear()
        if self.cache is not None:
            self.cache.clear()

    def _require_idle(self) -> None:
        if self._native.busy:
            raise RuntimeError("the search is already running; only stop() may be called meanwhile")

    @property
    def nodes_in_use(self) -> int:
        """Nodes of the tree."""
        return int(self._native.nodes_in_use)

    @property
    def bytes_in_use(self) -> int:
        """Bytes of the tree's nodes and edges."""
        return int(self._native.bytes_in_use)

    @property
    def bytes_reserved(self) -> int:
        """Bytes that the pool took from the system; freed nodes are used again."""
        return int(self._native.bytes_reserved)

    def check_invariants(self) -> None:
        """Raises when the tree's book-keeping is broken; for tests."""
        self._native.check_invariants()
