"""`RayPool`: self-play actors on all nodes of a cluster, as many as there is room for.

Nodes may come and go at any time: each gets actors, and what a dead one had not handed in is lost,
at most a shard for each actor. Weights are put into the cluster's memory once for each checkpoint.
What is played comes home through it, and one intake in this process writes it, every game once.
Calls are coarse, about a second and up; Ray carries, schedules and notices deaths.
"""

from __future__ import annotations

import dataclasses
import socket
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from zermelo.cluster.connection import Cluster
from zermelo.cluster.luggage import Luggage
from zermelo.cluster.nodes import Node, Nodes, first_line
from zermelo.cluster.patience import Patience
from zermelo.cluster.player import Delivery, SentNetwork
from zermelo.cluster.seat import Seat
from zermelo.config.options import ClusterOptions
from zermelo.errors import UserError
from zermelo.network import Weights
from zermelo.selfplay.intake import ShardIntake
from zermelo.selfplay.network_reference import NetworkReference
from zermelo.selfplay.order import Order
from zermelo.selfplay.pool import PoolSetup, SelfPlayPool

LOOK_EVERY = 0.5  # seconds between two looks at the nodes
FIRST_LOOK = 20.0  # seconds for the nodes to say their versions before the run begins
FAILURES = 5  # of one node without a shard between them: it plays no more
END_SECONDS = 8.0  # for actors to hand in what they have
SILENT_SECONDS = 20.0  # without a sign of life, though its node lives: an actor is replaced
STUCK_SECONDS = 30.0  # without a step of its games: said once


