"""Which network a game that nobody tuned begins with, and how quick a search it makes."""

from __future__ import annotations

import math
from typing import NamedTuple

from zermelo.games.protocol import Game
from zermelo.network import architecture_for
from zermelo.network.architecture import NetworkOptions
from zermelo.selfplay.choices import Choices
from zermelo.selfplay.measured import PROBE, SPARSE_PROBE, Measured

# Up to so many decimal digits of lines of play, this tower; the last is for all beyond.
TOWERS = ((8, (2, 32)), (30, (4, 48)), (90, (5, 64)), (220, (6, 96)), (math.inf, (8, 128)))
LEAST_EVALUATIONS = 800  # per second and core; a slower network is made smaller
SHORT_TIME, LEAST_WHEN_SHORT = 1800.0, 3000  # in so few seconds many games are worth more


class Chosen(NamedTuple):
    """A network as far as the other settings depend on it."""

    kind: str
    nodes_per_second: float  # of a search on one core


def choose_network(game: Game, found: Measured, choices: Choices, time: float | None) -> Chosen:
    """A tower, unless the other kind was asked for: of few games it learns far more.

    In four minutes of Gomoku on 9 x 9 a tower of three blocks agreed with the search on 39 % of
    moves, a processor network, whose search was three times as quick, on 4 % (docs/log.md).
    """
    kind = str(choices.value("network", "kind", "residual"))
    if kind == "sparse":
        sizes = SPARSE_PROBE
        choices.choose(
            "network",
            f"small ones learn soon; {found.sparse_per_second:,.0f} evaluations per second",
            hidden=sizes.hidden,
            policy_hidden=sizes.policy_hidden,
            value_hidden=sizes.value_hidden,
        )
        return Chosen(kind, found.nodes_per_second(found.sparse_per_second or 1e-9))
    tower = _tower_size(game, found, choices, time)
    choices.choose("network", tower.why, blocks=tower.blocks, filters=tower.filters)
    return Chosen(kind, found.nodes_per_second(tower.evaluations))


class _Tower(NamedTuple):
    blocks: int
    filters: int
    evaluations: float  # per second, as far as can be told
    why: str


def _tower_size(game: Game, found: Measured, choices: Choices, time: float | None) -> _Tower:
    """By the length of the game, but not too slow."""
    least = LEAST_EVALUATIONS if time is None or time > SHORT_TIME else LEAST_WHEN_SHORT
    sizes = [
        (choices.value("network", "blocks", blocks), choices.value("network", "filters", filters))
        for _, (blocks, filters) in TOWERS
    ]
    wanted = next(i for i, (digits, _) in enumerate(TOWERS) if found.digits <= digits)
    probe_work = architecture_for(game, PROBE).multiply_adds()

    def speed(size: tuple[int, int]) -> float:
        options = NetworkOptions(blocks=size[0], filters=size[1])
        work = architecture_for(game, options).multiply_adds()
        return found.evaluations_per_second * probe_work / work

    chosen = wanted
    while chosen and speed(sizes[chosen]) < least:
        chosen -= 1
    blocks, filters = sizes[chosen]
    why = f"lines of play have about {found.digits:.0f} digits"
    if chosen < wanted:
        why += f", and {sizes[wanted][0]}x{sizes[wanted][1]} would be too slow here"
    why += f" (about {speed(sizes[chosen]):,.0f} evaluations per second)"
    return _Tower(blocks, filters, speed(sizes[chosen]), why)
