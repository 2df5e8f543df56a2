"""Which constants of the search are tuned, and within which bounds.

Owns the way from a list such as `c_puct,fpu_reduction=0:1` to points of the unit cube, and back to
options. Knows no games and no players.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zermelo._core import SearchOptions
from zermelo.errors import UserError, nearest

Point = NDArray[np.float64]  # in the unit cube, one number for each constant

# Where a good value has been found in some game; wider bounds take more games.
USUAL = {
    "c_puct": (0.5, 4.0),
    "c_puct_root": (0.5, 4.0),
    "c_puct_factor": (0.0, 6.0),
    "c_puct_factor_root": (0.0, 6.0),
    "fpu_reduction": (0.0, 1.0),
    "fpu_slope": (0.0, 0.6),
    "policy_temperature": (0.5, 2.5),
    "policy_temperature_root": (0.5, 2.5),
    "turn_discount": (0.97, 1.0),
    "spread_weight": (0.0, 1.0),
    "impurity_slope": (0.0, 3.0),
    "impurity_base": (0.0, 1.5),
    "lcb_z": (0.0, 4.0),
    "lcb_visit_share": (0.0, 0.6),
    "backup_shrinkage": (0.0, 10.0),
    "gumbel_scale": (0.1, 3.0),
    "draw_score": (-0.3, 0.3),
}
DIGITS = 4


@dataclass(frozen=True)
class Constant:
    """One number of the search options, and the bounds within which it is looked for."""

    name: str
    low: float
    high: float

    def value(self, unit: float) -> float:
        """Of a place between the bounds, rounded to a few digits."""
        return float(f"{self.low + (self.high - self.low) * min(max(unit, 0.0), 1.0):.{DIGITS}g}")

    def unit(self, value: float) -> float:
        """Where a value lies between the bounds, at most at one of them."""
        return min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)


def parse_constants(text: str) -> list[Constant]:
    """From `c_puct,fpu_reduction=0:1`; without bounds the usual ones."""
    rows: dict[str, Mapping[str, Any]] = {row["name"]: row for row in SearchOptions.table()}
    found: list[Constant] = []
    for item in filter(None, (part.strip() for part in text.split(","))):
        name, _, bounds = item.partition("=")
        if name not in rows:
            raise UserError(f"the search has no option '{name}'; {nearest(name, rows)}")
        row = rows[name]
        if not isinstance(row["default"], float):
            raise UserError(f"{name} is no number with a fraction: `zermelo ablate` compares such")
        if any(constant.name == name for constant in found):
            raise UserError(f"{name} is named twice")
        found.append(Constant(name, *_bounds(name, bounds, row)))
    if not found:
        raise UserError("which constants? Name some: --options c_puct,fpu_reduction")
    return found


def _bounds(name: str, text: str, row: Mapping[str, Any]) -> tuple[float, float]:
    if not text:
        if name not in USUAL:
            raise UserError(f"say between which values {name} is looked for: {name}=LOW:HIGH")
        return USUAL[name]
    try:
        low, high = (float(part) for part in text.split(":"))
    except ValueError:
        raise UserError(f"the bounds of {name} must be LOW:HIGH, not '{text}'") from None
    if not row["low"] <= low < high <= row["high"]:
        raise UserError(
            f"the bounds of {name} must be LOW:HIGH between {row['low']:g} and {row['high']:g}, "
            f"not '{text}'"
        )
    return low, high


def begin(constants: Sequence[Constant], search: SearchOptions) -> Point:
    """Where a search's own values lie."""
    own = search.to_dict()
    return np.array([constant.unit(float(own[constant.name])) for constant in constants])


def options_at(constants: Sequence[Constant], point: Point) -> dict[str, float]:
    """The constants' values at a point, by name."""
    return {c.name: c.value(float(unit)) for c, unit in zip(constants, point, strict=True)}
