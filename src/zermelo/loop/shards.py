"""Self-play by itself: shards of one network in a directory, without training anything.

What workers are told and which runtime they use is the same in the whole cycle (`cycle.py`).
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zermelo.errors import UserError
from zermelo.loop.stop import Stop, StoppedError
from zermelo.loop.tally import SelfPlayTally
from zermelo.network import Weights, architecture_for, load_network, random_weights, save_network
from zermelo.network.places import network_path
from zermelo.replay import ReplayStore
from zermelo.runs.lock import RunLock
from zermelo.selfplay.local_pool import LocalPool
from zermelo.selfplay.network_reference import LocalNetwork
from zermelo.selfplay.order import Order, Spec
from zermelo.selfplay.pool import MakePool, PoolSetup, SelfPlayPool

if TYPE_CHECKING:
    from zermelo.config import RunConfig

NETWORK_FILE = "network.safetensors"  # of a network that knows nothing
LINE_EVERY = 10.0  # seconds

Note = Callable[[str], None]  # takes a sentence for the person


def spec_for(config: RunConfig, worker: int, seed: int, exact: bool = False) -> Spec:
    """What a worker is told at its start."""
    return Spec(
        game=config.game_name,
        search=config.search.to_dict(),
        selfplay=config.selfplay.to_dict(),
        backend=config.pool.backend,
        precision=config.pool.precision,
        worker=worker,
        seed=seed,
        shard_samples=config.replay.shard_samples,
        exact=exact,
    )


def leaves_runtime_open(config: RunConfig) -> bool:
    """Whether something is `auto`; a processor network has one runtime, the core."""
    runtime = (config.pool.backend, config.pool.precision)
    return config.network.kind != "sparse" and "auto" in runtime


def measured_runtime(config: RunConfig, weights: Weights, note: Note) -> dict[str, dict[str, Any]]:
    """What `auto` means here, as settings of a run; takes seconds."""
    from zermelo.network.measure import choice_text, fastest

    given = config.pool
    backend, precision, choice = fastest(
        weights, given.backend, given.precision, game=config.game()
    )
    if choice:
        note(choice_text(choice))
    return {"selfplay": {"backend": backend, "precision": precision}}


class ShardMaker:
    """Fills a directory; the seed and the number of workers are those of the options."""

    def __init__(
        self, config: RunConfig, out: Path, note: Note, pool: MakePool = LocalPool
    ) -> None:
        self.config = config
        self.out = out
        self.note = note
        self.new_pool = pool
        self.tally = SelfPlayTally()

    def make(self, samples: int, weights: str | None, stop: Stop) -> dict[str, Any]:
        """Plays until the samples are there or somebody stops it; the figures."""
        try:
            self.out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(f"'{self.out}' cannot be made: {error.strerror}") from None
        lock = RunLock(self.out / "lock")
        try:
            network = self.ready_network(weights)
            started = time.monotonic()
            pool = self.make_pool(lock, stop)
            self.tally.workers = pool.workers
            self.play(pool, self.order(samples, network), samples, stop)
        finally:
            lock.release()
        return {
            "game": self.config.game().name,
            "directory": str(self.out),
            "network": str(network),
            "backend": self.config.pool.backend,
            "precision": self.config.pool.precision,
            "workers": self.tally.workers,
            "stopped": stop.asked or "done",
            "wall_seconds": round(time.monotonic() - started, 3),
            **self.tally.metrics(0),
        }

    def ready_network(self, weights: str | None) -> Path:
        """The network's file or checkpoint; settles what evaluates it."""
        game = self.config.game()
        if weights is None:
            place = self.out / NETWORK_FILE
            architecture = architecture_for(game, self.config.network)
            save_network(random_weights(architecture, self.config.loop.seed), place)
        else:
            place = Path(network_path(weights))
        network = load_network(place, game)
        if leaves_runtime_open(self.config):
            self.config = self.config.changed(measured_runtime(self.config, network, self.note))
        return place.resolve()

    def order(self, samples: int, network: Path) -> Order:
        """What all workers play."""
        share = -(-samples // self.tally.workers)
        return Order(
            iteration=0,
            network=LocalNetwork.at(network),
            network_iteration=0,
            simulations=int(self.config.selfplay.simulations),
            resign_threshold=float(self.config.selfplay.resign_threshold),
            share=share,
            quota=share,
        )

    def make_pool(self, lock: RunLock, stop: Stop) -> SelfPlayPool:
        """What plays, not started yet."""
        game = self.config.game()
        shards = ReplayStore(self.out, game)

        def spec(number: int) -> Spec:
            seed = worker_seed(self.config.loop.seed, number, shards.next_number(number))
            return spec_for(self.config, number, seed)

        return self.new_pool(
            PoolSetup(
                game,
                self.config.pool.workers,
                spec,
                self.out,
                self.out / "log.txt",
                lock.descriptor,
                on_shard=self.tally.add,
                report=self.note,
                wait_for_space=lambda: not stop.asked,
            )
        )

    def play(self, pool: SelfPlayPool, order: Order, samples: int, stop: Stop) -> None:
        """Until all workers have done their share."""
        shown = time.monotonic()
        try:
            with pool:
                stop.on_kill = pool.strike
                pool.play(order)
                while not pool.done:
                    pool.listen(0.1)
                    if time.monotonic() - shown >= LINE_EVERY:
                        shown = time.monotonic()
                        self.note(f"{self.tally.count(0):,} of {samples:,} samples")
                    stop.check()
        except StoppedError:
            pass


def worker_seed(seed: int, worker: int, shards: int) -> int:
    """Of a worker that finds so many shards of its own: it must not play their games again."""
    return random.Random(f"selfplay {seed} {worker} {shards}").getrandbits(52)
