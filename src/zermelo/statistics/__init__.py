"""Ratings with intervals and sequential tests, from points alone; knows no game and no player."""

from zermelo.statistics.bradley_terry import GamePair, Meeting, Rating, Ratings, bradley_terry
from zermelo.statistics.elo import elo_of, score_of
from zermelo.statistics.rating import ColourSplit, Pentanomial, Score
from zermelo.statistics.sprt import Sprt, SprtState

__all__ = [
    "ColourSplit",
    "GamePair",
    "Meeting",
    "Pentanomial",
    "Rating",
    "Ratings",
    "Score",
    "Sprt",
    "SprtState",
    "bradley_terry",
    "elo_of",
    "score_of",
]