class RayPool(SelfPlayPool):
    """Actors, replaced when they die. One that starts again plays other games than before."""

    repeatable = False

    def __init__(self, setup: PoolSetup, cluster: Cluster, options: ClusterOptions) -> None:
        self.workers = 1  # that there are, or will be once there is an order
        self.deaths = 0
        self.doubles = 0  # parcels that came twice
        self._setup = setup
        self._cluster = cluster
        self._options = options
        self._intake = ShardIntake(setup)
        self._nodes = Nodes(setup.report)
        self._seats: list[Seat] = []
        self._luggage: Luggage | None = None  # from the first actor on
        self._order: Order | None = None  # with a network that was sent
        self._serial = 0  # of the order
        self._sent: tuple[NetworkReference, SentNetwork] | None = None
        self._failures: Counter[str] = Counter()  # by node
        self._looked = 0.0
        self._since = time.time()  # 1970; tells in the metrics which driver this was
        self._here: list[Node] = []
        self._patience = Patience(setup.report)
        self._host = socket.gethostname()
        self._first_look()

    @property
    def apart(self) -> bool:
        """Whether another machine plays, from which training takes nothing."""
        return any(node.host != self._host for node in self._here)

    # ---- orders ---------------------------------------------------------------------------------

    def play(self, order: Order) -> None:
        """To all actors, which the first order starts."""
        assert not order.games_from + order.games_to
        sent = dataclasses.replace(order, network=self._send(order.network))
        if sent == self._order:
            return
        self._change(sent)
        self._fill()
        for seat in self._seats:
            seat.play(self._serial, sent)

    def pause(self, check: Callable[[], None]) -> None:
        """Those that have not begun yet, perhaps for want of room, are not waited for."""
        self._change(None)
        while any(seat.calls and seat.begun for seat in self._seats):
            self.listen(0.1)
            check()
        for seat in self._seats:
            seat.state = "paused"

    def _change(self, order: Order | None) -> None:
        self._order = order
        self._serial += 1
        for seat in self._seats:
            seat.turn(self._serial)

    def _send(self, network: NetworkReference) -> SentNetwork:
        """Put into the cluster's memory, once."""
        import ray

        if self._sent is None or self._sent[0] != network:
            weights: Weights = network.load(self._setup.game)
            self._sent = network, SentNetwork(repr(network), ray.put(weights))
        return self._sent[1]

    def close(self) -> None:
        """Actors that do not hand in what they have in time are killed."""
        until = time.monotonic() + END_SECONDS

        def check() -> None:
            if time.monotonic() > until:
                raise TimeoutError

        try:
            self.pause(check)
        except TimeoutError:
            pass
        finally:
            self.kill()

    def kill(self) -> None:
        """What an actor has not handed in is lost."""
        for seat in self._seats:
            seat.kill()
        self._seats = []

    # ---- listening ------------------------------------------------------------------------------

    def listen(self, seconds: float) -> None:
        """Hears all calls that came back, and looks at the nodes now and then."""
        import ray

        if time.monotonic() - self._looked >= LOOK_EVERY:
            self._look()
            self._fill()
        calls = {call: seat for seat in self._seats for call in seat.calls}
        if not calls:
            time.sleep(min(seconds, 0.05))
            return
        ready, _ = ray.wait(list(calls), timeout=seconds)
        if ready:
            more, _ = ray.wait(list(calls), num_returns=len(calls), timeout=0)
            ready = list(dict.fromkeys([*ready, *more]))
        for call in ready:
            self._hear(calls[call], call)

    def _hear(self, seat: Seat, call: Any) -> None:
        import ray

        if seat not in self._seats:  # it died a moment ago
            return
        try:
            delivery: Delivery = ray.get(call)
        except ray.exceptions.RayError as error:
            raised = isinstance(error, ray.exceptions.RayTaskError)  # or its process was killed
            self._bury(seat, first_line(error), by_us=raised)
            return
        self._patience.heard()
        done = delivery.done == self._serial  # not of an order before this one
        seat.hear(call, delivery, done)
        if delivery.refusal:
            self._bury(seat, delivery.refusal, refused=True)
            return
        if self._order is not None and not done:
            seat.play(self._serial, self._order)  # before we write, so that nobody waits for that
        for parcel in delivery.parcels:
            self._failures[seat.node.key] = 0
            if not self._intake.deliver(parcel):
                self.doubles += 1

    def _bury(self, seat: Seat, reason: str, refused: bool = False, by_us: bool = False) -> None:
        """An actor has gone; another is started where there is room, with a number that is free.

        `refused`: it cannot play, for a reason of the person's; `by_us`: a fault of ours.
        """
        seat.kill()
        self._seats.remove(seat)
        self.deaths += 1
        key = seat.node.key
        self._failures[key] += 1
        self._look()
        if all(node.key != key for node in self._here):
            self._setup.report(f"actor {seat.number} went with its node {seat.node.name}")
        elif refused or self._failures[key] >= FAILURES:
            self._nodes.refuse(seat.node, reason)
            for other in [other for other in self._seats if other.node.key == key]:
                other.kill()
                self._seats.remove(other)
            self._look()
            if not self._here:
                raise (RuntimeError if by_us else UserError)(
                    f"no node of the cluster can play: {reason}"
                )
        else:
            self._setup.report(
                f"actor {seat.number} on {seat.node.name} died ({reason}) and is started again"
            )
        self._fill()

    # ---- nodes ----------------------------------------------------------------------------------

    def _first_look(self) -> None:
        """Waits until the nodes that are there have said their versions."""
        until = time.monotonic() + FIRST_LOOK
        self._look()
        while self._nodes.waiting and time.monotonic() < until:
            time.sleep(0.05)
            self._look()
        if not self._here:
            self._setup.report("no node of the cluster has room for an actor yet: waiting for one")

    def _look(self) -> None:
        self._looked = time.monotonic()
        if not self._cluster.check_head():
            return
        self._here = [node for node in self._nodes.look() if self._room(node)]
        room = sum(self._room(node) for node in self._here)
        self.workers = max(1, min(room, self._setup.workers or room))
        if self._order is not None and self._seats:
            self._patience.look()
        alive = {node.key for node in self._here}
        for seat in list(self._seats):
            if seat not in self._seats:  # buried with another a moment ago
                continue
            if seat.node.key not in alive:
                self._seats.remove(seat)
                self.deaths += 1
            elif seat.silent(SILENT_SECONDS):
                self._bury(seat, f"no sign of life for {SILENT_SECONDS:.0f} s")
            else:
                self._note_stuck(seat)

    def _note_stuck(self, seat: Seat) -> None:
        if seat.standing < STUCK_SECONDS:
            seat.stuck = False
        elif not seat.stuck:
            seat.stuck = True
            self._setup.report(
                f"actor {seat.number} on {seat.node.name} has stood still for "
                f"{seat.standing:.0f} s: its network does not answer"
            )

    def _room(self, node: Node) -> int:
        return node.room(self._options.worker_cpus, self._options.worker_gpus)

    def _fill(self) -> None:
        """Actors where there is room, once there was an order."""
        if self._serial == 0:
            return
        numbers = {seat.number for seat in self._seats}
        taken = Counter(seat.node.key for seat in self._seats)
        most = self._setup.workers or sum(self._room(node) for node in self._here)
        while len(self._seats) < most:
            free = [node for node in self._here if taken[node.key] < self._room(node)]
            if not free:
                return
            node = min(free, key=lambda node: taken[node.key] / self._room(node))
            number = next(n for n in range(len(numbers) + 1) if n not in numbers)
            size = self._options.worker_cpus, self._options.worker_gpus
            spec = self._setup.spec(number)
            if self._luggage is None:
                self._luggage = Luggage.of(spec.game)
            seat = Seat(spec, node, size, self._luggage, self._options.call_seconds)
            self._seats.append(seat)
            numbers.add(number)
            taken[node.key] += 1
            if self._order is None:
                seat.state = "paused"
            else:
                seat.play(self._serial, self._order)

    # ---- what is told ---------------------------------------------------------------------------

    @property
    def states(self) -> list[str]:
        """By number."""
        return [seat.state for seat in sorted(self._seats, key=lambda seat: seat.number)]

    @property
    def done(self) -> bool:
        """Not before there are any."""
        return bool(self._seats) and all(seat.state == "done" for seat in self._seats)

    @property
    def memory(self) -> int:
        """Of the actors on this machine."""
        return sum(seat.memory for seat in self._seats if seat.node.host == self._host)

    @property
    def places(self) -> list[dict[str, Any]]:
        """The nodes that play, with their speed and whether they had to wait for work."""
        found = []
        for node in self._here:
            seats = [seat for seat in self._seats if seat.node.key == node.key]
            idle = sum(seat.idle for seat in seats) / len(seats) if seats else 0.0
            rate = sum(seat.rate for seat in seats)
            facts = {"name": node.name, "actors": len(seats), "samples_per_second": rate}
            found.append(facts | {"idle_share": idle})
        return found

    @property
    def dashboard(self) -> str:
        """Ray's own."""
        return self._cluster.dashboard

    def figures(self) -> dict[str, Any]:
        """For the metrics of an iteration."""
        return {
            "nodes": len(self._here),
            "actors": len(self._seats),
            "nodes_lost": self._nodes.lost,
            "actors_lost": self.deaths,
            "parcels_twice": self.doubles,
            "driver_since": self._since,
        }


def pool_on(cluster: Cluster, options: ClusterOptions) -> Callable[[PoolSetup], RayPool]:
    """For `run_loop(pool=...)`."""
    return lambda setup: RayPool(setup, cluster, options)
