"""Plays by the readable search of `reference/`: slow, but it needs nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from zermelo import reference
from zermelo.errors import UserError
from zermelo.games.protocol import Game, State
from zermelo.reference.puct import Evaluate


def uniform(_game: Any, _state: State, actions: Sequence[int]) -> tuple[list[float], float]:
    """Knows nothing: all actions alike, a value of 0. Only the solver finds anything then."""
    return [0.0] * len(actions), 0.0


class ReferencePlayer:
    """The most visited action, or a proven one, after a fixed number of simulations."""

    def __init__(self, simulations: int = 200, evaluator: Evaluate = uniform) -> None:
        if simulations < 1:
            raise UserError(f"reference: simulations must be 1 or more, not {simulations}")
        self.name = f"reference?simulations={simulations}"
        self.simulations = simulations
        self._evaluator = evaluator

    def choose(self, game: Game, state: State) -> int:
        """Searches from `state`; no tree is kept."""
        root = reference.search(game, state, self._evaluator, self.simulations)
        return reference.best_action(root)
