"""A self-play process: orders come in on a pipe, shards go into the run's directory.

`python -m zermelo.selfplay.worker` is started by the loop. Its first message is a `Spec`, the next
ones are orders: "play" (also under way: the newer network is used from then on), "pause" and "end".
It answers with a message per shard and one when it paused or is done. When the loop dies, the pipe
closes and the worker ends; what it then loses at most is the shard that it was filling.
"""

from __future__ import annotations

import dataclasses
import os
import re
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from zermelo import _core
from zermelo.checkpoint import CheckpointStore
from zermelo.checkpoint.manifest import MANIFEST_FILE
from zermelo.errors import UserError
from zermelo.files import write_whole
from zermelo.games import game as find_game
from zermelo.games.protocol import Game
from zermelo.network import Weights, load_network
from zermelo.selfplay.channel import Channel, Message
from zermelo.selfplay.self_play import Played, SelfPlay
from zermelo.selfplay.shard_writer import EXACT, ShardWriter

SMALLEST_PART = 16  # a shard is at least this part of a worker's share of an iteration,
SMALLEST = 100  # and at least so many samples
NO_SPACE = "waiting for disk space"


@dataclasses.dataclass(frozen=True)
class Spec:
    """What a worker is for as long as it lives."""

    game: str
    search: dict[str, Any]  # of SearchOptions
    selfplay: dict[str, Any]  # of SelfPlayOptions
    backend: str
    precision: str
    replay: str  # directory of the shards
    worker: int
    seed: int
    shard_samples: int
    exact: bool  # repeatable: plays its quota, then stands still and saves its games


@dataclasses.dataclass(frozen=True)
class Order:
    """What to play until the next order."""

    iteration: int  # of the shards
    network: str  # a checkpoint's directory or a network file
    network_iteration: int  # of the samples
    simulations: int  # of a full search (P4)
    resign_threshold: float  # P2
    share: int  # samples expected of this worker; shards get smaller towards it
    quota: int = 0  # stop by oneself after so many; 0 is never
    games_from: str = ""  # file of saved games to begin with, for a repeatable run
    games_to: str = ""  # file for the games under way when the quota is reached


