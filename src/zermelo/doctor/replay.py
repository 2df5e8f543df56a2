"""Finds the positions behind samples again: samples hold what a network sees, not states.

Where the moves of a game are known they are played again. Shards of version 1 have none: there
every sequence of actions is followed to the next sample's observation, which works wherever few
plies lie between two samples of a game.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from zermelo.doctor.evidence import Array
from zermelo.games.protocol import State, state_hash
from zermelo.replay import Samples
from zermelo.replay.canonical import canonical
from zermelo.replay.whole_games import states_along

MOST_STEPS = 80_000  # positions looked at, in all
WIDEST = 3_000  # positions between two samples


class Rediscovery:
    """Follows games of samples; counts what it costs."""

    def __init__(
        self, game: Any, samples: Samples, moves: Mapping[int, Array] | None = None
    ) -> None:
        """`moves` are the actions of games by number, as many as are known."""
        self.game = game
        self.samples = samples
        self.moves = {} if moves is None else moves
        self.steps = 0

    def states(self, wanted: Array) -> Iterator[tuple[int, State]]:
        """(row, its state or an image of it) for wanted rows, as many as can be afforded."""
        samples = self.samples
        wants = np.zeros(len(samples), np.bool_)
        wants[wanted] = True
        order = np.lexsort((samples.plies, samples.games))
        borders = np.flatnonzero(np.diff(samples.games[order])) + 1
        games = [rows for rows in np.split(order, borders) if wants[rows].any()]
        for rows in sorted(games, key=lambda rows: self.widest_gap(rows, wants)):
            known = self.moves.get(int(samples.games[rows[0]]))
            along = self.searched(rows) if known is None else self.followed(rows, known)
            yield from ((row, state) for row, state in along if wants[row])
            if self.steps > MOST_STEPS:
                return

    def followed(self, rows: Array, moves: Array) -> Iterator[tuple[int, State]]:
        """(row, its state) of a game whose moves are known."""
        states, ply = states_along(self.game, moves.tolist()), -1
        for row in rows:
            for _ in range(int(self.samples.plies[row]) - ply):
                state = next(states)
                self.steps += 1
            ply = int(self.samples.plies[row])
            yield int(row), state

    def searched(self, rows: Array) -> Iterator[tuple[int, State]]:
        """(row, its state or an image of it) of a game, as far as it is found."""
        state, ply = self.game.initial(), 0
        for row in rows:
            found = self.after(state, int(self.samples.plies[row]) - ply, row)
            if found is None:
                return
            state, ply = found, int(self.samples.plies[row])
            yield int(row), state

    def after(self, state: State, plies: int, row: int) -> State | None:
        """The state of a row, so many plies on; None if it is not found with reasonable effort."""
        level = {0: state}
        for _ in range(plies):
            following: dict[int, State] = {}
            for one in level.values():
                if self.game.outcome(one) is not None:
                    continue
                for action in self.game.legal_actions(one):
                    next_one = self.game.play(one, action)
                    following[state_hash(self.game, next_one)] = next_one
                    self.steps += 1
            level = following
            if len(level) > WIDEST or self.steps > MOST_STEPS:
                return None
        key = self.samples.observations[row].tobytes()
        for one in level.values():
            if self.game.outcome(one) is None and canonical(self.game, one).key == key:
                return one
        return None

    def widest_gap(self, rows: Array, wants: Array) -> int:
        """Most plies to search from sample to sample, up to the first that is wanted."""
        if int(self.samples.games[rows[0]]) in self.moves:
            return 0
        until = self.samples.plies[rows[: int(np.argmax(wants[rows])) + 1]].astype(np.int64)
        return int(np.diff(until, prepend=0).max())
