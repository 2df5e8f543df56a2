"""What a match says about strength: score, Elo with an interval, likelihood of superiority.

`Score` counts games, `Pentanomial` counts pairs of games from one opening with colours swapped. The
games of a pair are not independent, so pairs give the honest interval. Knows results, no players.

The interval holds every mean score whose likelihood is not too far below the best (see
`likelihood.py`), after one game was added that is spread evenly over the possible results. That
game keeps both ends finite at 0 % and 100 %, and makes short matches cover: see
`docs/guide/statistics.md`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zermelo.errors import UserError
from zermelo.statistics.elo import elo_of
from zermelo.statistics.likelihood import means_within
from zermelo.statistics.sprt import Sprt, SprtState

ADDED_GAMES = 1.0  # spread evenly over the possible results
CONFIDENCE = 0.95


def _mean(counts: ArrayLike, values: ArrayLike) -> float:
    return float(np.dot(counts, values) / np.sum(counts))


def _check_counts(counts: Sequence[int], what: str) -> None:
    if any(count < 0 for count in counts):
        raise UserError(f"{what} cannot have the negative count {min(counts)}")


def with_added_game(counts: ArrayLike) -> NDArray[np.float64]:
    """Counts [..., 3 or 5] of games or pairs, and one game spread evenly over the results."""
    given: NDArray[np.float64] = np.asarray(counts, np.float64)
    classes = given.shape[-1]
    games_each = classes // 2
    return np.asarray(given + ADDED_GAMES / games_each / classes)


def score_intervals(
    counts: ArrayLike, values: Sequence[float], confidence: float = CONFIDENCE
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The mean scores that counts [..., 3 or 5] allow: lower and upper ends [...]."""
    if not 0.0 < confidence < 1.0:
        raise UserError(f"confidence is {confidence}, not between 0 and 1")
    z = NormalDist().inv_cdf(0.5 + confidence / 2.0)
    return means_within(with_added_game(counts), values, z * z / 2.0)


class Counted:
    """What `Score` and `Pentanomial` share. Counts go from the worst result to the best."""

    @property
    def counts(self) -> tuple[int, ...]:
        """How often each result came, the worst first."""
        raise NotImplementedError

    @property
    def values(self) -> tuple[float, ...]:
        """Points per game of each result, 0 to 1."""
        raise NotImplementedError

    @property
    def games(self) -> int:
        """Games played."""
        raise NotImplementedError

    @property
    def score(self) -> float:
        """Points per game; 0.5 before the first game."""
        total = sum(self.counts)
        return _mean(self.counts, self.values) if total else 0.5

    @property
    def elo(self) -> float:
        """-400 log10(1/s - 1); at 0 % and 100 % of the score with the added game, so finite."""
        score = self.score
        return elo_of(
            score if 0.0 < score < 1.0 else _mean(with_added_game(self.counts), self.values)
        )

    def score_interval(self, confidence: float = CONFIDENCE) -> tuple[float, float]:
        """The mean scores that the results allow."""
        low, high = score_intervals(self.counts, self.values, confidence)
        return float(low), float(high)

    def interval(self, confidence: float = CONFIDENCE) -> tuple[float, float]:
        """Elo differences that the results allow; both ends are finite."""
        low, high = self.score_interval(confidence)
        return elo_of(low), elo_of(high)

    def margin(self, confidence: float = CONFIDENCE) -> float:
        """Half the interval's width in Elo, for `Elo +12 ± 9`."""
        low, high = self.interval(confidence)
        return (high - low) / 2.0

    @property
    def los(self) -> float:
        """Likelihood of superiority: for games 1/2 + 1/2 erf((W - L) / sqrt(2 (W + L))).

        Pairs use the same formula, with points above an even result in place of W - L and their
        squares in place of W + L.
        """
        above = [2.0 * value - 1.0 for value in self.values]
        lead = sum(n * x for n, x in zip(self.counts, above, strict=True))
        squares = sum(n * x * x for n, x in zip(self.counts, above, strict=True))
        return 0.5 + 0.5 * math.erf(lead / math.sqrt(2.0 * squares)) if squares else 0.5

    def sprt(self, elo0: float, elo1: float, alpha: float = 0.05, beta: float = 0.05) -> SprtState:
        """Where a sequential test of `elo1` against `elo0` stands."""
        return Sprt(elo0, elo1, alpha, beta).state(self.counts, self.values)

    def to_dict(self, confidence: float = CONFIDENCE) -> dict[str, Any]:
        """Plain values with stable keys, for JSON."""
        low, high = self.interval(confidence)
        return {
            "games": self.games,
            "score": self.score,
            "elo": self.elo,
            "elo_low": low,
            "elo_high": high,
            "confidence": confidence,
            "los": self.los,
        }


