"""A run to look at from Python: its figures, its games, its player. Changes nothing.

What a received run names is not run here unless it was trusted before.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from zermelo.front.loading import load
from zermelo.front.picture import Picture, draw
from zermelo.front.player import LoadedPlayer
from zermelo.front.table import MetricsTable
from zermelo.games.notation import action_text, outcome_text
from zermelo.games.protocol import Game, Outcome
from zermelo.network.places import whole_checkpoints
from zermelo.runs.directory import Run
from zermelo.runs.recent_games import ListedGame, Ply, one_game, recent_games
from zermelo.runs.trust import refuse_strange_game
from zermelo.train.metrics import read_metrics

# The metrics that tell most, first.
TELLING = (
    "selfplay/games", "train/training/loss", "evaluate/random.score", "evaluate/ladder.elo",
    "evaluate/*.score", "train/training/policy_accuracy", "train/held_out/loss",
    "selfplay/samples", "selfplay/mean_plies", "seconds",
)  # fmt: skip


class TrainingRun:
    """`TrainingRun("runs/x")`: a directory that `zermelo train` made, finished or not."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._run = Run.open(self.path)

    @cached_property
    def game(self) -> Game:
        """The rules; a UserError if they are a stranger's file."""
        refuse_strange_game(self.path, self._run.config)
        return self._run.config.game()

    @property
    def iteration(self) -> int:
        """How many are finished."""
        found = self.checkpoints
        return int(found[-1].name) if found else 0

    @property
    def checkpoints(self) -> list[Path]:
        """The networks that are kept, oldest first; `load` takes each."""
        return whole_checkpoints(self._run.checkpoints)

    @property
    def metrics(self) -> MetricsTable:
        """One row per iteration, as it is now."""
        return MetricsTable(read_metrics(self._run.metrics), TELLING)

    def games(self, most: int = 20, before: int | None = None) -> list[SelfPlayGame]:
        """The newest self-play games; `before` leaves out those of later iterations."""
        rows = recent_games(self._run.replay, self.game, most, before)
        return [SelfPlayGame(self.game, self._run.replay, row) for row in rows]

    def player(self, simulations: int | None = None, **settings: Any) -> LoadedPlayer:
        """The newest network, searched; see `load`."""
        return load(self.path, self.game, simulations=simulations, **settings)

    def __repr__(self) -> str:
        name = self._run.config.game_name
        return f"<TrainingRun {self.path} of {name}, {self.iteration} iterations>"


@dataclass(frozen=True)
class SelfPlayGame:
    """One game that a run played against itself."""

    rules: Game
    replay: Path
    listed: ListedGame

    @property
    def iteration(self) -> int:
        """Whose network played it."""
        return self.listed.iteration

    @property
    def outcome(self) -> Outcome:
        """How it ended."""
        return self.listed.outcome

    @property
    def actions(self) -> Sequence[int]:
        """As they were played."""
        return self.listed.actions

    @property
    def moves(self) -> list[str]:
        """The actions in the game's notation."""
        state, found = self.rules.initial(), []
        for action in self.listed.actions:
            found.append(action_text(self.rules, state, action))
            state = self.rules.play(state, action)
        return found

    def positions(self) -> list[Ply]:
        """Every position with what the search of it found, where that was kept."""
        return one_game(self.replay, self.rules, self.listed.shard, self.listed.number)[1]

    def draw(self, ply: int = -1, size: int = 300) -> Picture:
        """The position after so many plies; the last one unless told."""
        return draw(self.rules, self.positions()[ply].state, size=size)

    def __len__(self) -> int:
        return len(self.listed.actions)

    def __repr__(self) -> str:
        ended = outcome_text(self.outcome)
        return f"<SelfPlayGame of iteration {self.iteration}, {len(self)} plies, {ended}>"
