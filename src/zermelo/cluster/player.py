"""A self-play worker on some node: an actor of Ray, which plays for seconds at each call.

Knows no disk of the run and no other worker. What it plays goes home as parcels. A plain class:
`pool.py` makes an actor of it. Calls to `play` come one at a time; `turn` and `pulse` are called
from another thread meanwhile.
"""

from __future__ import annotations

import dataclasses
import os
import threading
import time
from dataclasses import dataclass, field
from typing import Any

from zermelo.cluster.luggage import Luggage
from zermelo.errors import users_sentence
from zermelo.games.protocol import Game
from zermelo.network import Weights
from zermelo.processes.memory import memory_of
from zermelo.selfplay.intake import Parcel
from zermelo.selfplay.order import Order, Spec
from zermelo.selfplay.producer import SMALLEST, ShardProducer

LONGER = 1.1  # than a call must be, so that it needs no second shard


@dataclass(frozen=True)
class SentNetwork:
    """A network in the cluster's memory. Each machine gets the weights once for all its workers."""

    name: str  # equal names are equal weights
    weights: Any = field(compare=False, repr=False)  # a reference of Ray

    def load(self, game: Game) -> Weights:
        """From this machine's shared memory."""
        import ray

        weights: Weights = ray.get(self.weights)
        weights.architecture.check_fits(game)
        return weights


@dataclass(frozen=True)
class Delivery:
    """What one call gives."""

    parcels: list[Parcel]
    done: int = 0  # the order whose quota is played, by its serial; 0: there is more to play
    busy: float = 0.0  # seconds of this call
    idle: float = 0.0  # seconds that the worker had nothing to do before it
    memory: int = 0  # bytes of the process
    refusal: str = ""  # why it cannot play; a person's matter


class SelfPlayActor:
    """One producer and what wakes it."""

    def __init__(self, spec: Spec, luggage: Luggage, least_seconds: float) -> None:
        self._luggage = luggage.unpack()
        self.producer: ShardProducer | None = None
        self.spec = dataclasses.replace(spec, game=self._luggage.game(spec.game))
        self.least_seconds = least_seconds
        self.serial = 0  # of the newest order that is known; written under `_lock` alone
        self._lock = threading.Lock()
        self.moved_on = 0.0  # when the games last did; 0: there is nothing to do
        self.ended = 0.0  # when the last call did; 0: none under this order

    def play(self, serial: int, order: Order) -> Delivery:
        """Shards of the order for some seconds, and one at least; nothing if it is over."""
        started = time.monotonic()
        if serial < self.serial:
            self.ended = 0.0
            return Delivery([])
        idle = started - self.ended if self.ended and serial == self.serial else 0.0
        self._know(serial)
        self.moved_on = started  # a new network, which is compiled first, may stand still too
        try:
            parcels = self._parcels(serial, order, started)
        except Exception as error:
            if (sentence := users_sentence(error)) is None:
                raise
            return Delivery([], refusal=sentence)
        finally:
            self.moved_on = 0.0
        self.ended = time.monotonic() if serial == self.serial else 0.0
        assert self.producer is not None
        memory = memory_of([os.getpid()])
        done = serial if self.producer.done else 0
        return Delivery(parcels, done, time.monotonic() - started, idle, memory)

    def turn(self, serial: int) -> int:
        """What is older than this is over: a call under way hands in what it has."""
        self._know(serial)
        return os.getpid()

    def pulse(self) -> float:
        """Seconds without a step of the games; 0 while there is nothing to play."""
        since = self.moved_on
        return time.monotonic() - since if since else 0.0

    def _know(self, serial: int) -> None:
        """From either thread, which must not put back what the other has heard."""
        with self._lock:
            self.serial = max(serial, self.serial)

    def _parcels(self, serial: int, order: Order, started: float) -> list[Parcel]:
        if self.producer is None:
            self.producer = ShardProducer(self.spec)
        producer = self.producer
        if order != producer.order:
            producer.begin(order)
        parcels: list[Parcel] = []

        def over() -> bool:
            self.moved_on = time.monotonic()
            return serial < self.serial

        while not over() and not producer.done:
            played = producer.produce(order, over)
            if len(played.samples):
                parcels.append(Parcel.of(producer, order, played))
            # Beyond its share the iteration may be over any time, so that is heard of at once.
            if producer.made >= order.share or time.monotonic() - started >= self.least_seconds:
                break
        samples = sum(len(parcel.played.samples) for parcel in parcels)
        spent = time.monotonic() - started
        producer.least = samples_of_call(samples, spent, self.least_seconds, order.share)
        return parcels


def samples_of_call(samples: int, spent: float, least_seconds: float, share: int) -> int:
    """What a shard should have so that the next call needs one, judged by this one's speed.

    The driver writes every shard by itself, which costs it milliseconds however small that is.
    """
    enough = LONGER * least_seconds * samples / max(spent, 1e-3)
    return max(SMALLEST, min(int(enough), share))
