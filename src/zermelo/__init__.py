"""Zermelo learns a board game from nothing by playing itself."""

from zermelo.games import Outcome, board_symmetries, game, game_names

__version__ = "0.1.0"
__all__ = ["Outcome", "board_symmetries", "game", "game_names"]
