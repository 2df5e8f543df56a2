"""One `go`, from the command to its `bestmove`: what was asked, and whether the answer may be said.

The reading thread calls `stop` and `ponderhit`; the searching thread does everything else.
"""

from __future__ import annotations

import threading
from dataclasses import replace

from zermelo.players.levels import Level, rated_level
from zermelo.search.move_limits import MoveLimits
from zermelo.search.time_management import (
    LEAST,
    Budget,
    Manager,
    fixed_seconds,
    plan,
    side_clock,
)
from zermelo.search.turn_clock import TurnClock
from zermelo.uci.options import Settings
from zermelo.uci.protocol import LARGEST, Go, Position


class Running(TurnClock):
    """A search that was asked for. Its events are set once and stay so."""

    def __init__(
        self,
        go: Go,
        position: Position,
        settings: Settings,
        received: float,
        debug: bool = False,
    ) -> None:
        super().__init__(received, pondering=go.ponder)
        # Constant.
        self.go = go
        self.position = position
        self.settings = settings
        self.debug = debug
        self.level = limited(go, settings)  # None: as strongly as it can
        # Set by any thread.
        self.unwanted = threading.Event()  # a newer command has made the answer useless
        self.released = threading.Event()  # the answer may be given
        self.finished = threading.Event()  # it was given
        if not (go.ponder or go.endless):
            self.released.set()

    def stop(self) -> None:
        """Ends the search and lets the answer out."""
        super().stop()
        self.released.set()

    def ponderhit(self) -> bool:
        """The move that was pondered on was played: from now on our time runs."""
        began = super().ponderhit()
        if began and not self.go.endless:
            self.released.set()
        return began


def limited(go: Go, settings: Settings) -> Level | None:
    """How a limited engine plays; None if it is not limited, as in analysis."""
    analysis = go.endless or go.mate is not None
    return (
        rated_level(settings["UCI_Elo"]) if settings["UCI_LimitStrength"] and not analysis else None
    )


def limits_of(
    go: Go,
    settings: Settings,
    white: bool,
    ply: int,
    expected: float | None = None,
    forced: bool = False,
    lag: float = 0.0,
) -> MoveLimits:
    """What a `go` asks for. `white`: whose clock it is; `forced`: there is one move only.

    `expected` is the value that the last move's search ended with, `lag` how long a batch takes, in
    seconds: a search ends so much later than it should.
    """
    limits = MoveLimits(memory_bytes=settings["RamLimitMb"] << 20)
    if go.infinite:
        return limits
    limits.nodes = _at_least_one(go.nodes)
    if (level := limited(go, settings)) is not None:
        limits.nodes = min(limits.nodes or LARGEST, level.simulations)
    limits.depth = _at_least_one(go.depth)
    limits.mate = _at_least_one(go.mate)
    overhead = settings["MoveOverheadMs"]
    mine, other = (go.wtime, go.btime) if white else (go.btime, go.wtime)
    increment = go.winc if white else go.binc
    clock = side_clock(mine if mine is not None else other, increment, go.movestogo, overhead)
    if clock is not None:
        clock = replace(clock, overhead=clock.overhead + lag)
        budget = Budget(LEAST, LEAST) if forced else plan(clock, ply)
        limits.instant = budget.most <= max(lag, LEAST)
        limits.manager = Manager(budget, settings["SmartPruningFactor"], expected)
        limits.most_seconds = budget.most
    if go.movetime is not None:
        fixed = fixed_seconds(go.movetime)
        limits.most_seconds = min(fixed, limits.most_seconds or fixed)
    return limits


def _at_least_one(limit: int | None) -> int | None:
    return None if limit is None or limit >= LARGEST else max(limit, 1)
