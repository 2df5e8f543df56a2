"""Perfect play where it can be had: tic-tac-toe and Connect Four."""

from __future__ import annotations

import random
from typing import Any

from zermelo import _core
from zermelo.errors import UserError
from zermelo.games.protocol import Game, State
from zermelo.games.registry import kind_of
from zermelo.players.solver import Solver

# Exact scores of Connect Four's first move, by column: the one position that takes the solver a
# minute or more. A slow test has the solver find them itself.
_CONNECT4_START = (-2, -1, 0, 1, 0, -1, -2)


class PerfectPlayer:
    """Never gives a result away: the shortest win, the longest loss.

    A seed chooses among actions of equal worth; without one it is the first of them. Connect Four
    takes seconds per move from the fourth ply on and longer before, unless `book` names a file
    that `Connect4Solver.build_book` wrote.
    """

    def __init__(self, game: Game, seed: int | None = None, book: str = "") -> None:
        given = {"seed": seed, "book": book or None}
        settings = [f"{key}={value}" for key, value in given.items() if value is not None]
        self.name = "perfect" + ("?" + "&".join(settings) if settings else "")
        self._seed = seed
        self._random = None if seed is None else random.Random(seed)
        self._kind = kind_of(game)
        self._solver: Any
        if self._kind == "tictactoe":
            self._solver = Solver(game)
        elif self._kind == "connect4":
            self._solver = _core.Connect4Solver(table_mib=64)
            if book:
                try:
                    self._solver.load_book(book)
                except RuntimeError as error:
                    raise UserError(f"perfect: {error}") from error
        else:
            raise UserError(
                f"there is no perfect player for {game.name}, only for tictactoe and connect4"
            )

    def scores(self, game: Game, state: State) -> dict[int, int]:
        """The exact score of each legal action for the player to move; larger is better."""
        if kind_of(game) != self._kind:
            raise UserError(f"this perfect player is for {self._kind}, not for {game.name}")
        if self._kind == "tictactoe":
            return dict(self._solver.analyse(state))
        at_start = state == game.initial()
        found = _CONNECT4_START if at_start else self._solver.analyse(state)
        return {action: score for action, score in enumerate(found) if score is not None}

    def reseed(self, seed: int) -> None:
        """Other choices among equals; without a seed there is no chance in this player."""
        if self._seed is not None:
            self._random = random.Random(f"{self._seed} {seed}")

    def choose(self, game: Game, state: State) -> int:
        """One of the best actions."""
        scores = self.scores(game, state)
        best = max(scores.values())
        actions = [action for action, score in scores.items() if score == best]
        return actions[0] if self._random is None else self._random.choice(actions)
