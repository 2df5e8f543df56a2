"""A position of a random game under test, and how a fault there becomes a sentence."""

from __future__ import annotations

import pickle
import random
import sys
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from zermelo.games.protocol import Game, Outcome, State
from zermelo.games.supported import not_supported


class UnsoundError(Exception):
    """One sentence: what is wrong and where."""


@dataclass
class Known:
    """What earlier positions of the same run showed."""

    looks_by_hash: dict[int, bytes] = field(default_factory=dict)
    remarks: dict[str, str] = field(default_factory=dict)


@dataclass
class Position:
    """A position and how it was reached; outcome and actions are filled in by the cheap checks."""

    game: Game
    state: State
    path: tuple[int, ...]
    random: random.Random
    player: int = 0
    outcome: Outcome | None = None
    actions: list[int] = field(default_factory=list)
    seen: npt.NDArray[np.float32] | None = None  # what `observe` shows

    def where(self) -> str:
        """The end of a sentence: how to get here."""
        if not self.path:
            return "in the initial position"
        tail = ", ".join(str(action) for action in self.path[-12:])
        skipped = len(self.path) - 12
        return f"after actions {tail}" if skipped <= 0 else f"after {skipped} actions and {tail}"

    def after(self, action: int) -> Position:
        """The position after a legal action."""
        state = self.call("play", self.state, action)
        return Position(self.game, state, (*self.path, action), self.random)

    def call(self, method: str, *arguments: Any) -> Any:
        """A method of the game; what it raises becomes a sentence."""
        try:
            return getattr(self.game, method)(*arguments)
        except (Exception, SystemExit, GeneratorExit) as error:  # all but Ctrl-C
            message = " ".join(str(error).split())
            shown = f"{type(error).__name__}: {message}" if message else type(error).__name__
            line = line_in_game(self.game, error)
            raise UnsoundError(f"{method}() raised {shown}{line} {self.where()}") from error

    def require(self, good: bool, sentence: str) -> None:
        if not good:
            raise UnsoundError(f"{sentence} {self.where()}")

    def supported(self, lacks: str) -> None:
        """Another kind of game than ours, if `lacks` says why."""
        if lacks:
            raise UnsoundError(f"{not_supported(lacks)}; seen {self.where()}")

    def observe(self, state: State) -> npt.NDArray[np.float32]:
        planes = self.call("observe", state)
        try:
            return np.asarray(planes, dtype=np.float32)
        except (TypeError, ValueError):
            raise UnsoundError(f"observe() returns no array of numbers {self.where()}") from None


def line_in_game(game: Game, error: BaseException) -> str:
    """Where in the game's own file an error arose, as words to put in; "" if not there."""
    file = getattr(sys.modules.get(type(game).__module__), "__file__", None)
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == file]
    return f" in line {frames[-1].lineno} of {Path(frames[-1].filename).name}" if frames else ""


def method_of(game: Game, error: BaseException) -> str:
    """The game's outermost method that an error came through; "" if through none."""
    file = getattr(sys.modules.get(type(game).__module__), "__file__", None)
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == file]
    return f"{frames[0].name}() " if frames else ""


def snapshot(p: Position, state: State) -> dict[str, Any]:
    """All that can be seen of a state from outside."""
    seen: dict[str, Any] = {
        "observation": p.observe(state).tobytes(),
        "player": p.call("player", state),
        "outcome": p.call("outcome", state),
        "text": repr(state),
    }
    if seen["outcome"] is None:
        seen["legal actions"] = list(p.call("legal_actions", state))
    try:
        seen["pickle"] = pickle.dumps(state)
    except Exception:  # states need not be picklable
        seen["pickle"] = b""
    return seen


def difference(before: dict[str, Any], after: dict[str, Any], names: tuple[str, ...] = ()) -> str:
    """What changed, or ""."""
    changed = [name for name in names or before if before.get(name) != after.get(name)]
    return " and ".join(changed)
