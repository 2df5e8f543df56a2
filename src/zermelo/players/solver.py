"""Exact results of small games by exhaustive search. Each position is looked at once."""

from __future__ import annotations

from zermelo.errors import UserError
from zermelo.games.protocol import Game, State, state_hash, value_for


class Solver:
    """Scores positions of one game.

    A score is for the player to move: `WIN - distance` for a win, `distance - WIN` for a loss, 0
    for a draw, with the distance to the end in plies; so the best score is the shortest win or
    the longest loss. Positions must not come back, or the search would not end.
    """

    WIN = 10_000

    def __init__(self, game: Game, max_positions: int = 500_000) -> None:
        self.game = game
        self.max_positions = max_positions
        self._scores: dict[int, int] = {}

    def solve(self, state: State) -> int:
        """The score of a position under best play."""
        outcome = self.game.outcome(state)
        if outcome is not None:
            return self.WIN * value_for(outcome, self.game.player(state))
        key = state_hash(self.game, state)
        if key not in self._scores:
            if len(self._scores) >= self.max_positions:
                raise UserError(f"{self.game.name} is too large to be solved exhaustively")
            try:
                self._scores[key] = max(self.analyse(state).values())
            except RecursionError:
                raise UserError(f"{self.game.name} is too long to be solved") from None
        return self._scores[key]

    def analyse(self, state: State) -> dict[int, int]:
        """The score of each legal action, for the player to move."""
        player = self.game.player(state)
        scores = {}
        for action in self.game.legal_actions(state):
            after = self.game.play(state, action)
            score = one_ply_further(self.solve(after))
            scores[action] = score if self.game.player(after) == player else -score
        return scores


def one_ply_further(score: int) -> int:
    """The same result, one ply further away."""
    return score - (score > 0) + (score < 0)
