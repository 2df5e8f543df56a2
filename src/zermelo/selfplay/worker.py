"""A self-play process: orders come in on a pipe, shards go into the run's directory.

`python -m zermelo.selfplay.worker` is started by `LocalPool`. Its first message is a `Spec` and
where shards go, the next ones are orders: "play" (also under way: the newer network is used from
then on), "pause" and "end". It answers with a message per shard and one when it paused or is done.
When the loop dies, the pipe closes and the process ends; what it then loses at most is the shard
that it was filling. The games are the producer's; files, messages and waiting are ours.
"""

from __future__ import annotations

import dataclasses
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

from zermelo.files import patiently, write_whole
from zermelo.processes.channel import Channel, Message
from zermelo.processes.pulse import beat
from zermelo.processes.serve import serve
from zermelo.selfplay.network_reference import LocalNetwork
from zermelo.selfplay.order import Order, Spec
from zermelo.selfplay.pool import MOVES, NO_SPACE
from zermelo.selfplay.producer import ShardProducer
from zermelo.selfplay.self_play import Played
from zermelo.selfplay.shard_writer import ShardWriter, shard_message

TELL_EVERY = 0.5  # seconds


def first_message(spec: Spec, replay: Path) -> Message:
    """What a process is told at its start."""
    return {"spec": dataclasses.asdict(spec), "replay": str(replay)}


def play_message(order: Order) -> Message:
    """An order as the pipe carries it; its network must be plain data too."""
    assert isinstance(order.network, LocalNetwork)
    return {"do": "play", "order": dataclasses.asdict(order)}


def order_of(message: Message) -> Order:
    """The order that `play_message` was made of."""
    fields: dict[str, Any] = dict(message["order"])
    return Order(**fields | {"network": LocalNetwork(**fields["network"])})


class SelfPlayProcess:
    """Plays as ordered; one per process."""

    def __init__(self, spec: Spec, replay: Path, channel: Channel) -> None:
        self.spec = spec
        self.channel = channel
        self.producer = ShardProducer(spec)
        self.writer = ShardWriter(replay, self.producer.game, spec.worker)
        self.pending: Message | None = None  # an order that came while playing
        self.waited = False  # for space on the disk
        self.told = 0.0  # when the number of moves was, by the monotonic clock
        self.moved_on = 0.0  # when the games last did, by the monotonic clock; 0: nothing to do

    def run(self) -> None:
        """Until "end" or until the loop has gone."""
        while True:
            message = self.pending or self.channel.receive(None)
            self.pending = None
            if message is None or message["do"] == "end":
                return
            self.moved_on = 0.0
            if message["do"] == "pause":
                self.channel.send({"state": "paused"})
            elif message["do"] == "play":
                self.play(order_of(message))

    def play(self, order: Order) -> None:
        """One order, until its quota is done or another message comes."""
        self.begin(order)
        self.channel.send({"state": "playing", "iteration": order.iteration})
        while True:
            played = self.producer.produce(order, self.hears_order)
            interrupted = self.hears_order()  # the producer asks only every 20 ms
            self.moved_on = 0.0  # what follows is no business of the network
            if not (interrupted and self.spec.exact):  # else it will be played again
                self.write(order, played)
            if interrupted:
                break
            if self.producer.done:
                self.finish(order)
                break

    def begin(self, order: Order) -> None:
        """The games that the order wants; shards that will be played again are removed."""
        games, fault = None, ""
        if order.games_from:
            try:
                games = Path(order.games_from).read_bytes()
            except OSError as error:
                fault = str(error)
        fault = self.producer.begin(order, games) or fault
        if self.spec.exact:
            self.writer.forget_from(order.iteration)
        if fault:
            words = f"new games are begun, '{order.games_from}' is not used: {fault}"
            self.channel.send({"note": words})

    def finish(self, order: Order) -> None:
        """The quota is done: the games under way are saved for the checkpoint."""
        if order.games_to:
            path = Path(order.games_to)
            path.parent.mkdir(parents=True, exist_ok=True)
            patiently(partial(write_whole, path, self.producer.save()), self.wait_for_space)
            self.waited = False
        self.channel.send({"state": "done", "iteration": order.iteration})

    def write(self, order: Order, played: Played) -> None:
        """One shard and the message about it."""
        facts = self.producer.facts(order)
        path = self.writer.write(order.iteration, played, facts, self.wait_for_space)
        if path is not None:
            self.channel.send(shard_message(path, order.iteration, played))
        if self.waited:
            self.waited = False
            self.channel.send({"state": "playing", "iteration": order.iteration})

    def hears_order(self) -> bool:
        """Whether another message came or the loop has gone; asked while the games go on."""
        self.moved_on = time.monotonic()
        self.tell_moves()
        if self.pending is None:
            self.pending = self.channel.receive(0.0)
        return self.pending is not None or self.channel.closed

    def tell_moves(self) -> None:
        """Progress from the first second on, though no game may be over for minutes."""
        if self.producer.order is not None and self.moved_on - self.told >= TELL_EVERY:
            self.told = self.moved_on
            iteration = self.producer.order.iteration
            self.channel.send({MOVES: self.producer.moves(), "iteration": iteration})

    def stuck(self) -> float:
        """Seconds without a step of the games; 0 while there is nothing to play. By any thread."""
        since = self.moved_on
        return time.monotonic() - since if since else 0.0

    def wait_for_space(self) -> bool:
        """Says so and waits on, unless this process is to end."""
        if not self.waited:
            self.waited = True
            self.channel.send({"state": NO_SPACE})
        return not self.hears_end()

    def hears_end(self) -> bool:
        """Whether the loop has gone or said "end"; of other messages only the newest counts."""
        while not self.is_last_order() and (message := self.channel.receive(0.0)) is not None:
            self.pending = message
        return self.channel.closed or self.is_last_order()

    def is_last_order(self) -> bool:
        """Whether the message that waits ends the process."""
        return self.pending is not None and self.pending["do"] == "end"


def work(first: Message, channel: Channel) -> None:
    """All that the process does."""
    process = SelfPlayProcess(Spec(**first["spec"]), Path(first["replay"]), channel)
    beat(channel, process.stuck)
    process.run()


def main() -> int:
    """The process."""
    return serve(work, lambda first: f"worker {first['spec']['worker']}")


if __name__ == "__main__":
    sys.exit(main())
