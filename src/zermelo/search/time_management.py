"""How long to think. Pure functions of the clock and of what the search has found so far.

All times are seconds. `plan` shares the clock out over the moves still to come; `Manager` looks at
the search about fifty times a second and says when it has seen enough.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

LEAST = 0.001  # a move is never given less
USUAL_MOVES = 40  # moves of one side still to come at the start of a game without `movestogo` ...
FEWEST_MOVES = 22  # ... and late in it
STRETCH = 3.5  # a move in trouble may take so many times its share
SHARE_OF_CLOCK = 0.35  # but no more than this of the clock, with more than one move to make
MOVETIME_MARGIN = 0.002  # for the answer


@dataclass(frozen=True)
class Clock:
    """One side's clock. `moves_to_go` 0: the time is for the rest of the game."""

    remaining: float
    increment: float = 0.0
    moves_to_go: int = 0
    overhead: float = 0.0  # lost on the way, with every move


@dataclass(frozen=True)
class Budget:
    """`share` is what a move in quiet waters may take, `most` what it must not exceed."""

    share: float
    most: float


def moves_ahead(clock: Clock, ply: int) -> int:
    """Moves that the time must last for, this one included."""
    if clock.moves_to_go > 0:
        return min(clock.moves_to_go, USUAL_MOVES)
    return max(FEWEST_MOVES, USUAL_MOVES - ply // 4)


def plan(clock: Clock, ply: int = 0) -> Budget:
    """The budget of the next move. `most` leaves the overhead on the clock, whatever happens."""
    usable = clock.remaining - clock.overhead
    if usable <= LEAST:
        return Budget(LEAST, LEAST)
    moves = moves_ahead(clock, ply)
    gain = clock.increment - clock.overhead  # of every further move
    share = (usable + max(gain, 0.0) * (moves - 1)) / moves
    most = usable * (SHARE_OF_CLOCK if moves > 1 else 0.9)
    # An increment comes back at once: a share of the clock alone would never use it.
    most = max(most, min(usable * 0.8, max(gain, 0.0)))
    most = max(LEAST, min(most, share * STRETCH))
    return Budget(max(LEAST, min(share, most)), most)


@dataclass(frozen=True)
class Look:
    """What the search shows at one moment; the value is for the side to move."""

    elapsed: float
    best: int  # action
    best_visits: int
    runner_up_visits: int
    simulations: int  # of this search
    value: float


def cannot_catch_up(look: Look, seconds_left: float, factor: float) -> bool:
    """Whether the runner-up stays behind even if it gets all simulations of the time left.

    `factor` divides what is left: 1 stops only when the order is settled, more stops earlier; 0
    turns it off.
    """
    if factor <= 0 or look.elapsed <= 0 or look.simulations <= 0:
        return False
    left = look.simulations / look.elapsed * max(seconds_left, 0.0) / factor
    return look.runner_up_visits + left < look.best_visits


def stretch(changed_after: float, elapsed: float, drop: float) -> float:
    """By how much a move may exceed its share.

    `changed_after` is when the best move changed last: late changes count. `drop` is how far the
    value fell below what it was believed to be.
    """
    unsettled = 1.0 if elapsed <= 0 else min(max(changed_after / elapsed, 0.0), 1.0)
    change = 0.9 + 0.7 * unsettled if changed_after > 0 else 0.9
    fall = 1.0 + 4.0 * min(max(drop - 0.02, 0.0), 0.25)
    return change * fall


@dataclass
class Manager:
    """Decides for one move. `expected` is the value that the last move's search ended with."""

    budget: Budget
    factor: float  # SmartPruningFactor
    expected: float | None = None
    patience: int = 32  # simulations before anything is believed
    _best: int | None = field(default=None, init=False)
    _changed_after: float = field(default=0.0, init=False)
    _first: float | None = field(default=None, init=False)

    def enough(self, look: Look) -> bool:
        """Whether to move now. Looks must come in the order of time."""
        if look.elapsed >= self.budget.most:
            return True
        if self._best is not None and look.best != self._best:
            self._changed_after = look.elapsed
        self._best = look.best
        if look.simulations < self.patience:
            return False
        if self._first is None:
            self._first = look.value
        believed = self._first if self.expected is None else self.expected
        target = self.target(look.elapsed, believed - look.value)
        if look.elapsed >= target:
            return True
        seconds_left = target - look.elapsed
        return look.elapsed >= 0.05 * target and cannot_catch_up(look, seconds_left, self.factor)

    def target(self, elapsed: float, drop: float) -> float:
        """How long this move should take as things look now."""
        wanted = self.budget.share * stretch(self._changed_after, elapsed, drop)
        return min(max(wanted, LEAST), self.budget.most)


def side_clock(
    remaining: int | None, increment: int | None, moves_to_go: int | None, overhead_ms: int
) -> Clock | None:
    """The clock from the milliseconds of a `go`; None without remaining time."""
    if remaining is None:
        return None
    return Clock(
        remaining=max(remaining, 0) / 1000,
        increment=max(increment or 0, 0) / 1000,
        moves_to_go=max(moves_to_go or 0, 0),
        overhead=overhead_ms / 1000,
    )


def fixed_seconds(movetime_ms: int) -> float:
    """When to stop a `go movetime`, a little before the time is over."""
    return max(LEAST, movetime_ms / 1000 - MOVETIME_MARGIN) if movetime_ms > 0 else LEAST


def is_forever(seconds: float) -> bool:
    """Whether no timer can wait that long."""
    return not math.isfinite(seconds) or seconds > 1e6
