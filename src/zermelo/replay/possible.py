"""Whether a shard's games can have been played: every move legal, every sample one of its game.

A checksum only says that a file is as it was written. Needs the rules, so the core does it.
"""

from __future__ import annotations

import numpy as np

from zermelo import _core
from zermelo.games.native import native_game
from zermelo.games.protocol import Game
from zermelo.replay.columns import ShardError
from zermelo.replay.records import GameRecords
from zermelo.replay.samples import Samples


def check_games(samples: Samples, records: GameRecords, game: Game) -> None:
    """Raises ShardError; says nothing of a shard without records, whose moves are not known.

    The columns were checked by `rules` before.
    """
    if not len(records):
        return
    order = np.lexsort((samples.plies, samples.games))
    if (order[1:] < order[:-1]).any():
        samples = samples.take(order)
    try:
        _core.check_games(native_game(game), samples.columns(), records.columns())
    except _core.RefusedError as error:
        raise ShardError(str(error)) from None
