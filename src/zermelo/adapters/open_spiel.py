"""One of our players as an OpenSpiel bot, so that OpenSpiel's agents can meet it.

The game's rules are `games/open_spiel.py`'s; this file knows the bot's side alone.
"""

from __future__ import annotations

from typing import Any

import pyspiel

from zermelo.errors import UserError
from zermelo.front.player import LoadedPlayer
from zermelo.games.open_spiel import OpenSpielGame, SpielState
from zermelo.players import Player
from zermelo.players.protocol import StartsGames


class ZermeloBot(pyspiel.Bot):  # type: ignore[misc]
    """Asks one of our players. Its policy is the search's visits, if it searches."""

    def __init__(self, game: OpenSpielGame, player: Player) -> None:
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
        own = SpielState(self.game, state.clone(), 1 - max(0, state.current_player()))
        return self.player.choose(self.game, own)

    def step_with_policy(self, state: Any) -> tuple[list[tuple[int, float]], int]:
        """Shares of the visits, and the action."""
        action = self.step(state)
        if not isinstance(self.player, LoadedPlayer):
            return [(action, 1.0)], action
        result = self.player.searcher.result
        assert result is not None
        return list(zip(result.actions.tolist(), result.policy().tolist(), strict=True)), action


def bot(player: LoadedPlayer | Player, game: OpenSpielGame | None = None) -> ZermeloBot:
    """The bot of a player that `zermelo.load` made for an OpenSpiel game; others need `game`."""
    rules = game if game is not None else getattr(player, "game", None)
    if not isinstance(rules, OpenSpielGame):
        raise UserError("an OpenSpiel bot needs a player of an OpenSpiel game: open_spiel:NAME")
    return ZermeloBot(rules, player)
