"""A search and where its tree stands: the tree of the last move is gone on with where it fits.

Whether it fits is decided by the positions, never by what a program says about the game.
"""

from __future__ import annotations

from typing import Any

from zermelo.games.protocol import State
from zermelo.search import Search
from zermelo.search.path import path_between
from zermelo.uci.protocol import Position

FURTHEST = 2  # plies between the tree and a position that came without its moves


class KeptTree:
    """Owner: the searching thread."""

    def __init__(self, search: Search) -> None:
        self.search = search
        self._position: Position | None = None
        self._state: State | None = None  # where the tree stands

    def move_to(self, position: Position) -> State:
        """Moves the tree to the position if it lies ahead; the state to search.

        A position that came as a bare FEN and follows from the tree's is searched as the tree
        knows it: with its past.
        """
        game: Any = self.search.game
        state = game.parse_position(position.text)
        path = self._path(position, state)
        for action in path or ():
            self.search.advance(action)
        if path is not None and not position.moves and self._state is not None:
            for action in path:
                self._state = game.play(self._state, action)
            state = self._state
        self._position, self._state = position, state
        return state

    def stands_at(self, state: State) -> None:
        """Another state than that of the last `move_to` is searched."""
        self._position, self._state = None, state

    def forget(self) -> None:
        """A new game: no tree, no cached evaluations."""
        self.search.clear()
        if self.search.cache is not None:
            self.search.cache.clear()
        self._position = self._state = None

    def _path(self, position: Position, state: State) -> list[int] | None:
        """Actions from the tree's position to the new one; None if it does not follow."""
        game, before = self.search.game, self._state
        if before is None or self.search.result() is None:
            return None
        old = self._position
        if position.moves or old is None:
            if old is None or (position.start, position.chess960) != (old.start, old.chess960):
                return None
            known = len(old.moves)
            if position.moves[:known] != old.moves:
                return None
            path, at = [], before
            for text in position.moves[known:]:
                if game.outcome(at) is not None:
                    return None
                path.append(game.parse_action(at, text))
                at = game.play(at, path[-1])
            return path
        return path_between(game, before, state, FURTHEST)