@dataclass(frozen=True)
class Score(Counted):
    """Wins, draws and losses of one player."""

    wins: int = 0
    draws: int = 0
    losses: int = 0

    def __post_init__(self) -> None:
        _check_counts(self.counts, "a score")

    @classmethod
    def of(cls, points: Iterable[float]) -> Score:
        """From the points of each game: 1, 0.5 or 0."""
        won = list(points)
        if any(point not in (0.0, 0.5, 1.0) for point in won):
            raise UserError("a game gives 0, 0.5 or 1 points")
        return cls(won.count(1.0), won.count(0.5), won.count(0.0))

    @property
    def counts(self) -> tuple[int, ...]:
        """Losses, draws, wins."""
        return (self.losses, self.draws, self.wins)

    @property
    def values(self) -> tuple[float, ...]:
        """Points of a loss, a draw and a win."""
        return (0.0, 0.5, 1.0)

    @property
    def games(self) -> int:
        """Games played."""
        return self.wins + self.draws + self.losses

    @property
    def points(self) -> float:
        """A draw is half a point."""
        return self.wins + self.draws / 2

    def reversed(self) -> Score:
        """The opponent's score."""
        return Score(self.losses, self.draws, self.wins)

    def __add__(self, other: Score) -> Score:
        return Score(self.wins + other.wins, self.draws + other.draws, self.losses + other.losses)

    def __str__(self) -> str:
        return f"+{self.wins} -{self.losses} ={self.draws}"

    def to_dict(self, confidence: float = CONFIDENCE) -> dict[str, Any]:
        """Plain values with stable keys, for JSON."""
        counts = {"wins": self.wins, "draws": self.draws, "losses": self.losses}
        return counts | super().to_dict(confidence)


@dataclass(frozen=True)
class Pentanomial(Counted):
    """How many pairs of games gave one player 0, 0.5, 1, 1.5 and 2 points."""

    pairs: tuple[int, int, int, int, int] = (0, 0, 0, 0, 0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "pairs", tuple(self.pairs))
        if len(self.pairs) != 5:
            raise UserError(f"pairs have five results (0 to 2 points), not {len(self.pairs)}")
        _check_counts(self.pairs, "pairs")

    @classmethod
    def of(cls, points: Iterable[float]) -> Pentanomial:
        """From the points of each pair: 0, 0.5, 1, 1.5 or 2."""
        counts = [0] * 5
        for point in points:
            if point not in (0.0, 0.5, 1.0, 1.5, 2.0):
                raise UserError(f"a pair of games gives 0, 0.5, 1, 1.5 or 2 points, not {point}")
            counts[round(2 * point)] += 1
        return cls((counts[0], counts[1], counts[2], counts[3], counts[4]))

    @property
    def counts(self) -> tuple[int, ...]:
        """Pairs with 0, 0.5, 1, 1.5 and 2 points."""
        return self.pairs

    @property
    def values(self) -> tuple[float, ...]:
        """Points per game."""
        return (0.0, 0.25, 0.5, 0.75, 1.0)

    @property
    def games(self) -> int:
        """Games played: two for each pair."""
        return 2 * sum(self.pairs)

    def to_dict(self, confidence: float = CONFIDENCE) -> dict[str, Any]:
        """Plain values with stable keys, for JSON."""
        return {"pairs": list(self.pairs)} | super().to_dict(confidence)


# A player's points in the two games from one opening: where it moved first, and second.
PairPoints = tuple[float, float]


@dataclass(frozen=True)
class ColourSplit:
    """One player's results by who moved first, and by pairs where games came in pairs."""

    first: Score = Score()  # games in which the player moved first
    second: Score = Score()
    pairs: Pentanomial = Pentanomial()

    @classmethod
    def of_pairs(cls, pairs: Iterable[PairPoints]) -> ColourSplit:
        """From whole pairs."""
        games = list(pairs)
        first, second = [first for first, _ in games], [second for _, second in games]
        return cls(Score.of(first), Score.of(second), Pentanomial.of(map(sum, games)))

    @property
    def total(self) -> Score:
        """All games."""
        return self.first + self.second

    @property
    def best(self) -> Counted:
        """What to judge by: the whole pairs if there are any, else the single games.

        So a game whose partner is still being played does not turn pairs into single games.
        """
        return self.pairs if self.pairs.games else self.total

    @property
    def elo_text(self) -> str:
        """`+107.5 ± 210.3 (-83.1 to +337.5)`; half the width is for those who know such lines.

        The ends are the interval: it is not centred on the Elo.
        """
        best = self.best
        low, high = best.interval()
        judged = "" if best.games == self.total.games else f"; {best.games} games in whole pairs"
        return f"{best.elo:+.1f} ± {best.margin():.1f} ({low:+.1f} to {high:+.1f}{judged})"

    def __str__(self) -> str:
        """As chess people know it: `+5 -2 =3, 65.0 %, Elo +107.5 ± 210.3 (...), LOS 87.2 % ...`."""
        return (
            f"{self.total}, {self.total.score:.1%}, Elo {self.elo_text}, "
            f"LOS {self.best.los:.1%}, P1-W: {self.first}, P1-B: {self.second}"
        )

    def to_dict(self, confidence: float = CONFIDENCE) -> dict[str, Any]:
        """Games and score of all, Elo and interval of those that are judged, and both colours."""
        total = self.total.to_dict(confidence)
        return total | {
            **self.best.to_dict(confidence),
            "games": self.total.games,
            "score": self.total.score,
            "judged_games": self.best.games,
            "pairs": list(self.pairs.pairs),
            "first": self.first.to_dict(confidence),
            "second": self.second.to_dict(confidence),
        }
