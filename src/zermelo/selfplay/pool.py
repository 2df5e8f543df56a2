"""What plays for a run, wherever it is: `SelfPlayPool`, and what a run gives it.

Knows no process and no machine. `LocalPool` plays in processes of this machine. A pool of other
machines has a `ShardProducer` on each, which gets its spec and orders as plain data:

- `order.network` loads the weights here; the pool sends them and puts a reference of its own in;
- what a producer makes goes home as a `Parcel`, and the pool gives it to its `ShardIntake`;
- `run_loop(..., pool=ThatPool)` and `ShardMaker(..., pool=ThatPool)` play with it.

`tests/loop/test_pools.py` has a small one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

from zermelo.games.protocol import Game
from zermelo.selfplay.order import Order, Spec

MOVES = "moves so far"  # the key of a message that tells how many a worker has made in an iteration
NO_SPACE = "waiting for disk space"  # a worker's state; others are playing, paused, done


@dataclasses.dataclass(frozen=True)
class PoolSetup:
    """What a pool is made of. It calls the functions in the thread that uses it.

    Workers that see this disk write their shards into `replay` themselves (`ShardWriter`) and
    `on_shard` hears of each. The pool of others gives what they played to a `ShardIntake`.
    """

    game: Game
    workers: int  # as many as are asked for; 0 lets the pool decide
    spec: Callable[[int], Spec]  # for a worker's number; anew at each start, which an order causes
    replay: Path  # the directory of the shards
    log_file: Path  # for what workers print
    lock_descriptor: int  # of the run's lock; processes that inherit it keep the run locked
    on_shard: Callable[[dict[str, Any]], None]  # takes what `shard_message` makes
    report: Callable[[str], None]  # takes a sentence for the person and the log
    wait_for_space: Callable[[], bool]  # while the disk is full: whether to try again


class SelfPlayPool(Protocol):
    """Workers, all of which do the same thing. Used by one thread.

    A worker that dies is the pool's to replace; if there is no use in going on, a UserError, or a
    RuntimeError if the fault is ours. In a `with` it is closed at the end, and killed when
    something that is no Exception ends it.
    """

    workers: int  # how many play; may change where machines come and go
    repeatable: bool  # whether one worker begins and ends an order with the files of saved games
    deaths: int  # of workers, in all

    @property
    def apart(self) -> bool:
        """Whether they play on other machines, so that training takes nothing from them."""
        return False

    @property
    def places(self) -> list[dict[str, Any]]:
        """The machines they play on, for the view; none if that is this one."""
        return []

    @property
    def dashboard(self) -> str:
        """The address of a page about those machines; empty without one."""
        return ""

    @property
    def moves(self) -> dict[int, int]:
        """That workers have made so far, by iteration; unfinished games count. None if not told."""
        return {}

    def figures(self) -> dict[str, Any]:
        """More about them for the metrics of an iteration."""
        return {}

    def play(self, order: Order) -> None:
        """All workers play this from now on; those that play something else change over."""

    def pause(self, check: Callable[[], None]) -> None:
        """Lets all workers hand in what they have and stand still; returns when they do.

        `check` is called meanwhile and may raise.
        """

    def listen(self, seconds: float) -> None:
        """Handles what workers say within the seconds; returns early after something was said."""

    @property
    def states(self) -> list[str]:
        """What each worker does, in a word or two."""

    @property
    def done(self) -> bool:
        """Whether all have played their quota."""

    @property
    def memory(self) -> int:
        """Bytes that workers use on this machine."""

    def close(self) -> None:
        """All workers hand in what they have and end."""

    def kill(self) -> None:
        """Ends all workers at once."""

    def strike(self) -> None:
        """From a signal's handler, as the last thing before the process ends: does not wait, takes
        no lock. Workers that end by themselves when we are gone need nothing more.
        """
        return

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if kind is None or issubclass(kind, Exception):
                self.close()
        finally:
            self.kill()


MakePool = Callable[[PoolSetup], SelfPlayPool]
