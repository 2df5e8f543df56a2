"""Games: the native ones by name, and any object that speaks the protocol of six methods."""

from zermelo.games.protocol import Game, Outcome, State
from zermelo.games.registry import game, game_names, register
from zermelo.games.symmetries import board_symmetries

__all__ = ["Game", "Outcome", "State", "board_symmetries", "game", "game_names", "register"]
