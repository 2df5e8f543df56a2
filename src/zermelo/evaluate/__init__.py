"""How strong a player is: ratings with intervals, sequential tests, suites of positions."""

from zermelo.evaluate.bradley_terry import GamePair, Meeting, Rating, Ratings, bradley_terry
from zermelo.evaluate.elo import elo_of, score_of
from zermelo.evaluate.rating import ColourSplit, Pentanomial, Score
from zermelo.evaluate.sprt import Sprt, SprtState

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
