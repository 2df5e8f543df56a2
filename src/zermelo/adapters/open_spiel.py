"""One of our players as an OpenSpiel bot, so that OpenSpiel's agents can meet it.

The game's rules are `games/open_spiel.py`'s, or our own where both number actions alike; this file
knows the bot's side alone.
"""

from __future__ import annotations

from typing import Any

import pyspiel

from zermelo.errors import UserError
from zermelo.front.player import LoadedPlayer
from zermelo.games.open_spiel import OpenSpielGame, SpielState
from zermelo.games.protocol import Game, State
from zermelo.players import Player
from zermelo.players.protocol import StartsGames

# Our own games, by OpenSpiel's names of those with the same rules and the same numbers of actions.
SAME = {"connect4": "connect_four", "othello": "othello", "tictactoe": "tic_tac_toe"}


class ZermeloBot(pyspiel.Bot):  # type: ignore[misc]
    """Asks one of our players. Its policy is the search's visits, if it searches."""

    def __init__(self, game: Game, player: Player) -> None:
        super().__init__()
        self.game = game
        self.player = player

    def restart(self) -> None:
        """A new game begins."""
        if isinstance(self.player, StartsGames):
            self.player.start_game()

    def restart_at(self, state: Any) -> None:
        """A new game begins, in that position."""
        del state
        self.restart()

    def provides_policy(self) -> bool:
        """Whether `step_with_policy` is meaningful."""
        return isinstance(self.player, LoadedPlayer)

    def step(self, state: Any) -> int:
        """The action that it plays in OpenSpiel's state."""
        return self.player.choose(self.game, self._own(state))

    def step_with_policy(self, state: Any) -> tuple[list[tuple[int, float]], int]:
        """Shares of the visits, and the action."""
        action = self.step(state)
        if not isinstance(self.player, LoadedPlayer):
            return [(action, 1.0)], action
        result = self.player.searcher.result
        assert result is not None
        return list(zip(result.actions.tolist(), result.policy().tolist(), strict=True)), action

    def _own(self, state: Any) -> State:
        """OpenSpiel's state as the player's game has it."""
        if isinstance(self.game, OpenSpielGame):
            return SpielState(self.game, state.clone(), 1 - max(0, state.current_player()))
        theirs = state.get_game()
        name, board = theirs.get_type().short_name, theirs.observation_tensor_shape()[1:]
        if name != SAME[self.game.name] or tuple(board) != tuple(self.game.observation_shape[1:]):
            raise UserError(f"this bot plays {SAME[self.game.name]}, not {theirs}")
        own = self.game.initial()
        for action in state.history():
            own = self.game.play(own, action)
        return own


def bot(player: LoadedPlayer | Player, game: Game | None = None) -> ZermeloBot:
    """The bot of a player that `zermelo.load` made for a game of OpenSpiel, or one of `SAME`.

    Players that were not made by `load` need `game`.
    """
    rules: Any = game if game is not None else getattr(player, "game", None)
    if not isinstance(rules, OpenSpielGame) and getattr(rules, "name", None) not in SAME:
        raise UserError(
            "an OpenSpiel bot needs a player of an OpenSpiel game, open_spiel:NAME, or of "
            f"{', '.join(SAME)}"
        )
    return ZermeloBot(rules, player)
