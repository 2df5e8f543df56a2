"""Games against an engine's levels of known strength: the rating that the results speak for.

The levels are met near the present strength only, so a few dozen games are enough; the next
checkpoint begins where the last one was found. How ratings follow from results is
`statistics.performance`'s.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from zermelo.errors import UserError
from zermelo.evaluator import Evaluator
from zermelo.games.parameters import split_spec
from zermelo.games.protocol import Game
from zermelo.matches.adjudicate import AdjudicateOptions
from zermelo.matches.game_record import Failure
from zermelo.matches.match import colour_split
from zermelo.matches.openings import make_openings
from zermelo.matches.pairing import Task
from zermelo.matches.play_game import Contestants, Table
from zermelo.players import Player
from zermelo.players.registry import ENGINE
from zermelo.search import SearchOptions
from zermelo.statistics import Score
from zermelo.statistics.performance import most_telling, performance
from zermelo.yardsticks.choosers import Budget, ChooserPlayer, Poll, SearchChooser
from zermelo.yardsticks.games import MOST_FAILURES, opponents_failure

NAME = "performance"
RATING = "UCI_Elo"  # the engine's option that sets its rating
HOPELESS = 6  # games at the lowest or highest level, all lost or all won, that are enough


def rating_of(opponent: str) -> float | None:
    """The rating that an engine is asked to play at; None of other players."""
    if not opponent.startswith(ENGINE):
        return None
    text = split_spec(opponent)[1].get(RATING)
    try:
        return None if text is None else float(text)
    except ValueError:
        raise UserError(f"'{opponent}': {RATING} is '{text}', not a number") from None


def levels_among(opponents: Sequence[str]) -> dict[float, str]:
    """The engines with a rating, if there are several; two of one rating are refused."""
    found: dict[float, str] = {}
    for opponent in opponents:
        rating = rating_of(opponent)
        if rating is None:
            continue
        if rating in found:
            raise UserError(f"'{found[rating]}' and '{opponent}' have the same {RATING}")
        found[rating] = opponent
    return found if len(found) > 1 else {}


@dataclass
class LevelsYardstick:
    """The performance of a network's search against levels. All levels together get the games."""

    game: Game
    levels: dict[float, str]  # players by their rating
    games: int = 20
    simulations: int = 100
    search: SearchOptions | None = None
    openings: str = "random:4"
    max_plies: int = 300
    seed: int = 0
    near: float | None = field(default=None, init=False)  # what was found last

    @property
    def name(self) -> str:
        """The prefix of its metrics."""
        return NAME

    def run(
        self, evaluator: Evaluator, budget_seconds: float = 0.0, poll: Poll | None = None
    ) -> dict[str, float]:
        """As many pairs as there is time for, each against the level that tells most."""
        budget = Budget(budget_seconds, poll)
        chooser = SearchChooser(self.game, evaluator, self.simulations, self.search)
        ratings = sorted(self.levels)
        specs: list[str | Player] = [ChooserPlayer(chooser, poll=poll)]
        specs += [self.levels[rating] for rating in ratings]
        names = ("network", *(f"{rating:g}" for rating in ratings))
        adjudication = AdjudicateOptions(max_plies=self.max_plies)
        table = Table(self.game, Contestants(tuple(specs), names), adjudication)
        results = {rating: Score() for rating in ratings}
        failures: list[Failure] = []
        slowest = 0.0  # seconds of a pair
        openings = make_openings(self.game, self.openings, (self.games + 1) // 2, self.seed)
        try:
            for pair, opening in enumerate(openings):
                enough = budget.enough_for(slowest)
                if (pair and not enough) or len(failures) >= MOST_FAILURES or hopeless(results):
                    break
                started = budget.spent
                rating = most_telling(results, self.near)
                level = ratings.index(rating) + 1
                seats = ((0, level), (level, 0))
                tasks = [Task(2 * pair + k, pair, seats[k], opening, self.seed) for k in (0, 1)]
                records = [table.play(task)[0] for task in tasks]
                failed = [f for record in records if (f := opponents_failure(record)) is not None]
                failures += failed
                if not failed:
                    results[rating] += colour_split(records, 0).total
                slowest = max(slowest, budget.spent - started)
        finally:
            table.close()
        if failures and not any(score.games for score in results.values()):
            raise UserError(f"the levels failed in every game: {failures[-1].text}")
        found = performance(results)
        self.near = found.elo
        return figures(results) | ({f"{NAME}.failures": float(len(failures))} if failures else {})


def hopeless(results: dict[float, Score]) -> bool:
    """Whether the lowest level wins every game, or the highest loses every one."""
    ratings = sorted(results)
    lowest, highest = results[ratings[0]], results[ratings[-1]]
    beaten = lowest.games >= HOPELESS and lowest.points == 0
    return beaten or (highest.games >= HOPELESS and highest.points == highest.games)


def figures(results: dict[float, Score]) -> dict[str, float]:
    """The estimate with its 95 % interval, and the scores behind it."""
    found = performance(results)
    scores: dict[str, float] = {}
    for rating, score in sorted(results.items()):
        if score.games:
            scores[f"{NAME}.{rating:g}.score"] = score.score
            scores[f"{NAME}.{rating:g}.games"] = float(score.games)
    return {
        f"{NAME}.elo": found.elo,
        f"{NAME}.low": found.low,
        f"{NAME}.high": found.high,
        f"{NAME}.games": float(found.games),
        **scores,
    }


def performance_text(figures: Mapping[str, float]) -> str:
    """For one line: `performance 1,740 (1,650 to 1,830)`."""
    low, high = figures.get(f"{NAME}.low", 0.0), figures.get(f"{NAME}.high", 0.0)
    return f"performance {figures[f'{NAME}.elo']:,.0f} ({low:,.0f} to {high:,.0f})"
