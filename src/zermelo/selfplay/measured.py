"""A game as a few seconds of random play show it: what automatic settings rest on.

What the rules say (branching, length) is measured on the same random games every time.
"""

from __future__ import annotations

import math
import random
import time
from dataclasses import dataclass

import numpy as np

from zermelo.cores import available_cores
from zermelo.errors import UserError
from zermelo.games.protocol import Game, State
from zermelo.network import architecture_for
from zermelo.network.architecture import NetworkOptions
from zermelo.network.measure import calls_per_second, example_batch
from zermelo.network.runtimes import installed_backends, make_runtime
from zermelo.network.weights import Array, random_weights

GAMES = 24  # random ones
LEAST_GAMES = 4  # also with rules that are very slow
LONGEST = 1000  # plies of a random game
PROBE = NetworkOptions(blocks=2, filters=32)  # the network whose speed is measured
# The processor network whose speed is measured; its sizes hardly matter beside rules in Python.
SPARSE_PROBE = NetworkOptions(kind="sparse", hidden=128, policy_hidden=64, value_hidden=32)
PROBE_BATCH = 64


@dataclass(frozen=True)
class Measured:
    """A game as random play shows it; speeds are of one core."""

    games: int
    branching: float  # mean legal actions
    plies: float  # mean length
    long_plies: int  # of the longest tenth
    unfinished: float  # share of games that had not ended after LONGEST plies
    plies_per_second: float  # of the rules
    evaluations_per_second: float  # of the probe network
    cores: int
    observations_per_second: float = math.inf  # of the rules, too
    sparse_per_second: float = 0.0  # evaluations of the probe processor network; 0: unknown

    @property
    def digits(self) -> float:
        """Decimal digits of the number of lines of play, roughly."""
        return self.plies * math.log10(max(1.0, self.branching))

    def nodes_per_second(self, evaluations: float) -> float:
        """Of a search on one core with a network of so many evaluations per second."""
        rules = 1 / self.plies_per_second + 1 / self.observations_per_second
        return 1 / (1 / evaluations + rules)


def measure(game: Game, seconds: float) -> Measured:
    """Plays random games and evaluates a small network."""
    chance = random.Random("automatic settings")
    lengths: list[int] = []
    positions: list[State] = []  # the first ones
    legal = unfinished = 0
    started = time.perf_counter()
    while len(lengths) < GAMES:
        spent = time.perf_counter() - started
        if len(lengths) >= LEAST_GAMES and spent > 0.6 * seconds:
            break
        state, plies = game.initial(), 0
        while plies < LONGEST and game.outcome(state) is None:
            actions = list(game.legal_actions(state))
            if not actions:
                raise UserError(
                    f"{game.name}: a game goes on after {plies} plies, but legal_actions() is "
                    "empty; `zermelo check FILE` says more"
                )
            legal += len(actions)
            if len(positions) < PROBE_BATCH:
                positions.append(state)
            state = game.play(state, chance.choice(actions))
            plies += 1
        lengths.append(plies)
        unfinished += plies == LONGEST
    spent = max(1e-9, time.perf_counter() - started)
    total = max(1, sum(lengths))
    started = time.perf_counter()
    seen = np.stack([np.asarray(game.observe(state), np.float32) for state in positions])
    observing = max(1e-9, time.perf_counter() - started)
    return Measured(
        games=len(lengths),
        branching=legal / total,
        plies=total / len(lengths),
        long_plies=int(np.quantile(lengths, 0.9)),
        unfinished=unfinished / len(lengths),
        plies_per_second=total / spent,
        evaluations_per_second=probe_speed(game, max(0.2, 0.2 * seconds)),
        cores=available_cores(),
        observations_per_second=len(seen) / observing,
        sparse_per_second=sparse_speed(game, seen, max(0.1, 0.1 * seconds)),
    )


def probe_speed(game: Game, seconds: float) -> float:
    """Evaluations per second of the probe network on one core."""
    architecture = architecture_for(game, PROBE)
    session = make_runtime(random_weights(architecture), installed_backends()[0], "f32").session()
    batch = example_batch(architecture, PROBE_BATCH)
    return PROBE_BATCH * calls_per_second(lambda: session.run(batch), seconds)


def sparse_speed(game: Game, seen: Array, seconds: float) -> float:
    """Evaluations per second of the probe processor network, of what it sees."""
    weights = random_weights(architecture_for(game, SPARSE_PROBE))
    session = make_runtime(weights, "core", "integer").session()
    return len(seen) * calls_per_second(lambda: session.run(seen), seconds)
