"""T15: what became of a sample's position later in its game, for heads that only training has.

Shards need not hold it: their whole games are played through again. The opponent's reply is the
policy of the next ply's full search where the other player moves; a later value is that of the
first search that is a sample, so many plies later or more, or the game's result if it ended before.
Samples without a recorded game have neither.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zermelo.games.protocol import Game
from zermelo.replay.canonical import canonical
from zermelo.replay.columns import Array
from zermelo.replay.samples import DRAW_SCALE, FULL, VALUE_SCALE, root_wdl
from zermelo.replay.shard import Shard
from zermelo.replay.whole_games import RecordedGame, games

HORIZONS = (6, 16, 50)  # plies later


@dataclass(frozen=True, eq=False)
class Futures:
    """Of N samples, by row."""

    reply: NDArray[np.int32]  # [N] how many rows later the reply stands; 0: there is none
    frame: NDArray[np.uint8]  # [N] the symmetry that the sample stands in
    wdl: NDArray[np.float32]  # [N, 3 * horizons] of the mover, later; NaN where not known

    @staticmethod
    def unknown(count: int) -> Futures:
        """Of samples whose games nobody recorded."""
        return Futures(
            np.zeros(count, np.int32),
            np.zeros(count, np.uint8),
            np.full((count, 3 * len(HORIZONS)), np.nan, np.float32),
        )

    def merged(self, order: Array, first: Array) -> MergedFutures:
        """Of groups of rows: `order` has them together, each group begins at a place of `first`.

        Later values are means over those that are known; the reply is that of the newest row with
        one, since a mean of replies to different actions would answer none of them.
        """
        groups = len(first)
        answered = np.where(self.reply[order] > 0, np.arange(len(order)), -1)
        newest = np.maximum.reduceat(answered, first) if groups else answered
        found = self.wdl[order]
        known = ~np.isnan(found)
        counts = np.add.reduceat(known, first, axis=0, dtype=np.int64) if groups else known
        sums = np.add.reduceat(np.nan_to_num(found), first, axis=0) if groups else found
        means = (sums / np.maximum(counts, 1)).astype(np.float32)
        return MergedFutures(
            rows=np.where(newest >= 0, order[newest], -1).astype(np.int64),
            wdl=means.reshape(groups, len(HORIZONS), 3),
            known=(counts > 0).reshape(groups, len(HORIZONS), 3)[:, :, 0].astype(np.float32),
            source=self,
        )


@dataclass(frozen=True, eq=False)
class MergedFutures:
    """Of M positions to learn from."""

    rows: NDArray[np.int64]  # [M] the sample whose reply is learnt; -1: there is none
    wdl: NDArray[np.float32]  # [M, horizons, 3]
    known: NDArray[np.float32]  # [M, horizons] 1, or 0 where there is no target
    source: Futures


def futures_of(game: Game, shard: Shard) -> Futures:
    """Of a shard's samples."""
    found = Futures.unknown(len(shard.samples))
    for record in games(shard):
        _follow(game, shard, record, found)
    return found


def _follow(game: Game, shard: Shard, record: RecordedGame, found: Futures) -> None:
    """Fills in the rows of one game."""
    samples, rows = shard.samples, record.rows
    if not len(rows):
        return
    plies = samples.plies[rows].astype(np.int64)
    movers = np.empty(len(rows), np.int64)
    place = 0
    for ply, state in enumerate(record.states(game)):
        if place < len(rows) and plies[place] == ply:
            movers[place] = game.player(state)
            found.frame[rows[place]] = canonical(game, state).symmetry
            place += 1
    if place < len(rows):  # samples whose plies are not those of the record
        return
    values = samples.values[rows] / np.float32(VALUE_SCALE)
    draws = samples.draws[rows] / np.float32(DRAW_SCALE)
    replies = np.flatnonzero(
        (plies[1:] == plies[:-1] + 1)
        & (movers[1:] != movers[:-1])
        & ((samples.flags[rows[1:]] & FULL) != 0)
        & (rows[1:] > rows[:-1])
    )
    found.reply[rows[replies]] = rows[replies + 1] - rows[replies]
    result = samples.results[rows].astype(np.float32)
    ended = root_wdl(result, (result == 0).astype(np.float32))
    left = samples.plies_left[rows].astype(np.int64)
    for index, horizon in enumerate(HORIZONS):
        later = np.searchsorted(plies, plies + horizon)
        over = (later == len(rows)) | ((left > 0) & (left <= horizon))
        later = np.minimum(later, len(rows) - 1)
        sign = np.where(movers[later] == movers, 1, -1).astype(np.float32)
        searched = root_wdl(sign * values[later], draws[later])
        wdl = np.where(over[:, None], ended, searched)
        found.wdl[rows, 3 * index : 3 * index + 3] = wdl
