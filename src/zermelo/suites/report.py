"""What the answers to a suite come to: shares with intervals, budgets, themes, mates."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import Any

from zermelo.suites.solve import Answer

Z = 1.96  # of the 95 % interval of a share


def share_interval(solved: int, of: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share."""
    if of == 0:
        return 0.0, 1.0
    share, square = solved / of, Z * Z / of
    middle = (share + square / 2) / (1 + square)
    half = Z * math.sqrt(share * (1 - share) / of + square / of / 4) / (1 + square)
    return max(0.0, middle - half), min(1.0, middle + half)


def summary(answers: Sequence[Answer]) -> dict[str, Any]:
    """Plain values with stable keys; those that do not apply are None."""
    solved = sum(answer.solved for answer in answers)
    low, high = share_interval(solved, len(answers))
    needed = sorted(a.simulations for a in answers if a.simulations is not None)
    return {
        "problems": len(answers),
        "solved": solved,
        "share": solved / len(answers) if answers else 0.0,
        "share_low": low,
        "share_high": high,
        "optimal": _count(answer.optimal for answer in answers),
        "value_error": _mean([a.value_error for a in answers if a.value_error is not None]),
        "simulations": simulations_table(needed, len(answers)),
        "mates": mates_table(answers),
        "themes": themes_table(answers),
        "seconds": round(sum(answer.seconds for answer in answers), 3),
    }


def simulations_table(needed: Sequence[int], problems: int) -> dict[str, Any] | None:
    """Of the solved: median and most; of all: the share solved within 1, 10, ... up to the most."""
    if not needed:
        return None
    budgets = [1]
    while budgets[-1] < needed[-1]:
        budgets.append(10 * budgets[-1])
    return {
        "median_of_solved": statistics.median(needed),
        "most": needed[-1],
        "within": {str(b): sum(n <= b for n in needed) / problems for b in budgets},
    }


def mates_table(answers: Sequence[Answer]) -> dict[str, Any] | None:
    """Claims of mate: how many are there, exact, verified, undecided, wrong."""
    claims = [answer for answer in answers if answer.mate is not None]
    if not claims:
        return None
    return {
        "claimed": len(claims),
        "exact": sum(answer.exact is True for answer in claims),
        "verified": sum(answer.verified is True for answer in claims),
        "undecided": [answer.name for answer in claims if answer.verified is None],
        "wrong": [answer.name for answer in claims if answer.verified is False],
    }


def themes_table(answers: Sequence[Answer]) -> list[dict[str, Any]]:
    """One row per theme, the most frequent first."""
    themes: dict[str, list[Answer]] = {}
    for answer in answers:
        for theme in answer.themes:
            themes.setdefault(theme, []).append(answer)
    rows = []
    for theme, found in sorted(themes.items(), key=lambda item: (-len(item[1]), item[0])):
        needed = [a.simulations for a in found if a.simulations is not None]
        solved = sum(answer.solved for answer in found)
        rows.append(
            {
                "theme": theme,
                "problems": len(found),
                "solved": solved,
                "share": solved / len(found),
                "median_simulations": statistics.median(needed) if needed else None,
            }
        )
    return rows


def _count(values: Any) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _mean(values: Sequence[float]) -> float | None:
    return statistics.fmean(values) if values else None
