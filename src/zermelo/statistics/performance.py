"""The rating that results against opponents of known ratings speak for, with its interval.

A player of rating r scores `score_of(r - opponent)` on average; a draw counts as half a win and
half a loss. The estimate is the most likely rating under a wide prior, which matters only where all
games were won or lost. Games are taken as independent. Knows no game.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from zermelo.statistics.elo import score_of
from zermelo.statistics.rating import Score

PRIOR_SPREAD = 500.0  # Elo, standard deviation around the middle of the opponents' ratings
REACH = 2000  # Elo beyond the opponents that is looked at
OUTSIDE = 0.025  # of the probability on either side of the interval


@dataclass(frozen=True)
class Performance:
    """A rating on the opponents' scale."""

    elo: float
    low: float  # of the 95 % interval
    high: float
    games: int


def performance(results: Mapping[float, Score]) -> Performance:
    """Of results by the opponent's rating; ratings of which there are no games count too."""
    ratings = np.array(sorted(results), np.float64)
    middle = (ratings[0] + ratings[-1]) / 2
    grid = np.arange(ratings[0] - REACH, ratings[-1] + REACH + 1)
    likelihood = -0.5 * ((grid - middle) / PRIOR_SPREAD) ** 2
    for rating in ratings:
        score = results[float(rating)]
        distance = (grid - rating) * np.log(10) / 400
        won, lost = -np.logaddexp(0, -distance), -np.logaddexp(0, distance)
        likelihood += score.points * won + (score.games - score.points) * lost
    density = np.exp(likelihood - likelihood.max())
    below = np.cumsum(density) / density.sum()
    low, high = (float(grid[np.searchsorted(below, share)]) for share in (OUTSIDE, 1 - OUTSIDE))
    games = sum(score.games for score in results.values())
    return Performance(float(grid[likelihood.argmax()]), low, high, games)


def most_telling(results: Mapping[float, Score], near: float | None = None) -> float:
    """The rating of the opponent that the next games should be against.

    Of the two whose results are least certain at the rating estimated so far (`near`, if there are
    no games), the one met less often: so no single opponent's own rating decides.
    """
    played = any(score.games for score in results.values())
    ratings = sorted(results)
    at = performance(results).elo if played else near
    if at is None:
        return ratings[len(ratings) // 2]
    uncertain = sorted(ratings, key=lambda rating: abs(score_of(at - rating) - 0.5))
    if not played:
        return uncertain[0]
    return min(uncertain[:2], key=lambda rating: results[rating].games)
