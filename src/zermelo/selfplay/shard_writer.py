"""Turns what was played into the shards of one worker, and waits while the disk is full."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from zermelo.errors import UserError
from zermelo.files import patiently
from zermelo.games.protocol import Game
from zermelo.replay import ReplayStore, Schema, ShardHeader, read_header, shard_path, write_shard
from zermelo.replay.shard import parse_name
from zermelo.selfplay.producer import EXACT
from zermelo.selfplay.self_play import Played


class ShardWriter:
    """Numbers and writes the shards of one worker."""

    def __init__(self, directory: Path, game: Game, worker: int) -> None:
        self.directory = directory
        self.worker = worker
        self.schema = Schema.of(game)
        self.number = ReplayStore(directory, self.schema).next_number(worker)

    def write(
        self,
        iteration: int,
        played: Played,
        facts: dict[str, Any],
        wait: Callable[[], bool] | None = None,
    ) -> Path | None:
        """The new shard; None if no game was finished. `facts` join the statistics.

        While the disk is full, `wait` is asked whether to try again; without it, or if it says no,
        a UserError says that the disk is full.
        """
        if not len(played.samples):
            return None
        header = ShardHeader.of(
            self.schema,
            played.samples,
            iteration=iteration,
            worker=self.worker,
            number=self.number,
            statistics=played.statistics | facts,
            records=played.records,
        )
        path = shard_path(self.directory, iteration, self.worker, self.number)
        patiently(lambda: write_shard(path, played.samples, header, played.records), wait)
        self.number += 1
        return path

    def forget_from(self, iteration: int) -> None:
        """Removes this worker's repeatable shards of that iteration and later ones.

        They are about to be played again, and come out the same.
        """
        for path in sorted(self.directory.glob("*.zshard")):
            place = parse_name(path.name)
            if place is None or place[0] < iteration or place[1] != self.worker:
                continue
            if is_exact(path):
                path.unlink(missing_ok=True)
        self.number = ReplayStore(self.directory, self.schema).next_number(self.worker)


def shard_message(path: Path, iteration: int, played: Played) -> dict[str, Any]:
    """What a pool's `on_shard` hears of a shard that was written."""
    figures = {name: value for name, value in played.statistics.items() if name != "audit"}
    return {"shard": path.name, "iteration": iteration, **figures}


def is_exact(path: Path) -> bool:
    """Whether a shard was made by a repeatable run."""
    try:
        return bool(read_header(path).statistics.get(EXACT))
    except (UserError, FileNotFoundError):
        return False
