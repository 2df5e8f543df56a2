"""One position as a run's checkpoints judge it, one after the other: how it learns to see.

Owns the networks that are kept ready for it, a few at a time, and the answers that were given. A
lock lets one caller in at a time. Does not know how a position is drawn.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from zermelo.checkpoint import CheckpointStore
from zermelo.errors import UserError
from zermelo.games.protocol import Game, State, state_hash
from zermelo.network.evaluator import NetworkEvaluator
from zermelo.network.own_search import searched
from zermelo.network.places import CHECKPOINTS, MANIFEST_FILE, whole_checkpoints
from zermelo.network.runtimes import installed_backends
from zermelo.replay.samples import root_wdl
from zermelo.search import Search, SearchOptions

MOST_CHECKPOINTS = 60  # that one position is shown to
MOST_SIMULATIONS = 800
KEPT_NETWORKS = 12
KEPT_ANSWERS = 4096
CACHE_MIB = 4  # of a search


@dataclass(frozen=True)
class Judgement:
    """What a checkpoint says of a position; all for the player to move."""

    iteration: int
    policy: dict[int, float]  # by legal action: the network's, or shares of the visits
    wdl: tuple[float, float, float]
    value: float
    simulations: int  # 0: the network alone


class CheckpointJudges:
    """The checkpoints of one run as judges. The run may be under way."""

    def __init__(self, run: Path, game: Game) -> None:
        self.game = game
        self._folder = run / CHECKPOINTS
        self._lock = threading.Lock()
        self._networks: OrderedDict[tuple[int, int], tuple[NetworkEvaluator, SearchOptions]]
        self._networks = OrderedDict()
        self._answers: OrderedDict[tuple[int, int, int, int], Judgement] = OrderedDict()

    def iterations(self) -> list[int]:
        """Of the checkpoints that are there, evenly thinned if they are many; oldest first."""
        return thinned([int(place.name) for place in whole_checkpoints(self._folder)])

    def judge(
        self, state: State, iterations: Sequence[int], simulations: int = 0
    ) -> Iterator[Judgement | str]:
        """One after the other, in the order asked for; a sentence for one that cannot be used."""
        if self.game.outcome(state) is not None:
            raise UserError("the game is over here: there is nothing to judge")
        if len(iterations) > MOST_CHECKPOINTS:
            raise UserError(f"at most {MOST_CHECKPOINTS} checkpoints judge a position")
        if not 0 <= simulations <= MOST_SIMULATIONS:
            raise UserError(f"simulations must be from 0 to {MOST_SIMULATIONS}")
        key = state_hash(self.game, state)
        for iteration in iterations:
            found: Judgement | str
            try:
                with self._lock:
                    found = self._judgement(state, key, iteration, simulations)
            except UserError as error:
                found = str(error)
            yield found

    def _judgement(self, state: State, key: int, iteration: int, simulations: int) -> Judgement:
        manifest = self._folder / f"{iteration:06d}" / MANIFEST_FILE
        try:
            version = manifest.stat().st_mtime_ns
        except OSError:
            raise UserError(f"there is no checkpoint {iteration} any more") from None
        place = (iteration, version, key, simulations)
        found = self._answers.pop(place, None)
        if found is None:
            network, search = self._network(iteration, version)
            found = (
                self._searched(state, iteration, network, search, simulations)
                if simulations
                else self._seen(state, iteration, network)
            )
        self._answers[place] = found
        while len(self._answers) > KEPT_ANSWERS:
            self._answers.popitem(last=False)
        return found

    def _network(self, iteration: int, version: int) -> tuple[NetworkEvaluator, SearchOptions]:
        found = self._networks.pop((iteration, version), None)
        if found is None:
            checkpoint = CheckpointStore(self._folder, read_only=True).open(iteration)
            weights = checkpoint.weights()
            backend = next(iter(installed_backends()), "auto")
            network = NetworkEvaluator(weights, backend, game=self.game)
            own = SearchOptions(**weights.search)
            found = network, searched(own, {"threads": 1, "cache_mib": CACHE_MIB})
        self._networks[iteration, version] = found
        while len(self._networks) > KEPT_NETWORKS:
            self._networks.popitem(last=False)
        return found

    def _seen(self, state: State, iteration: int, network: NetworkEvaluator) -> Judgement:
        """At first sight."""
        planes = np.asarray(self.game.observe(state), np.float32)[None]
        logits, values = network(planes)
        actions = [int(action) for action in self.game.legal_actions(state)]
        scores = np.exp((logits[0][actions] - logits[0][actions].max()).astype(np.float64))
        shares = (scores / scores.sum()).tolist()
        if values.ndim == 1:
            values = root_wdl(values, np.zeros_like(values))
        win, draw, loss = (float(part) for part in values[0])
        policy = dict(zip(actions, shares, strict=True))
        return Judgement(iteration, policy, (win, draw, loss), win - loss, 0)

    def _searched(
        self,
        state: State,
        iteration: int,
        network: NetworkEvaluator,
        options: SearchOptions,
        simulations: int,
    ) -> Judgement:
        result = Search(self.game, network, options).run(state, simulations)
        total = max(1, int(result.visits.sum()))
        shares = (int(visits) / total for visits in result.visits)
        policy = dict(zip((int(action) for action in result.actions), shares, strict=True))
        best = result.best
        return Judgement(iteration, policy, best.wdl, result.value, simulations)


def thinned(iterations: list[int], most: int = MOST_CHECKPOINTS) -> list[int]:
    """The first, the last, and others evenly between them."""
    if len(iterations) <= most:
        return iterations
    steps = np.linspace(0, len(iterations) - 1, most).round().astype(int)
    return [iterations[step] for step in steps]
