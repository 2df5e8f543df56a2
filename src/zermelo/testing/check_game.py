"""`check_game`: plays random games and says, sentence by sentence, whether a game is sound.

The single checks are in `checks.py`; here is how positions are found and results are gathered.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from zermelo.games.protocol import Game
from zermelo.testing import checks
from zermelo.testing.position import Known, Position, UnsoundError, method_of
from zermelo.testing.sides import LEAST_GAMES, Sides

OK, WARNING, FAILED, SKIPPED = "ok", "warning", "FAILED", "skipped"
MAX_FULL_POSITIONS = 400  # positions that go through the costly checks, spread over all games


@dataclass(frozen=True)
class Check:
    """One property and whether it held wherever it was tried."""

    name: str
    passed: bool
    detail: str  # if it failed, what is wrong; else how it was tried, or a warning
    status: str = ""  # ok, warning, FAILED, or skipped: it depends on one that failed

    def __post_init__(self) -> None:
        if not self.status:
            object.__setattr__(self, "status", OK if self.passed else FAILED)


@dataclass
class Report:
    """What `check_game` found."""

    game: str
    games: int = 0
    positions: int = 0
    longest_game: int = 0
    seconds: float = 0.0
    checks: list[Check] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether every property held."""
        return all(check.passed for check in self.checks)

    @property
    def failures(self) -> list[Check]:
        """The properties that did not hold."""
        return [check for check in self.checks if not check.passed]

    @property
    def warnings(self) -> list[Check]:
        """Properties that held, but look as if something else was meant."""
        return [check for check in self.checks if check.status == WARNING]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {
            "game": self.game,
            "ok": self.ok,
            "games": self.games,
            "positions": self.positions,
            "longest_game": self.longest_game,
            "seconds": round(self.seconds, 3),
            "checks": [vars(check) for check in self.checks],
        }

    def __str__(self) -> str:
        lines = [f"{check.status:<7} {check.name}: {check.detail}" for check in self.checks]
        return "\n".join(lines)


def check_game(game: Game, games: int = 20, seed: int = 0, max_plies: int = 5000) -> Report:
    """Plays `games` random games and tries every property at their positions.

    `max_plies` is how long a game may last. Never raises for what a game does wrong: each fault is
    one sentence of the report, with the actions that lead to it.
    """
    return _Run(game, games, seed, max_plies).report()


class _Run:
    """One call of `check_game`: the first fault of each property, and how often it was tried."""

    def __init__(self, game: Game, games: int, seed: int, max_plies: int) -> None:
        self.game = game
        self.games = games
        self.max_plies = max_plies
        self.random = random.Random(seed)
        self.faults: dict[str, str] = {}
        self.tried: dict[str, int] = {}
        self.known = Known()
        self.sides = Sides()
        self.full_positions = 0
        self.result = Report(str(getattr(game, "name", type(game).__name__)))

    def report(self) -> Report:
        started = time.perf_counter()
        if self.attempt("attributes", checks.check_attributes, self.game) and self.attempt(
            "initial position", checks.check_initial, self.game
        ):
            while self.result.games < self.games and self.play_one():
                self.result.games += 1
            if self.result.games == self.games and self.games >= LEAST_GAMES:
                self.attempt("player", checks.check_both_move, self.sides.player())
            if not self.faults:
                self.attempt("perft", checks.check_perft, self.game)
        self.result.seconds = time.perf_counter() - started
        self.result.checks = [self.verdict(name) for name in checks.NAMES]
        return self.result

    def attempt(self, name: str, check: Callable[..., str | None], *arguments: Any) -> bool:
        """Runs one check once; False if it failed. Later faults of the same name are not kept."""
        self.tried[name] = self.tried.get(name, 0) + 1
        try:
            remark = check(*arguments)
        except UnsoundError as fault:
            self.faults.setdefault(name, str(fault))
            return False
        except Exception as error:  # of a value that nothing can be done with
            shown = " ".join(f"{type(error).__name__}: {error}".split())
            where = method_of(self.game, error)
            place = next((p.where() for p in arguments if isinstance(p, Position)), "")
            self.faults.setdefault(name, f"{where}raised {shown} {place}".rstrip())
            return False
        if remark:
            self.known.remarks.setdefault(name, remark)
        return True

    def play_one(self) -> bool:
        """One random game; False if it could not be played to its end."""
        position = Position(self.game, self.game.initial(), (), self.random)
        before: Position | None = None
        while True:
            self.result.positions += 1
            for name, check in checks.CHEAP:
                if not self.attempt(name, check, position):
                    return False  # what follows builds on it
            last = position.outcome is not None
            self.sides.see(before, position)
            if self.wants_all_checks(position, last):
                self.full_positions += 1
                for name, costly in checks.COSTLY:
                    if name not in self.faults:
                        self.attempt(name, costly, position, self.known)
            if last:
                self.sides.end(before, position)
                self.result.longest_game = max(self.result.longest_game, len(position.path))
                return self.attempt("end of the game", lambda: None)
            if len(position.path) >= self.max_plies:
                return self.attempt("end of the game", checks.never_ends, self.max_plies)
            try:
                before, position = position, position.after(self.random.choice(position.actions))
            except UnsoundError as fault:
                self.faults.setdefault("play", str(fault))
                return False

    def wants_all_checks(self, position: Position, last: bool) -> bool:
        """All of the first positions and ends of games, then fewer and fewer."""
        if self.full_positions >= MAX_FULL_POSITIONS:
            return False
        early = len(position.path) < 6 or self.full_positions < 60
        return early or last or self.random.random() < 0.1

    def verdict(self, name: str) -> Check:
        if name in self.faults:
            return Check(name, False, self.faults[name])
        absent = checks.absent(self.game, name)
        if absent:
            return Check(name, True, absent)
        tried = self.tried.get(name, 0)
        if tried == 0:
            return Check(name, True, "because of the faults above", SKIPPED)
        if warning := self.warning(name):
            return Check(name, True, warning, WARNING)
        times = "once" if tried == 1 else f"{tried} times"
        return Check(name, True, self.known.remarks.get(name) or f"tried {times}")

    def warning(self, name: str) -> str:
        """What looks as if something else was meant."""
        if name == "outcome":
            return self.sides.outcome()
        return self.sides.observation() if name == "observation" else ""
