"""Players: whoever chooses an action. `player("minimax?depth=4", game)` finds one by its text."""

from zermelo.players.protocol import Player
from zermelo.players.registry import player, player_names, register_player

__all__ = ["Player", "player", "player_names", "register_player"]
