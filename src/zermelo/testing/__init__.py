"""Shipped to those who write games: proves a game sound, and a hash that stands for a network."""

from zermelo.testing.check_game import Check, Report, check_game
from zermelo.testing.hash_evaluator import HashEvaluator

__all__ = ["Check", "HashEvaluator", "Report", "check_game"]
