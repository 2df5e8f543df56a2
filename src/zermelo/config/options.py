"""Options of the whole run: what no stage owns by itself."""

from __future__ import annotations

from dataclasses import dataclass

from zermelo.network.architecture import NetworkOptions
from zermelo.options import option

HIGHEST_SEED = 9_000_000_000_000_000  # that the core's own options take


@dataclass(frozen=True)
class GameOptions:
    """Which game."""

    name: str = option("", "A game's name with its settings, or a Python file.")


@dataclass(frozen=True)
class NetworkSettings(NetworkOptions):
    """`NetworkOptions` with their ranges, as a run file states them."""

    blocks: int = option(NetworkOptions.blocks, "Residual blocks.", low=0, high=100)
    filters: int = option(NetworkOptions.filters, "Channels of the tower.", low=1, high=2048)
    se_ratio: int = option(
        NetworkOptions.se_ratio,
        "Squeeze-and-excitation: channels per hidden unit; 0 leaves it out.",
        low=0,
        high=2048,
    )
    policy: str = option(
        NetworkOptions.policy,
        "conv for chess's moves, dense for any game.",
        choices=("auto", "conv", "dense"),
    )
    policy_filters: int = option(
        NetworkOptions.policy_filters, "Planes before a dense policy.", low=1, high=2048
    )
    value_filters: int = option(
        NetworkOptions.value_filters, "Planes before the value's dense layers.", low=1, high=2048
    )
    value_hidden: int = option(
        NetworkOptions.value_hidden, "Hidden units of the value head.", low=1, high=65536
    )
    moves_left: bool = option(
        NetworkOptions.moves_left, "A third head: plies until the end of the game."
    )


@dataclass(frozen=True)
class LoopOptions:
    """How the stages take turns."""

    iterations: int = option(100, "Iterations of the whole run.", low=1, high=1_000_000)
    samples_per_iteration: int = option(
        10_000,
        "New samples without which an iteration's training does not begin.",
        low=1,
        high=1_000_000_000,
        technique="T8",
    )
    samples_share: float = option(
        0.0,
        "Or so many times the samples of the iteration before, if that is less (below 1: but at "
        "least this share of samples_per_iteration); 0 is never.",
        low=0.0,
        high=10.0,
        technique="T8",
    )
    mode: str = option(
        "auto",
        "Play and train in turns (alternate) or at once (together); auto is alternate.",
        choices=("auto", "alternate", "together"),
    )
    keep_checkpoints: int = option(5, "Newest checkpoints that are kept.", low=3, high=1_000_000)
    keep_every: int = option(
        10, "Checkpoints that are kept for ever: every so many; 0 is none.", low=0, high=1_000_000
    )
    seed: int = option(0, "Of everything random in the run.", low=0, high=HIGHEST_SEED)
