"""Who sits at a board beside people: opponents as visitors choose them, as players of the package.

Knows levels, judges and exact answers; nothing of sessions. A player's choice runs in a thread.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from zermelo.games.protocol import Game, State
from zermelo.games.registry import kind_of
from zermelo.players.levels import Level, chosen_action, level
from zermelo.players.solver import Solver
from zermelo.search import Limits, LiveSearch
from zermelo.web import messages
from zermelo.web.catalogue import EXACT, PERFECT, RANDOM, OfferedGame
from zermelo.web.judges import Judge, Judges
from zermelo.web.refusal import Refusal
from zermelo.web.settings import Bounds
from zermelo.yardsticks.labels import Connect4Labels, default_cache

Past = Callable[[], tuple[State, tuple[int, ...]]]  # first position and actions of the board
FULL = level(10)


class Seats:
    """Makes players."""

    def __init__(self, judges: Judges, bounds: Bounds) -> None:
        self._judges = judges
        self._bounds = bounds
        self._exact: dict[str, ExactAnswers] = {}

    def exact(self, offered: OfferedGame) -> ExactAnswers:
        """Perfect answers; a Refusal where there are none."""
        if offered.kind not in EXACT:
            raise Refusal(422, "there is no perfect answer for this game")
        if offered.kind not in self._exact:
            self._exact[offered.kind] = ExactAnswers(offered.rules)
        return self._exact[offered.kind]

    def player(self, seat: messages.Seat, offered: OfferedGame, past: Past) -> Any:
        """The player of a seat, None for a person; a Refusal if there is no such opponent."""
        if seat.opponent is None:
            return None
        if seat.opponent == RANDOM:
            return RandomSeat()
        if seat.opponent == PERFECT:
            return PerfectSeat(self.exact(offered))
        if seat.simulations is not None and seat.simulations > self._bounds.simulations:
            most = self._bounds.simulations
            raise Refusal(422, f"a move may have {most:,} simulations at most")
        if seat.seconds is not None and seat.seconds > self._bounds.seconds:
            raise Refusal(422, f"a move may take {self._bounds.seconds:g} seconds at most")
        judge = self._judges.judge(offered, seat.opponent)
        return SearchSeat(judge, seat, past)


class RandomSeat:
    """Any legal move."""

    name = RANDOM

    def choose(self, game: Game, state: State) -> int:
        """One of them."""
        return random.choice(list(game.legal_actions(state)))


class SearchSeat:
    """A search with a fresh tree for every move, so that a waiting game holds no memory."""

    def __init__(self, judge: Judge, seat: messages.Seat, past: Past) -> None:
        self.name = seat.opponent or ""
        self._judge = judge
        self._past = past
        self._level: Level = level(seat.level) if seat.level else FULL
        simulations = seat.simulations or (None if seat.seconds else self._level.simulations)
        self._limits = Limits(simulations, seconds=seat.seconds or 0.0)
        self._live: LiveSearch | None = None
        self._chance = random.Random()

    def choose(self, game: Game, state: State) -> int:  # noqa: ARG002
        """As the level chooses."""
        live = self._judge.search(counted=self._limits.known)
        self._live = live
        try:
            live.follow(self._judge.translated(game, *self._past()))
            return chosen_action(live.run(self._limits), self._level, self._chance)
        finally:
            self._live = None
            live.close()

    def stop(self) -> None:
        """Ends the search under way."""
        live = self._live
        if live is not None:
            live.stop()


class ExactAnswers:
    """Perfect play, for everybody. What took the solver long is kept, in a file of this user."""

    def __init__(self, rules: Game) -> None:
        self._connect4 = kind_of(rules) == "connect4"
        self._labels = Connect4Labels(default_cache()) if self._connect4 else None
        self._solver = Solver(rules)
        # One thread, since the solver of each thread has a large table of its own.
        self._thread = ThreadPoolExecutor(1, "exact")

    def scores(self, state: State) -> dict[int, int]:
        """For each action; larger is better for the player to move."""
        find = self._solver.analyse if self._labels is None else self._labels.scores
        return self._thread.submit(find, state).result()

    def results(self, state: State, plies: int) -> dict[int, tuple[int, int | None]]:
        """For each action 1, 0 or -1, and how many plies away; `plies` were played already."""
        far = connect4_plies if self._connect4 else solver_plies
        return {
            action: ((score > 0) - (score < 0), far(score, plies) if score else None)
            for action, score in self.scores(state).items()
        }


def connect4_plies(score: int, plies: int) -> int:
    """A score counts the stones that the winner has left: s wins with the stone 22 - s of 21."""
    stone = 22 - abs(score)
    winner = plies % 2 if score > 0 else 1 - plies % 2
    return 2 * stone - 1 + winner - plies


def solver_plies(score: int, plies: int) -> int:  # noqa: ARG001
    """The solver's scores count the plies themselves."""
    return Solver.WIN - abs(score)


class PerfectSeat:
    """One of the best moves, by chance."""

    name = PERFECT

    def __init__(self, exact: ExactAnswers) -> None:
        self._exact = exact

    def choose(self, game: Game, state: State) -> int:  # noqa: ARG002
        """Never gives a result away."""
        scores = self._exact.scores(state)
        best = max(scores.values())
        return random.choice([action for action, score in scores.items() if score == best])
