"""Every line of play against a player of a small game: does it ever lose?

The player is a function of the position (see `yardstick_choosers.py`), so each position is asked
about once, whatever way leads to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from zermelo.errors import UserError
from zermelo.evaluator import Evaluator
from zermelo.games.protocol import Game, State, state_hash, value_for
from zermelo.search import SearchOptions
from zermelo.yardsticks.choosers import Budget, Chooser, Poll, SearchChooser

MOST_POSITIONS = 1_000_000
CHUNK = 512  # positions searched together


@dataclass
class Walk:
    """What came of all lines of play against one player on one side."""

    positions: int = 0  # in which the player had to choose
    wins: int = 0  # final positions, each counted once
    draws: int = 0
    losses: int = 0
    whole: bool = True  # False if there was no time to walk all of them


def walk(game: Game, chooser: Chooser, side: int, budget: Budget | None = None) -> Walk:
    """Plays `side` (0 moves first) by the chooser and the other by every legal action."""
    found = Walk()
    budget = budget or Budget()
    layer = [game.initial()]
    seen = {state_hash(game, layer[0])}
    while layer:
        following: list[State] = []
        for state, action in _steps(game, chooser, side, layer, found):
            after = game.play(state, action)
            key = state_hash(game, after)
            if key in seen:
                continue
            seen.add(key)
            if len(seen) > MOST_POSITIONS:
                raise UserError(f"{game.name} is too large to play every line of it")
            outcome = game.outcome(after)
            if outcome is None:
                following.append(after)
            else:
                _count(found, value_for(outcome, side))
        if following and not budget.enough_for(0.0):
            found.whole = False
            break
        layer = following
    return found


def _steps(
    game: Game, chooser: Chooser, side: int, layer: Sequence[State], found: Walk
) -> list[tuple[State, int]]:
    """The actions that may come in the positions of a layer."""
    ours = [state for state in layer if game.player(state) == side]
    theirs = [state for state in layer if game.player(state) != side]
    found.positions += len(ours)
    steps = [(state, action) for state in theirs for action in game.legal_actions(state)]
    for start in range(0, len(ours), CHUNK):
        part = ours[start : start + CHUNK]
        choices = chooser.choose(part)
        steps += [(state, choice.action) for state, choice in zip(part, choices, strict=True)]
    return steps


def _count(found: Walk, value: int) -> None:
    if value == 0:
        found.draws += 1
    elif value > 0:
        found.wins += 1
    else:
        found.losses += 1


@dataclass
class NeverLoses:
    """Whether a search can be beaten at all, on either side."""

    game: Game
    simulations: int = 50
    search: SearchOptions | None = None

    @property
    def name(self) -> str:
        """The prefix of its metrics."""
        return self.game.name.partition("?")[0]

    def run(
        self, evaluator: Evaluator, budget_seconds: float = 0.0, poll: Poll | None = None
    ) -> dict[str, float]:
        """`never_loses` is 1 only if every line was played and none lost."""
        # Without a cache no position's evaluation depends on those before it.
        options = (self.search or SearchOptions()).replace(cache_mib=0)
        return self.judge(
            SearchChooser(self.game, evaluator, self.simulations, options),
            Budget(budget_seconds, poll),
        )

    def judge(self, chooser: Chooser, budget: Budget | None = None) -> dict[str, float]:
        """The figures of a chooser."""
        walks = [walk(self.game, chooser, side, budget) for side in (0, 1)]
        first, second = walks
        perfect = all(w.whole and not w.losses for w in walks)
        return {
            f"{self.name}.never_loses": float(perfect),
            f"{self.name}.losses_first": float(first.losses),
            f"{self.name}.losses_second": float(second.losses),
            f"{self.name}.positions": float(first.positions + second.positions),
        }
