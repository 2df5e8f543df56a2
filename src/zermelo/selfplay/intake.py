"""Where a pool hands in what workers played that do not see the run's disk.

One owner in the loop's process and thread writes all of their shards; how the games came here is
the pool's business. A parcel that comes twice is written once.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from zermelo.replay import ReplayStore
from zermelo.selfplay.order import Order
from zermelo.selfplay.pool import PoolSetup
from zermelo.selfplay.producer import FIRST_GAME, ShardProducer
from zermelo.selfplay.self_play import Played
from zermelo.selfplay.shard_writer import ShardWriter, shard_message


@dataclasses.dataclass(frozen=True)
class Parcel:
    """What a worker sends home: a shard's samples, and what a shard's header says of them."""

    worker: int
    iteration: int
    played: Played
    facts: dict[str, Any]  # of the producer: its seed, the number of the first game

    @classmethod
    def of(cls, producer: ShardProducer, order: Order, played: Played) -> Parcel:
        """What the producer made last."""
        return cls(producer.spec.worker, order.iteration, played, producer.facts(order))


class ShardIntake:
    """Writes parcels and tells the loop of each."""

    def __init__(self, setup: PoolSetup) -> None:
        self.setup = setup
        self._writers: dict[int, ShardWriter] = {}  # by worker
        self._waiting = False  # for space on the disk
        # Which games are on the disk: by seed and iteration, ranges of their numbers.
        self._there: dict[tuple[int, int], list[range]] = {}
        for shard in ReplayStore(setup.replay, setup.game).shards():
            statistics = shard.header.statistics
            if FIRST_GAME in statistics:
                there = self._games_of(statistics["seed"], shard.header.iteration)
                there.append(_numbers(statistics, statistics))

    def deliver(self, parcel: Parcel) -> bool:
        """Whether it is written now; not if it has no game, or one that is on the disk already.

        While the disk is full it waits; a UserError says that it is, if the loop ends meanwhile.
        """
        played, worker = parcel.played, parcel.worker
        numbers = _numbers(parcel.facts, played.statistics)
        there = self._games_of(parcel.facts["seed"], parcel.iteration)
        if any(_overlap(numbers, other) for other in there):
            return False
        if worker not in self._writers:
            setup = self.setup
            self._writers[worker] = ShardWriter(setup.replay, setup.game, worker)
        path = self._writers[worker].write(
            parcel.iteration, played, parcel.facts, self._wait_for_space
        )
        self._waiting = False
        if path is None:
            return False
        there.append(numbers)
        self.setup.on_shard(shard_message(path, parcel.iteration, played))
        return True

    def _wait_for_space(self) -> bool:
        """Said once each time."""
        if not self._waiting:
            self._waiting = True
            self.setup.report("the disk is full: samples that came home wait until there is room")
        return self.setup.wait_for_space()

    def _games_of(self, seed: int, iteration: int) -> list[range]:
        return self._there.setdefault((seed, iteration), [])


def _numbers(facts: Mapping[str, Any], statistics: Mapping[str, Any]) -> range:
    first = int(facts[FIRST_GAME])
    return range(first, first + int(statistics["games"]))


def _overlap(one: range, other: range) -> bool:
    return max(one.start, other.start) < min(one.stop, other.stop)
