"""Ratings of many players from the games they played with each other.

The model is Elo's own: the expected score of i against j is 1 / (1 + 10^(-(r(i) - r(j)) / 400)),
plus an advantage of the first move if the games can tell it. Draws are half wins. Where games come
in pairs the ratings need no such advantage, since colours are balanced, and it is estimated after
them: so for two players the difference is the Elo of their match. Errors come from the spread of
the results themselves (the sandwich form), so draws make them smaller, as they should. The two
games of a pair are one result there, since they depend on each other.

Each pairing that met gets one more game, spread evenly over win, draw and loss, in the errors, and
in the ratings only where the played games give no finite ones: who won or lost everything.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zermelo.errors import UserError
from zermelo.statistics.rating import ADDED_GAMES, CONFIDENCE, Score

ELO = 400.0 / math.log(10.0)  # Elo per unit of log odds
POINTS = np.array([0.0, 0.5, 1.0])  # of a loss, a draw and a win
MOST_ODDS = 16.0  # log odds of a meeting (2800 Elo) beyond which a rating is taken as not finite
_STEPS = 200

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Meeting:
    """Games in which `first` moved first; the score is that player's."""

    first: str
    second: str
    score: Score


@dataclass(frozen=True)
class GamePair:
    """Two games from one opening with colours swapped."""

    one: str  # moved first in the first of them
    other: str
    points: tuple[float, float]  # in each game those of the player who moved first


@dataclass(frozen=True)
class Rating:
    """A row of the table. `elo` is None for a player whom no games connect with the anchor."""

    name: str
    elo: float | None
    error: float | None  # standard error, in Elo; 0 for the anchor
    score: Score


@dataclass(frozen=True)
class Ratings:
    """The table, best first, with the covariance of the ratings."""

    rows: tuple[Rating, ...]
    names: tuple[str, ...]  # of the rated players, in the order of the covariance
    covariance: Floats  # [rated, rated], Elo squared; not that of the anchor's own strength
    first_advantage: tuple[float, float] | None  # Elo and standard error; None if not told
    unconnected: tuple[str, ...]  # not rated: no chain of games leads to the others

    def __getitem__(self, name: str) -> Rating:
        for row in self.rows:
            if row.name == name:
                return row
        raise KeyError(name)

    def margin(self, name: str, confidence: float = CONFIDENCE) -> float | None:
        """Half the width of a player's interval, in Elo."""
        error = self[name].error
        return None if error is None else error * NormalDist().inv_cdf(0.5 + confidence / 2.0)

    def difference(self, name: str, other: str) -> tuple[float, float]:
        """Elo of one player above another and its standard error; smaller than from two errors."""
        for given in (name, other):
            if given not in self.names:
                raise UserError(f"there is no rating of '{given}'")
        i, j = self.names.index(name), self.names.index(other)
        spread = self.covariance[i, i] + self.covariance[j, j] - 2.0 * self.covariance[i, j]
        elo, other_elo = self[name].elo, self[other].elo
        assert elo is not None and other_elo is not None
        return elo - other_elo, math.sqrt(max(0.0, float(spread)))

    def los(self, name: str, other: str) -> float:
        """Likelihood that the first of the two is the stronger."""
        elo, error = self.difference(name, other)
        return NormalDist().cdf(elo / error) if error else 0.5

    def to_dict(self, confidence: float = CONFIDENCE) -> dict[str, Any]:
        """Plain values with stable keys, for JSON."""
        return {
            "confidence": confidence,
            "first_advantage": self.first_advantage[0] if self.first_advantage else None,
            "first_advantage_error": self.first_advantage[1] if self.first_advantage else None,
            "unconnected": list(self.unconnected),
            "players": [
                {
                    "name": row.name,
                    "elo": row.elo,
                    "margin": self.margin(row.name, confidence),
                    "games": row.score.games,
                    "score": row.score.score,
                    "wins": row.score.wins,
                    "draws": row.score.draws,
                    "losses": row.score.losses,
                }
                for row in self.rows
            ],
            "names": list(self.names),
            "covariance": self.covariance.tolist(),
        }


