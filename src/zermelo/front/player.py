"""A network with its search, or a search without one, as one object that plays.

Puts together what `players` and `search` own; `loading` finds the network. One game at a time; not
for two threads.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from zermelo.errors import UserError
from zermelo.games.notation import action_text, outcome_text, parse_action, parse_position
from zermelo.games.protocol import Game, State
from zermelo.network.evaluator import NetworkEvaluator
from zermelo.players.protocol import MoveReport
from zermelo.players.search_player import SearchPlayer
from zermelo.search import Limits, SearchResult


class Played(NamedTuple):
    """A move: its number, its name, the position after it, and the search that chose it."""

    action: int
    text: str
    state: State
    result: SearchResult


@dataclass(frozen=True)
class Evaluation:
    """What a network thinks of a position at first sight; for the player to move."""

    value: float  # -1 to 1
    wdl: tuple[float, float, float] | None  # win, draw, loss; None if the network tells a value
    policy: Mapping[str, float]  # shares of the legal moves by name, the largest first
    priors: Mapping[int, float]  # the same by action


class LoadedPlayer:
    """Searches and plays one game. Made by `load`; also a player for matches."""

    def __init__(self, game: Game, player: SearchPlayer) -> None:
        self.game: Any = game  # with its optional methods
        self.searcher = player
        player.prepare(game)

    @property
    def name(self) -> str:
        """As commands spell it."""
        return self.searcher.name

    @property
    def network(self) -> str | None:
        """The file or the checkpoint; None if it searches by random games."""
        return self.searcher.network

    def after(self, *moves: str, position: State | str | None = None) -> State:
        """The position after some moves in the game's notation, from the start unless told."""
        state = self._state(position)
        for move in moves:
            state = self.game.play(state, parse_action(self.game, state, move))
        return state

    def analyse(
        self,
        position: State | str | None = None,
        *,
        simulations: int | None = None,
        seconds: float = 0.0,
    ) -> SearchResult:
        """Searches a position: a state, a text in the game's notation, or the start.

        Without a limit it is the player's own. Positions that follow each other share a tree.
        """
        state = self._open(position)
        limits = self.searcher.limits
        if simulations is not None or seconds > 0:
            limits = Limits(simulations, least=1, seconds=seconds)
        return self.searcher.lasting_search_at(self.game, state).run(limits)

    def play(self, position: State | str | None = None) -> Played:
        """The move that it plays there."""
        state = self._open(position)
        action = self.choose(self.game, state)
        assert self.searcher.result is not None
        text = action_text(self.game, state, action)
        return Played(action, text, self.game.play(state, action), self.searcher.result)

    def evaluate(self, position: State | str | None = None) -> Evaluation:
        """The network alone, without a search; a UserError if there is none."""
        state = self._open(position)
        if self._evaluator is None:
            raise UserError(f"{self.name} has no network that could evaluate a position")
        planes = np.asarray(self.game.observe(state), np.float32)
        logits, values = self._evaluator(planes.reshape(1, *self._evaluator.observation_shape))
        actions = [int(action) for action in self.game.legal_actions(state)]
        scores = logits[0][actions].astype(np.float64)
        shares = np.exp(scores - scores.max())
        shares /= shares.sum()
        order = np.argsort(-shares, kind="stable")
        priors = {actions[i]: float(shares[i]) for i in order}
        numbers = [float(part) for part in np.ravel(values[0])]  # one, or win, draw and loss
        wdl = (numbers[0], numbers[1], numbers[2]) if len(numbers) == 3 else None
        value = numbers[0] if wdl is None else wdl[0] - wdl[2]
        texts = {action_text(self.game, state, a): share for a, share in priors.items()}
        return Evaluation(value, wdl, texts, priors)

    def choose(self, game: Game, state: State) -> int:
        """A legal action, as players of matches are asked."""
        return self.searcher.choose(game, state)

    def start_game(self) -> None:
        """Forgets the last game."""
        self.searcher.start_game()

    def reseed(self, seed: int) -> None:
        """From here on, chance follows this seed."""
        self.searcher.reseed(seed)

    def prepare(self, game: Game) -> None:
        """Loads what playing this game needs."""
        self.searcher.prepare(game)

    def report(self) -> MoveReport | None:
        """Of the last choice."""
        return self.searcher.report()

    def __repr__(self) -> str:
        network = Path(self.network).name if self.network else "random games"
        return f"<LoadedPlayer of {self.game.name}: {network}>"

    @property
    def _evaluator(self) -> NetworkEvaluator | None:
        found = self.searcher.evaluator
        return found if isinstance(found, NetworkEvaluator) else None

    def _state(self, position: State | str | None) -> State:
        """Texts are read by games that can; a game whose states are texts is given them."""
        if position is None:
            return self.game.initial()
        if isinstance(position, str) and hasattr(self.game, "parse_position"):
            return parse_position(self.game, position)
        return position

    def _open(self, position: State | str | None) -> State:
        """The position, in which there is something to choose."""
        state = self._state(position)
        outcome = self.game.outcome(state)
        if outcome is not None:
            raise UserError(f"the game is over: {outcome_text(outcome)}")
        return state
