"""Options of the whole run: what no stage owns by itself."""

from __future__ import annotations

from dataclasses import dataclass

from zermelo.network.architecture import NetworkOptions
from zermelo.options import option

HIGHEST_SEED = 9_000_000_000_000_000  # that the core's own options take


@dataclass(frozen=True)
class GameOptions:
    """Which game."""

    name: str = option("", "Name of a game with its settings, or a Python file.")


@dataclass(frozen=True)
class NetworkSettings(NetworkOptions):
    """`NetworkOptions` with their ranges, as a run file states them."""

    kind: str = option(
        NetworkOptions.kind,
        "residual: a tower of convolutions; sparse: made for processors.",
        choices=("residual", "sparse"),
        technique="T17",
    )
    hidden: int = option(
        NetworkOptions.hidden, "Sparse: units of the first layer.", low=64, high=1024
    )
    policy_hidden: int = option(
        NetworkOptions.policy_hidden,
        "Sparse: units before the policy; 0 takes the first layer.",
        low=0,
        high=1024,
    )
    windows: str = option(
        NetworkOptions.windows, "Sparse: patterns of cells, such as line4 or 2x3; empty for none."
    )
    inputs: str = option(
        NetworkOptions.inputs,
        "Sparse: what the game tells beyond its planes; chess has attacks; empty for none.",
    )
    blocks: int = option(NetworkOptions.blocks, "Number of residual blocks.", low=0, high=100)
    filters: int = option(NetworkOptions.filters, "Channels of the tower.", low=1, high=2048)
    se_ratio: int = option(
        NetworkOptions.se_ratio,
        "Squeeze-and-excitation: channels per hidden unit; 0 leaves it out.",
        low=0,
        high=2048,
    )
    policy: str = option(
        NetworkOptions.policy,
        "Policy head: conv for chess, dense for any game; auto selects by the game.",
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
        NetworkOptions.moves_left, "Add a head that predicts the plies until the end of the game."
    )


@dataclass(frozen=True)
class LoopOptions:
    """How the stages take turns."""

    iterations: int = option(100, "Number of iterations of the run.", low=1, high=1_000_000)
    samples_per_iteration: int = option(
        10_000,
        "New samples that an iteration needs before it trains.",
        low=1,
        high=1_000_000_000,
        technique="T8",
    )
    samples_share: float = option(
        0.0,
        "Cap on new samples, as a multiple of the previous iteration's samples (below 1 the cap is "
        "at least this share of samples_per_iteration); 0 means no cap.",
        low=0.0,
        high=10.0,
        technique="T8",
    )
    mode: str = option(
        "auto",
        "Play and train in turns (alternate) or together; auto selects alternate, and together "
        "where other machines play.",
        choices=("auto", "alternate", "together"),
    )
    keep_checkpoints: int = option(
        5, "Number of newest checkpoints to keep.", low=3, high=1_000_000
    )
    keep_every: int = option(
        10,
        "Keep checkpoints forever whose number is a multiple of this; 0 means none.",
        low=0,
        high=1_000_000,
    )
    seed: int = option(0, "Random seed of the run.", low=0, high=HIGHEST_SEED)


@dataclass(frozen=True)
class ClusterOptions:
    """How self-play is spread over the machines of a cluster (`--cluster`)."""

    worker_cpus: float = option(1.0, "Cores that one self-play actor takes.", low=0.01, high=1024)
    worker_gpus: float = option(
        0.0, "Share of a graphics card that one self-play actor takes.", low=0.0, high=16
    )
    call_seconds: float = option(
        1.0, "Least seconds of play that one call asks an actor for.", low=0.0, high=600
    )
    object_store_mib: int = option(
        512, "Memory for networks and samples on their way, of a local cluster.", low=80,
        high=1_000_000,
    )  # fmt: skip
    copy_to: str = option(
        "", "A URL of fsspec to which finished shards and checkpoints are copied; empty for none."
    )