def bradley_terry(
    results: Iterable[Meeting],
    anchor: str | None = None,
    anchor_elo: float = 0.0,
    pairs: Iterable[GamePair] = (),
) -> Ratings:
    """Ratings in which the anchor has `anchor_elo`, or without an anchor the mean of all has.

    Players whom no chain of games connects with the anchor (else: with the largest group) are not
    rated. `pairs` says which games of the results belong together; the others stand alone.
    """
    meetings = _added_up(results)
    for meeting in meetings:
        if meeting.first == meeting.second:
            raise UserError(f"'{meeting.first}' cannot play against itself in one rating list")
    everybody = list(dict.fromkeys(n for m in meetings for n in (m.first, m.second)))
    if not everybody:
        raise UserError("there are no games to rate")
    if anchor is not None and anchor not in everybody:
        raise UserError(f"the anchor '{anchor}' has played no games")
    groups = _groups(everybody, meetings)
    rated = next(g for g in groups if anchor in g) if anchor else max(groups, key=len)
    names = [name for name in everybody if name in rated]
    together = Counter(pair for pair in pairs if pair.one in rated)
    fit = _Fit(names, [meeting for meeting in meetings if meeting.first in rated], together)
    shift = _shift(len(names), names.index(anchor) if anchor else None)
    ratings = shift @ fit.ratings * ELO + anchor_elo
    covariance = shift @ fit.covariance @ shift.T * ELO**2
    errors = np.sqrt(np.maximum(0.0, np.diag(covariance)))
    scores = {name: _total(name, meetings) for name in everybody}
    rows = [
        Rating(name, float(elo), float(error), scores[name])
        for name, elo, error in zip(names, ratings, errors, strict=True)
    ]
    rows.sort(key=lambda row: -(row.elo or 0.0))
    unconnected = tuple(name for name in everybody if name not in rated)
    rows += [Rating(name, None, None, scores[name]) for name in unconnected]
    return Ratings(tuple(rows), tuple(names), covariance, fit.first_advantage, unconnected)


def _added_up(results: Iterable[Meeting]) -> list[Meeting]:
    """One meeting for each pairing and colour that was played."""
    scores: dict[tuple[str, str], Score] = {}
    for m in results:
        scores[m.first, m.second] = scores.get((m.first, m.second), Score()) + m.score
    return [Meeting(*names, score) for names, score in scores.items() if score.games]


class _Fit:
    """Maximum likelihood with player 0 at 0, in log odds; covariance of all ratings."""

    def __init__(
        self, names: Sequence[str], meetings: Sequence[Meeting], pairs: Mapping[GamePair, int]
    ) -> None:
        design, self._played = _table(names, meetings)
        self._added = _added_games(meetings)
        self._paired = _paired(meetings, self._played + self._added, pairs)
        players = len(names) - 1
        # The last column is the first move. It can be told only if some pairing had both sides.
        told = np.linalg.matrix_rank(design) == players + 1
        in_pairs = 4 * self._paired.times.sum() >= self._played.sum()  # most games are
        start = np.zeros(len(meetings))
        columns = design if told and not in_pairs else design[:, :players]
        found, covariance = self._estimate(columns, start)
        self.ratings: Floats = np.concatenate([[0.0], found[:players]])
        self.covariance: Floats = np.zeros((players + 1, players + 1))
        self.covariance[1:, 1:] = covariance[:players, :players]
        self.first_advantage: tuple[float, float] | None = None
        if told:
            if in_pairs:
                found, covariance = self._estimate(design[:, players:], columns @ found)
            error = math.sqrt(max(0.0, float(covariance[-1, -1])))
            self.first_advantage = float(found[-1]) * ELO, error * ELO

    def _estimate(self, design: Floats, start: Floats) -> tuple[Floats, Floats]:
        """The parameters and their covariance; `start` is what the log odds are without them."""
        counts = self._played + self._added
        found = _solve(design, start, self._played)
        if found is None:
            found = _solve(design, start, counts)
            assert found is not None
        return found, _sandwich(design, counts, start + design @ found, self._paired)


def _table(names: Sequence[str], meetings: Sequence[Meeting]) -> tuple[Floats, Floats]:
    """Columns (players but the first, first move) and losses, draws, wins for each meeting."""
    index = {name: i for i, name in enumerate(names)}
    design = np.zeros((len(meetings), len(names) + 1))
    for row, m in enumerate(meetings):
        design[row, index[m.first]] = 1.0
        design[row, index[m.second]] = -1.0
    design[:, -1] = 1.0
    return design[:, 1:], np.array([m.score.counts for m in meetings], np.float64)


def _added_games(meetings: Sequence[Meeting]) -> Floats:
    """One game for each pairing, shared by its colours and spread evenly over the results."""
    games: Counter[frozenset[str]] = Counter()
    for m in meetings:
        games[frozenset((m.first, m.second))] += m.score.games
    shares = [m.score.games / games[frozenset((m.first, m.second))] for m in meetings]
    return np.repeat(np.array(shares)[:, None] * ADDED_GAMES / 3.0, 3, axis=1)