class Worker:
    """Plays as ordered; one per process."""

    def __init__(self, spec: Spec, channel: Channel) -> None:
        self.spec = spec
        self.channel = channel
        self.game = find_game(spec.game)
        self.writer = ShardWriter(Path(spec.replay), self.game, spec.worker)
        self.selfplay: SelfPlay | None = None
        self.network = ""
        self.pending: Message | None = None  # an order that came while playing
        self.waited = False  # for space on the disk

    def run(self) -> None:
        """Until "end" or until the loop has gone."""
        while True:
            message = self.pending or self.channel.receive(None)
            self.pending = None
            if message is None or message["do"] == "end":
                return
            if message["do"] == "pause":
                self.channel.send({"state": "paused"})
            elif message["do"] == "play":
                self.play(Order(**message["order"]))

    def play(self, order: Order) -> None:
        """One order, until its quota is done or another message comes."""
        selfplay = self.prepare(order)
        self.channel.send({"state": "playing", "iteration": order.iteration})
        made = 0
        while True:
            played = selfplay.play(self.shard_size(order, made), 0.0, self.poll)
            interrupted = self.hears_order()  # the core polls only every 20 ms
            if not (interrupted and self.spec.exact):  # else it will be played again
                self.write(order, played)
            made += len(played.samples)
            if interrupted:
                break
            if order.quota and made >= order.quota:
                self.finish(order)
                break

    def prepare(self, order: Order) -> SelfPlay:
        """The games, network and options that the order wants."""
        if self.selfplay is None or self.network != order.network:
            weights = load_verified(Path(order.network), self.game)
            if self.selfplay is None:
                self.selfplay = self.new_games(weights)
            else:
                self.selfplay.use(weights)
            self.network = order.network
        if self.spec.exact:
            self.writer.forget_from(order.iteration)
        if order.games_from:
            self.restore(self.selfplay, Path(order.games_from))
        self.selfplay.set(simulations=order.simulations, resign_threshold=order.resign_threshold)
        self.selfplay.at_iteration(order.network_iteration)
        return self.selfplay

    def new_games(self, weights: Weights) -> SelfPlay:
        """All boards at the start of a game."""
        spec = self.spec
        options = _core.SelfPlayOptions(**spec.selfplay | {"seed": spec.seed})
        search = _core.SearchOptions(**spec.search | {"seed": spec.seed})
        return SelfPlay(
            self.game, weights, search, options, backend=spec.backend, precision=spec.precision
        )

    def restore(self, selfplay: SelfPlay, path: Path) -> None:
        """Goes on from the games that a checkpoint holds; a runner in the same state stays so."""
        try:
            selfplay.load(path.read_bytes())
        except (OSError, ValueError) as error:
            self.channel.send({"note": f"new games are begun, '{path}' is not used: {error}"})

    def finish(self, order: Order) -> None:
        """The quota is done: the games under way are saved for the checkpoint."""
        assert self.selfplay is not None
        if order.games_to:
            path = Path(order.games_to)
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, self.selfplay.save())
        self.channel.send({"state": "done", "iteration": order.iteration})

    def shard_size(self, order: Order, made: int) -> int:
        """Full shards first, smaller ones towards the end, so that workers finish together."""
        if order.quota:
            return min(self.spec.shard_samples, order.quota - made)
        smallest = max(SMALLEST, order.share // SMALLEST_PART)
        return min(self.spec.shard_samples, max(smallest, (order.share - made) // 2))

    def write(self, order: Order, played: Played) -> None:
        """One shard and the message about it."""
        facts = {
            "seed": self.spec.seed,
            "budget": order.simulations,
            "resign_threshold": order.resign_threshold,
            EXACT: self.spec.exact,
        }
        path = self.writer.write(order.iteration, played, facts, self.wait_for_space)
        if path is not None:
            figures = {k: v for k, v in played.statistics.items() if k != "audit"}
            self.channel.send({"shard": path.name, "iteration": order.iteration, **figures})
        if self.waited:
            self.waited = False
            self.channel.send({"state": "playing", "iteration": order.iteration})

    def poll(self) -> None:
        """Called by the core about every 20 ms; stops it when there is something to do."""
        if self.hears_order():
            assert self.selfplay is not None
            self.selfplay.stop()

    def hears_order(self) -> bool:
        """Whether another message came or the loop has gone."""
        if self.pending is None:
            self.pending = self.channel.receive(0.0)
        return self.pending is not None or self.channel.closed

    def wait_for_space(self) -> bool:
        """Says so and waits on, unless this worker is to end."""
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
        """Whether the message that waits ends the worker."""
        return self.pending is not None and self.pending["do"] == "end"


def load_verified(path: Path, game: Game) -> Weights:
    """A checkpoint whose manifest vouches for its network, or a network file."""
    numbered = re.fullmatch("[0-9]{6,}", path.name)  # else a copy, which no store would find
    if not numbered or not (path / MANIFEST_FILE).exists():
        return load_network(path, game)
    weights = CheckpointStore(path.parent, read_only=True).open(int(path.name)).weights()
    weights.architecture.check_fits(game)
    return weights


def main() -> int:
    """The process: messages on the standard streams, everything else on the error stream."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the loop, which then says "end"
    channel = Channel(os.dup(0), os.dup(1))
    os.dup2(2, 1)  # what a library prints is no message
    spec = channel.receive(None)
    if spec is None:
        return 0
    try:
        Worker(Spec(**spec), channel).run()
    except Exception as error:
        by_user = isinstance(error, UserError)
        if not by_user:
            print(time.strftime("%F %T"), "worker", spec["worker"], file=sys.stderr)
            traceback.print_exc()
        words = str(error) if by_user else f"{type(error).__name__}: {error}"
        channel.send({"error": words, "by_user": by_user})
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
