"""Games against fixed opponents, many side by side: paired openings, a score with its interval."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from zermelo.errors import UserError
from zermelo.evaluator import Evaluator
from zermelo.games.parameters import split_spec
from zermelo.games.protocol import Game, State, value_for
from zermelo.matches.adjudicate import AdjudicateOptions
from zermelo.matches.game_record import Failure, GameRecord
from zermelo.matches.match import colour_split
from zermelo.matches.openings import Opening, make_openings
from zermelo.matches.pairing import make_tasks, match_pairs
from zermelo.matches.play_game import Contestants, Table
from zermelo.players import player as find_player
from zermelo.players.search_player import RolloutPlayer
from zermelo.search import RolloutEvaluator, SearchOptions
from zermelo.statistics.rating import ColourSplit, PairPoints
from zermelo.yardsticks.choosers import (
    Budget,
    Chooser,
    ChooserPlayer,
    PolicyChooser,
    Poll,
    RandomChooser,
    SearchChooser,
)

OWN_POLICY = "policy"  # the network that is measured, without its search
FIRST_PAIRS = 2  # played before the time of a pair is known
MOST_FAILURES = 4  # games in which an opponent may fail before it is left alone


@dataclass
class _Board:
    """One game under way; `ours` is the seat of the first chooser."""

    ours: int
    state: State
    plies: int
    points: float | None = None  # of the first chooser


def play_pairs(
    game: Game,
    choosers: tuple[Chooser, Chooser],
    openings: Sequence[Opening],
    max_plies: int = 512,
    poll: Poll | None = None,
) -> list[PairPoints]:
    """Two games from each opening, colours swapped, all moved on together; for the first."""
    boards = []
    for opening in openings:
        state = opening.states(game)[-1]
        boards += [_Board(seat, state, len(opening.actions)) for seat in (0, 1)]
    while True:
        for board in boards:
            if board.points is None:
                board.points = _points(game, board, max_plies)
        going = [board for board in boards if board.points is None]
        if not going:
            return _pairs(boards)
        if poll is not None:
            poll()
        ours = [board for board in going if game.player(board.state) == board.ours]
        theirs = [board for board in going if game.player(board.state) != board.ours]
        for chooser, moving in zip(choosers, (ours, theirs), strict=True):
            if moving:
                choices = chooser.choose([board.state for board in moving])
                for board, choice in zip(moving, choices, strict=True):
                    board.state = game.play(board.state, choice.action)
                    board.plies += 1


def play_within(
    game: Game,
    choosers: tuple[Chooser, Chooser],
    openings: Sequence[Opening],
    budget: Budget,
    max_plies: int = 512,
) -> list[PairPoints]:
    """The same for as many openings as there is time for: a few pairs tell how many that is."""
    pairs: list[PairPoints] = []
    while (played := len(pairs)) < len(openings):
        a_pair = budget.spent / played if played else 0.0
        if played and not budget.enough_for(a_pair):
            break
        size = FIRST_PAIRS
        while played and played + size < len(openings) and budget.enough_for(size * a_pair):
            size += 1
        part = openings[played : played + size]
        pairs += play_pairs(game, choosers, part, max_plies, budget.poll)
    return pairs


def _points(game: Game, board: _Board, max_plies: int) -> float | None:
    """None while the game goes on."""
    outcome = game.outcome(board.state)
    if outcome is None:
        return 0.5 if board.plies >= max_plies else None
    return (1 + value_for(outcome, board.ours)) / 2


def _pairs(boards: Sequence[_Board]) -> list[PairPoints]:
    """Of the first chooser, whose seats alternate."""
    points = [board.points or 0.0 for board in boards]
    return list(zip(points[::2], points[1::2], strict=True))


def label_of(spec: str) -> str:
    """An opponent as the prefix of metrics: `rollout?simulations=200` is `rollout_200`.

    `perfect` is a yardstick of its own (see `yardstick_perfect.py`), so as an opponent that player
    has another name.
    """
    name, given = split_spec(spec)
    words = ["perfect_player" if name == "perfect" else name, *given.values()]
    return re.sub(r"[^A-Za-z0-9]+", "_", "_".join(words)).strip("_")


@dataclass
class OpponentYardstick:
    """The score of a network's search against one opponent."""

    game: Game
    opponent: str  # as the registry of players spells it, or `policy`
    games: int = 20
    simulations: int = 100
    search: SearchOptions | None = None
    openings: str = "random:4"
    max_plies: int = 300
    seed: int = 0

    @property
    def name(self) -> str:
        """The prefix of its metrics."""
        return label_of(self.opponent)

    def run(
        self, evaluator: Evaluator, budget_seconds: float = 0.0, poll: Poll | None = None
    ) -> dict[str, float]:
        """As many whole pairs as there is time for; a UserError if the opponent cannot play."""
        chooser = SearchChooser(self.game, evaluator, self.simulations, self.search)
        other = self._many_boards(evaluator)
        budget = Budget(budget_seconds, poll)
        if other is None:
            return self._one_by_one(chooser, budget)
        choosers = (chooser, other)
        pairs = play_within(self.game, choosers, self._openings(), budget, self.max_plies)
        return figures(self.name, ColourSplit.of_pairs(pairs))

    def _many_boards(self, evaluator: Evaluator) -> Chooser | None:
        """The opponent, if it can choose on many boards at once."""
        if self.opponent == OWN_POLICY:
            return PolicyChooser(self.game, evaluator, self.search)
        if self.opponent == "random":
            return RandomChooser(self.game, self.seed)
        made = find_player(self.opponent, self.game)
        if isinstance(made, RolloutPlayer) and made.simulations and not made.seconds:
            rollouts = RolloutEvaluator(seed=self.seed)
            return SearchChooser(self.game, rollouts, made.simulations, made.options)
        return None

    def _one_by_one(self, chooser: Chooser, budget: Budget) -> dict[str, float]:
        """Against engines and other players that follow one game at a time.

        A pair in which the opponent failed tells nothing about the network and is left out.
        """
        network = ChooserPlayer(chooser, poll=budget.poll)
        contestants = Contestants((network, self.opponent), ("network", self.name))
        table = Table(self.game, contestants, AdjudicateOptions(max_plies=self.max_plies))
        openings = self._openings()
        tasks = make_tasks(match_pairs(2 * len(openings)), openings, self.seed)
        records: list[GameRecord] = []
        failures: list[Failure] = []
        slowest = 0.0  # seconds of a pair
        try:
            for one, swapped in zip(tasks[::2], tasks[1::2], strict=True):
                begun = bool(records or failures)
                if (not budget.enough_for(slowest) and begun) or len(failures) >= MOST_FAILURES:
                    break
                started = budget.spent
                pair = [table.play(one)[0], table.play(swapped)[0]]
                failed = [f for record in pair if (f := opponents_failure(record)) is not None]
                failures += failed
                records += [] if failed else pair
                slowest = max(slowest, budget.spent - started)
        finally:
            table.close()
        if failures and not records:
            raise UserError(f"'{self.opponent}' failed in every game: {failures[-1].text}")
        found = figures(self.name, colour_split(records, 0))
        return found | ({f"{self.name}.failures": float(len(failures))} if failures else {})

    def _openings(self) -> list[Opening]:
        return make_openings(self.game, self.openings, (self.games + 1) // 2, self.seed)


def opponents_failure(record: GameRecord) -> Failure | None:
    """How the network's opponent could not go on; None if it could. The network is number 0."""
    failure = record.failure
    return failure if failure is not None and record.players[failure.seat] != 0 else None


def figures(name: str, split: ColourSplit) -> dict[str, float]:
    """Score, its 95 % interval by pairs, and Elo."""
    best = split.best
    low, high = best.score_interval()
    return {
        f"{name}.score": best.score,
        f"{name}.score_low": low,
        f"{name}.score_high": high,
        f"{name}.elo": best.elo,
        f"{name}.games": float(best.games),
    }