@dataclass(frozen=True)
class _Paired:
    """Rows of the table and results (0 loss, 1 draw, 2 win) of both games, and how often."""

    rows: NDArray[np.int64]  # [kinds, 2]
    results: NDArray[np.int64]  # [kinds, 2]
    times: Floats  # [kinds]
    single: Floats  # [rows, 3] counts of the games that are in no pair


def _paired(meetings: Sequence[Meeting], counts: Floats, pairs: Mapping[GamePair, int]) -> _Paired:
    row_of = {(m.first, m.second): row for row, m in enumerate(meetings)}
    rows = np.zeros((len(pairs), 2), np.int64)
    results = np.zeros((len(pairs), 2), np.int64)
    times = np.array(list(pairs.values()), np.float64)
    for kind, pair in enumerate(pairs):
        for game, seats in enumerate(((pair.one, pair.other), (pair.other, pair.one))):
            if seats not in row_of:
                raise UserError(f"a pair of {pair.one} and {pair.other} is not among the results")
            rows[kind, game] = row_of[seats]
            results[kind, game] = round(2 * pair.points[game])
    single = counts.copy()
    np.subtract.at(single, (rows, results), times[:, None])
    if (single < 0).any():
        raise UserError("there are more games in pairs than results")
    return _Paired(rows, results, times, single)


def _solve(design: Floats, start: Floats, counts: Floats) -> Floats | None:
    """The most likely parameters, by Newton's method; None if they are not finite."""
    games = counts.sum(1)
    points = counts @ POINTS
    found = np.zeros(design.shape[1])
    fit = -math.inf
    for _ in range(_STEPS):
        expected = _logistic(start + design @ found)
        curvature = design.T @ (design * (games * expected * (1.0 - expected))[:, None])
        step = np.linalg.solve(curvature, design.T @ (points - games * expected))
        while (better := _fit_of(start + design @ (found + step), points, games)) < fit - 1e-9:
            step = step / 2.0
        found, fit = found + step, better
        if np.abs(start + design @ found).max() > MOST_ODDS:
            return None
        if np.abs(step).max() < 1e-10:
            break
    return found


def _sandwich(design: Floats, counts: Floats, odds: Floats, paired: _Paired) -> Floats:
    """The covariance of the parameters: by single games, and by the sums of both games of pairs."""
    expected = _logistic(odds)
    information = counts.sum(1) * expected * (1.0 - expected)
    bread = np.linalg.inv(design.T @ (design * information[:, None]))
    above = POINTS - expected[:, None]  # [rows, 3]: points of each result beyond what is expected
    squares = (paired.single * above**2).sum(1)
    spread = design.T @ (design * squares[:, None])
    residuals = above[paired.rows, paired.results]  # [kinds, 2]
    sums = (design[paired.rows] * residuals[..., None]).sum(1)  # [kinds, parameters]
    spread += sums.T @ (sums * paired.times[:, None])
    # The parameters were fitted to the same results, which makes these look closer than they are.
    results = paired.single.sum() + paired.times.sum()
    freedom = max(1.0, results - design.shape[1])
    return np.asarray(bread @ spread @ bread * (results / freedom))


def _logistic(x: Floats) -> Floats:
    return 0.5 + 0.5 * np.tanh(x / 2.0)


def _fit_of(odds: Floats, points: Floats, games: Floats) -> float:
    """Log-likelihood; draws count as half a win and half a loss."""
    return float((points * odds - games * np.logaddexp(0.0, odds)).sum())


def _shift(players: int, anchor: int | None) -> Floats:
    """The matrix that moves ratings so that the anchor, or the mean, is 0."""
    shift = np.eye(players)
    if anchor is None:
        return shift - 1.0 / players
    shift[:, anchor] -= 1.0
    return shift


def _groups(names: Sequence[str], meetings: Sequence[Meeting]) -> list[set[str]]:
    """Players connected by games."""
    group = {name: {name} for name in names}
    for m in meetings:
        joined = group[m.first] | group[m.second]
        for name in joined:
            group[name] = joined
    return list({id(members): members for members in group.values()}.values())


def _total(name: str, meetings: Sequence[Meeting]) -> Score:
    total = Score()
    for m in meetings:
        if m.first == name:
            total += m.score
        elif m.second == name:
            total += m.score.reversed()
    return total
