"""Calibrates the value at which a player resigns (P2) from games in which nobody did.

The core's statistics list (`audit`), for each player of such games, the lowest value that held
for `resign_plies` own moves, and how the game ended for that player. Had the threshold been t, the
player would have resigned if that value was at most t; it was a mistake if the game was not lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zermelo import _core
from zermelo.selfplay.options import PoolOptions

OFF = -1.0  # the core never resigns at this threshold


@dataclass(frozen=True)
class Calibration:
    """The threshold with what it rests on; values are for the player who would resign."""

    threshold: float  # OFF: nobody resigns
    noted: int  # players that were at or below the threshold and played on
    false_share: float  # of those, the share that did not lose; 0 without any
    audited: int  # players whose games were played to the end

    def metrics(self) -> dict[str, float]:
        """As figures of an iteration."""
        return {
            "resign_threshold": self.threshold,
            "resign_noted": self.noted,
            "resign_false_share": self.false_share,
            "resign_audited": self.audited,
        }


def first_threshold(pool: PoolOptions, selfplay: _core.SelfPlayOptions) -> float:
    """Before anything is known, or always if it is not calibrated."""
    return OFF if pool.resign_calibrated else float(selfplay.resign_threshold)


def calibrate(statistics: Iterable[Mapping[str, Any]], options: PoolOptions) -> Calibration:
    """The highest threshold at which at most `resign_false_share` of the noted were not lost.

    Off while fewer than `resign_noted` players were noted at it.
    """
    values, results = audits(statistics)
    audited = len(values)
    off = Calibration(OFF, 0, 0.0, audited)
    if not audited:
        return off
    order = np.argsort(values, kind="stable")
    values, results = values[order], results[order]
    noted = np.arange(1, audited + 1)
    shares = np.cumsum(results >= 0) / noted
    # Whoever is below the threshold resigns, so it lies between one value and the next.
    above = np.append(values[1:], 1.0)
    good = (
        (above > values)
        & (shares <= options.resign_false_share)
        & (noted >= options.resign_noted)
        & (values < options.resign_highest)
    )
    if not good.any():
        return off
    best = int(np.flatnonzero(good)[-1])
    threshold = min(0.5 * (values[best] + above[best]), options.resign_highest)
    return Calibration(float(threshold), int(noted[best]), float(shares[best]), audited)


def audits(
    statistics: Iterable[Mapping[str, Any]],
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Lowest sustained value and result (-1, 0, 1) of every audited player.

    While resignation is on, the core lists only games that were chosen at their start to be played
    through, so the list is a fair sample of all games at any time.
    """
    pairs = [pair for one in statistics for pair in one.get("audit", ())]
    values = np.array([value for value, _ in pairs], np.float64)
    return values, np.array([result for _, result in pairs], np.int64)
