"""Zermelo learns a board game from nothing by playing itself."""

from zermelo.games import Outcome, game, game_names

__version__ = "0.1.0"
__all__ = ["Outcome", "game", "game_names"]
