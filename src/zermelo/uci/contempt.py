"""What a draw is worth against this opponent, from the rating advantage over him.

The options are lc0's: Contempt, and if it says nothing UCI_RatingAdv. Knows no search.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from zermelo.errors import UserError

RATING_SCALE = 400 / math.log(10)  # of the logistic curve of Elo's ratings
SHARE = 0.5  # of the lead that the advantage lets expect


def contempt_parts(text: str) -> list[tuple[str, float]]:
    """Names and rating advantages of `20, Fish=-50`; the name is empty where none is given."""
    found = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, number = part.rpartition("=")
        try:
            value = float(number)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise UserError(f"option Contempt: '{part}' should look like 20 or Name=20")
        found.append((name.strip().lower(), value))
    return found


def advantage(settings: Mapping[str, Any]) -> float:
    """The rating advantage that is played for; a name that the opponent's contains comes first."""
    parts = contempt_parts(settings["Contempt"])
    opponent = settings["UCI_Opponent"].lower()
    named = [value for name, value in parts if name and name in opponent]
    general = [value for name, value in parts if not name]
    return next(iter(named + general), float(settings["UCI_RatingAdv"]))


def draw_score(settings: Mapping[str, Any]) -> float:
    """What a draw is worth to us: less than 0 against a weaker opponent."""
    return -SHARE * math.tanh(advantage(settings) / (2 * RATING_SCALE)) + 0.0
