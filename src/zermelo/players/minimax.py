"""Alpha-beta search to a fixed depth, without any knowledge of the game but its results."""

from __future__ import annotations

import random

from zermelo.errors import UserError
from zermelo.games.protocol import Game, State, value_for
from zermelo.players.solver import Solver


class MinimaxPlayer:
    """Finds every win and avoids every loss within `depth` plies; beyond them all is 0.

    Depth 0 solves the game to its end, which only small games allow. Wins are taken by the shortest
    way; a seed chooses among actions of equal worth.
    """

    def __init__(self, depth: int = 4, seed: int | None = None) -> None:
        if depth < 0:
            raise UserError(f"minimax: depth must be 0 (to the end) or more, not {depth}")
        self.name = f"minimax?depth={depth}" + ("" if seed is None else f"&seed={seed}")
        self.depth = depth
        self._seed = seed
        self._random = None if seed is None else random.Random(seed)
        self._solver: Solver | None = None

    def reseed(self, seed: int) -> None:
        """Other choices among equals; without a seed there is no chance in this player."""
        if self._seed is not None:
            self._random = random.Random(f"{self._seed} {seed}")

    def choose(self, game: Game, state: State) -> int:
        """The first of the best actions, or one of them at random if there is a seed."""
        actions = list(game.legal_actions(state))
        if self._random is not None:
            self._random.shuffle(actions)
        if self.depth == 0:
            if self._solver is None or self._solver.game is not game:
                self._solver = Solver(game)
            scores = self._solver.analyse(state)
            return max(actions, key=lambda action: scores[action])
        best, alpha = actions[0], -Solver.WIN - 1
        for action in actions:
            score = self._score_after(game, state, action, (alpha, Solver.WIN + 1), self.depth)
            if score > alpha:
                best, alpha = action, score
        return best

    def _score_after(
        self, game: Game, state: State, action: int, window: tuple[int, int], depth: int
    ) -> int:
        """The score of an action for the player to move in `state`, exact inside the window."""
        alpha, beta = window
        after = game.play(state, action)
        if game.player(after) == game.player(state):
            return self._score(game, after, alpha, beta, depth - 1)
        return -self._score(game, after, -beta, -alpha, depth - 1)

    def _score(self, game: Game, state: State, alpha: int, beta: int, depth: int) -> int:
        """For the player to move; results nearer to the root count more, by the depth left."""
        outcome = game.outcome(state)
        if outcome is not None:
            score = Solver.WIN * value_for(outcome, game.player(state))
            distance = self.depth - depth
            return score - distance if score > 0 else score + distance if score < 0 else 0
        if depth == 0:
            return 0
        best = -Solver.WIN - 1
        for action in game.legal_actions(state):
            score = self._score_after(game, state, action, (max(alpha, best), beta), depth)
            best = max(best, score)
            if best >= beta:
                break
        return best
