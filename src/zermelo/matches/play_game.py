"""Plays one game of a match after another, in one process."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from zermelo.errors import is_bad_answer
from zermelo.games.notation import action_text
from zermelo.games.protocol import Game, Outcome, State
from zermelo.matches.adjudicate import AdjudicateOptions, Adjudicator, Judgement, Verdict
from zermelo.matches.game_record import RESULTS, Failure, GameRecord, Timing
from zermelo.matches.pairing import Task
from zermelo.players import Player
from zermelo.players import player as find_player
from zermelo.players.protocol import (
    Closes,
    MoveReport,
    PlayerError,
    Prepares,
    Reports,
    Reseeds,
    StartsGames,
)

MOST_PLAYERS = 4  # kept ready at a time; each may hold a network or a process


@dataclass(frozen=True)
class Contestants:
    """The players of a match: what the registry makes them of, and how they are called."""

    specs: tuple[str | Player, ...]
    names: tuple[str, ...]
    boards: int = 1  # games that one process plays side by side


class ClosedError(Exception):
    """The hall closed in the middle of a game."""


class _Seat:
    """One player in one game. `clock` says what its thinking costs."""

    def __init__(self, player: Player, clock: Callable[[], float]) -> None:
        self.player = player
        self._clock = clock
        self.seconds = 0.0
        self.moves = 0
        self.simulations = 0

    def choose(self, game: Game, state: State) -> tuple[int, MoveReport]:
        """A legal action and what the player thought; PlayerError if it fails."""
        started = self._clock()
        try:
            action = self.player.choose(game, state)
        except RuntimeError as error:
            if is_bad_answer(error):
                raise PlayerError("bad network", str(error)) from error
            raise
        self.seconds += self._clock() - started
        self.moves += 1
        if action not in game.legal_actions(state):
            raise PlayerError("illegal move", f"action {action}")
        report = self.player.report() if isinstance(self.player, Reports) else None
        report = report or MoveReport()
        self.simulations += report.simulations
        return action, report


class Table:
    """Where games are played: the rules, the adjudicator, and the players that were needed."""

    def __init__(
        self,
        game: Game,
        contestants: Contestants,
        adjudication: AdjudicateOptions,
        closing: threading.Event | None = None,
    ) -> None:
        """`closing` ends a game at its next move with ClosedError."""
        self.game = game
        self._closing = closing
        # Side by side, games wait for each other; the time of the processor is what a player costs.
        self._clock = time.thread_time if contestants.boards > 1 else time.perf_counter
        self._contestants = contestants
        self._adjudicator = Adjudicator(game, adjudication)
        self._players: dict[int, Player] = {}  # the one used last is the last

    def play(self, task: Task) -> tuple[GameRecord, Timing]:
        """One game from its opening to its end."""
        seats = [_Seat(self._seated(task, index), self._clock) for index in task.players]
        state = task.opening.states(self.game)[-1]
        actions: list[str] = []
        notes: list[str] = []
        failure: Failure | None = None
        judged: list[Judgement] = []
        verdict = self._verdict(state, len(task.opening.actions), judged)
        while verdict is None:
            if self._closing is not None and self._closing.is_set():
                raise ClosedError
            mover = self.game.player(state)
            try:
                action, report = seats[mover].choose(self.game, state)
            except PlayerError as error:
                failure = Failure(mover, error.kind, error.detail)
                verdict = (Outcome.FIRST_WINS, Outcome.SECOND_WINS)[1 - mover], error.kind
                break
            actions.append(action_text(self.game, state, action))
            notes.append(report.text)
            judged.append((mover, report.value))
            state = self.game.play(state, action)
            verdict = self._verdict(state, len(task.opening.actions) + len(actions), judged)
        record = GameRecord(
            number=task.number,
            pair=task.pair,
            players=task.players,
            names=self._names(task.players),
            opening=task.opening,
            actions=tuple(actions),
            notes=tuple(notes),
            result=RESULTS[verdict[0]],
            reason=verdict[1],
            failure=failure,
        )
        return record, _timing(task.number, seats)

    def close(self) -> None:
        """Ends what the players hold."""
        for player in self._players.values():
            _close(player)
        self._players.clear()

    def _verdict(self, state: State, plies: int, judged: Sequence[Judgement]) -> Verdict | None:
        outcome = self.game.outcome(state)
        if outcome is not None:
            return outcome, "rules"
        return self._adjudicator.verdict(state, plies, judged)

    def _seated(self, task: Task, index: int) -> Player:
        """The player, ready for a new game that no earlier game can influence."""
        player = self._players.pop(index, None)
        if player is None:
            player = find_player(self._contestants.specs[index], self.game)
        self._players[index] = player
        while len(self._players) > MOST_PLAYERS:
            _close(self._players.pop(next(iter(self._players))))
        if isinstance(player, Reseeds):
            player.reseed(task.seed_of(index))
        if isinstance(player, StartsGames):
            player.start_game()
        if isinstance(player, Prepares):
            player.prepare(self.game)
        return player

    def _names(self, players: tuple[int, int]) -> tuple[str, str]:
        first, second = (self._contestants.names[index] for index in players)
        return first, second


def _timing(number: int, seats: Sequence[_Seat]) -> Timing:
    first, second = seats
    return Timing(
        number,
        (first.seconds, second.seconds),
        (first.moves, second.moves),
        (first.simulations, second.simulations),
    )


def _close(player: Player) -> None:
    if isinstance(player, Closes):
        player.close()
