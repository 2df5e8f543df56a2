"""Games: the native ones by name, and any object that speaks the protocol of six methods."""

from zermelo.games.protocol import Game, Outcome, State
from zermelo.games.registry import game, game_names, register

__all__ = ["Game", "Outcome", "State", "game", "game_names", "register"]
