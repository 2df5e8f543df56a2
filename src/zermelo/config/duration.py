"""Times as people write them: `90s`, `30m`, `1h30m`, `2d`."""

from __future__ import annotations

import re

from zermelo.errors import UserError

_UNITS = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0}
_PART = re.compile(r"(\d+(?:\.\d+)?)([dhms])")


def parse_duration(text: str) -> float:
    """Seconds; a number alone is seconds."""
    spelled = text.strip().lower().replace(" ", "")
    if re.fullmatch(r"\d+(\.\d+)?", spelled):
        spelled += "s"
    seconds = sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(spelled))
    if not spelled or _PART.sub("", spelled) or seconds <= 0:
        raise UserError(f"'{text}' is not a time above zero: write 90s, 30m, 1h30m or 2d")
    return seconds


def duration_text(seconds: float) -> str:
    """Two units at most: `1h 05m`, `3m 20s`, `8s`."""
    whole = max(0, round(seconds))
    days, rest = divmod(whole, 86400)
    hours, rest = divmod(rest, 3600)
    minutes, rest = divmod(rest, 60)
    if days:
        return f"{days}d {hours:02}h"
    if hours:
        return f"{hours}h {minutes:02}m"
    return f"{minutes}m {rest:02}s" if minutes else f"{rest}s"
