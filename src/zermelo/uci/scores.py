"""Numbers as chess programs write them: centipawns, permille, moves to mate.

Values Q are in [-1, 1] for the side to move.
"""

from __future__ import annotations

import math

from zermelo.search.result import LARGEST_CP, centipawns

WDL = tuple[float, float, float]


def wdl_mu(wdl: WDL) -> float | None:
    """The centre of the logistic distribution that gives these probabilities; None near certainty.

    With W = f((mu - 1) / s) and L = f((-mu - 1) / s), f the logistic function. 1 is a pawn.
    """
    win, _, loss = wdl
    if not all(0.001 < share < 0.999 for share in (win, loss)):
        return None
    a, b = math.log(1 / loss - 1), math.log(1 / win - 1)
    return (a - b) / (a + b) if a + b > 1e-6 else None


def score(kind: str, q: float, wdl: WDL) -> int:
    """What stands behind `score cp` for that ScoreType."""
    if kind == "win_percentage":
        return round(5000 + 5000 * q)
    if kind == "Q":
        return round(10_000 * q)
    if kind == "W-L":
        return round(10_000 * (wdl[0] - wdl[2]))
    if kind == "WDL_mu" and (mu := wdl_mu(wdl)) is not None:
        return round(min(max(100 * mu, -LARGEST_CP), LARGEST_CP))
    return centipawns(q)


def permille(wdl: WDL) -> tuple[int, int, int]:
    """Three whole numbers that sum to 1000."""
    win = min(max(round(1000 * wdl[0]), 0), 1000)
    loss = min(max(round(1000 * wdl[2]), 0), 1000 - win)
    return win, 1000 - win - loss, loss
