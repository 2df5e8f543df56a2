"""Finds the positions behind samples again: samples hold what a network sees, not states.

From the start of a game every sequence of actions is followed to the next sample's observation. It
works wherever few plies lie between two samples of a game.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from zermelo.doctor.evidence import Array
from zermelo.games.protocol import State, state_hash
from zermelo.replay import Samples
from zermelo.replay.canonical import canonical

MOST_STEPS = 80_000  # positions looked at, in all
WIDEST = 3_000  # positions between two samples


class Rediscovery:
    """Follows games of samples; counts what it costs."""

    def __init__(self, game: Any, samples: Samples) -> None:
        self.game = game
        self.samples = samples
        self.steps = 0

    def states(self, wanted: Array) -> Iterator[tuple[int, State]]:
        """(row, its state or an image of it) for wanted rows, as many as can be afforded."""
        samples = self.samples
        wants = np.zeros(len(samples), np.bool_)
        wants[wanted] = True
        order = np.lexsort((samples.plies, samples.games))
        borders = np.flatnonzero(np.diff(samples.games[order])) + 1
        games = [rows for rows in np.split(order, borders) if wants[rows].any()]
        for rows in sorted(games, key=lambda rows: widest_gap(samples.plies[rows], wants[rows])):
            state, ply = self.game.initial(), 0
            for row in rows:
                found = self.after(state, int(samples.plies[row]) - ply, row)
                if found is None:
                    break
                state, ply = found, int(samples.plies[row])
                if wants[row]:
                    yield int(row), state
            if self.steps > MOST_STEPS:
                return

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


def widest_gap(plies: Array, wants: Array) -> int:
    """Most plies from one sample of a game to the next, up to the first that is wanted."""
    until = plies[: int(np.argmax(wants)) + 1].astype(np.int64)
    return int(np.diff(until, prepend=0).max())
