"""The whole games of a shard, one after another, to be listed, shown or played through again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zermelo.games.notation import action_text
from zermelo.games.protocol import Game, Outcome, State
from zermelo.replay.columns import ShardError
from zermelo.replay.shard import Shard


@dataclass(frozen=True, eq=False)
class RecordedGame:
    """A whole game of self-play."""

    number: int  # within its shard
    actions: tuple[int, ...]  # from the initial position
    outcome: Outcome
    flags: int  # why it ended, and AUDIT
    rows: NDArray[np.int64]  # of its samples in the shard, by ply; plies may be missing

    def states(self, game: Game) -> Iterator[State]:
        """The initial state and the one after each action; ShardError at one that is not legal."""
        return states_along(game, self.actions)

    def texts(self, game: Game) -> list[str]:
        """The actions as a person reads them; ShardError at one that is not legal."""
        states = list(self.states(game))  # every action is legal, then; a state more than actions
        return [
            action_text(game, state, action)
            for state, action in zip(states, self.actions, strict=False)
        ]


def games(shard: Shard) -> list[RecordedGame]:
    """The whole games of a shard, in the order in which they ended; none if it has no records."""
    records, samples = shard.records, shard.samples
    if not len(records):
        return []
    order = np.lexsort((samples.plies, samples.games))
    rows = np.split(order, np.searchsorted(samples.games[order], np.arange(1, len(records))))
    return [
        RecordedGame(number, tuple(actions.tolist()), Outcome(int(outcome)), int(flags), mine)
        for number, (actions, outcome, flags, mine) in enumerate(
            zip(records.actions(), records.game_outcomes, records.game_flags, rows, strict=True)
        )
    ]


def states_along(game: Game, actions: Iterable[int]) -> Iterator[State]:
    """The initial state and the one after each action; ShardError at one that is not legal."""
    state = game.initial()
    yield state
    for ply, action in enumerate(actions):
        over = game.outcome(state) is not None
        if over or int(action) not in {int(each) for each in game.legal_actions(state)}:
            raise ShardError(f"action {action} at ply {ply} is not legal")
        state = game.play(state, int(action))
        yield state
