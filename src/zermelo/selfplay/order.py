"""What whoever plays itself is told: once what it is (`Spec`), then what to play (`Order`)."""

from __future__ import annotations

import dataclasses
from typing import Any

from zermelo.selfplay.network_reference import NetworkReference


@dataclasses.dataclass(frozen=True)
class Spec:
    """What a producer is for as long as it lives. Holds no path: it may live on any machine."""

    game: str
    search: dict[str, Any]  # of SearchOptions
    selfplay: dict[str, Any]  # of SelfPlayOptions
    backend: str
    precision: str
    worker: int  # its number in the names of its shards
    seed: int
    shard_samples: int
    exact: bool  # repeatable: plays its quota, then stands still and saves its games


@dataclasses.dataclass(frozen=True)
class Order:
    """What to play until the next order.

    The two files are the loop's: a pool reads and writes them, a producer gets and gives bytes.
    """

    iteration: int  # of the shards
    network: NetworkReference
    network_iteration: int  # of the samples
    simulations: int  # of a full search (P4)
    resign_threshold: float  # P2
    share: int  # samples expected of one producer; shards get smaller towards it
    quota: int = 0  # stop by oneself after so many; 0 is never
    games_from: str = ""  # file of saved games to begin with, for a repeatable run
    games_to: str = ""  # file for the games under way when the quota is reached
