"""One self-play actor as the pool sees it: what it was asked for, what it does, how fast it is."""

from __future__ import annotations

import time
from collections import deque
from typing import Any

from zermelo.cluster.luggage import Luggage
from zermelo.cluster.nodes import Node, on
from zermelo.cluster.player import Delivery, SelfPlayActor
from zermelo.selfplay.order import Order, Spec

CONTROL = "control"  # a thread of the actor that hears us while it plays
AHEAD = 2  # calls that an actor has at a time, so that it need not wait for us
LAST_CHANCE = 1.0  # seconds for its answer, if this machine itself stood still
RECENT = 8  # deliveries that its speed is judged by


class Seat:
    """Owned by the pool; one thread."""

    def __init__(
        self, spec: Spec, node: Node, size: tuple[float, float], luggage: Luggage, least: float
    ) -> None:
        import ray

        cpus, gpus = size
        kind = ray.remote(concurrency_groups={CONTROL: 1}, max_restarts=0)(SelfPlayActor)
        self.number = spec.worker
        self.node = node
        self.actor: Any = kind.options(
            num_cpus=cpus, num_gpus=gpus, scheduling_strategy=on(node.key)
        ).remote(spec, luggage, least)
        self.calls: list[Any] = []  # that have not come back
        self.state = "starting"  # playing, paused, done
        self.asked = time.monotonic()  # when it was last heard of, or first asked
        self.begun = False  # it has answered once
        self.stuck = False  # its games stand still, which was said
        self.memory = 0  # bytes
        self._pulse: Any = None  # a question whether it lives
        self._pulse_asked = 0.0
        self._rests_since: float | None = None  # with nothing left of the order
        self._recent: deque[tuple[int, float, float]] = deque(maxlen=RECENT)

    def play(self, serial: int, order: Order) -> None:
        """As many calls as it should have."""
        if self.state != "starting":
            self.state = "playing"
        if self._rests_since is not None:
            self._recent.append((0, 0.0, self._rest))
            self._rests_since = None
        while len(self.calls) < AHEAD:
            self.calls.append(self.actor.play.remote(serial, order))

    def turn(self, serial: int) -> None:
        """What it plays is over; its calls come back soon."""
        self.actor.turn.options(concurrency_group=CONTROL).remote(serial)

    def hear(self, call: Any, delivery: Delivery, done: bool) -> None:
        """A call came back; `done` if there is nothing left of the order."""
        self.calls.remove(call)
        self.asked, self.begun, self._pulse = time.monotonic(), True, None
        self.memory = delivery.memory or self.memory
        samples = sum(len(parcel.played.samples) for parcel in delivery.parcels)
        if delivery.busy:
            self._recent.append((samples, delivery.busy, delivery.idle))
        self.state = "done" if done else "playing"
        if done and self._rests_since is None:
            self._rests_since = time.monotonic()

    def silent(self, seconds: float) -> bool:
        """Whether it was asked for a sign of life and gave none, for so long in all.

        One that has not begun may wait for room on its node, which takes any time, so it is asked
        whether its games stand still and not given up.
        """
        import ray

        now = time.monotonic()
        if not self.calls or now - self.asked < seconds / 2:
            return False
        if self._pulse is None:  # we may not have listened for long ourselves
            self._pulse = self.actor.pulse.options(concurrency_group=CONTROL).remote()
            self._pulse_asked = now
        overdue = self.begun and now - self._pulse_asked >= seconds / 2
        ready, _ = ray.wait([self._pulse], timeout=LAST_CHANCE if overdue else 0)
        if not ready:
            return overdue
        try:
            self.standing = float(ray.get(self._pulse))
        except ray.exceptions.RayError:  # it has died, as its calls say too
            return False
        self.asked, self._pulse = now, None
        return False

    standing = 0.0  # seconds without a step of its games, as it last said

    @property
    def _rest(self) -> float:
        """Seconds since it has had nothing to do, as the trainer is not ready for more."""
        return 0.0 if self._rests_since is None else time.monotonic() - self._rests_since

    @property
    def rate(self) -> float:
        """Samples per second of late."""
        seconds = sum(busy + idle for _, busy, idle in self._recent) + self._rest
        return sum(samples for samples, _, _ in self._recent) / seconds if seconds else 0.0

    @property
    def idle(self) -> float:
        """The share of its time in which it had nothing to do, while there was an order."""
        idle = sum(idle for _, _, idle in self._recent) + self._rest
        seconds = sum(busy for _, busy, _ in self._recent) + idle
        return idle / seconds if seconds else 0.0

    def kill(self) -> None:
        """At once."""
        import ray

        ray.kill(self.actor, no_restart=True)
