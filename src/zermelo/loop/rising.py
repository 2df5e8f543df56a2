"""What rises while a run learns: a few figures over its iterations, as lines of small bars.

Reads figures by their names; does not know how they were measured or on what they are drawn.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from zermelo.runs.status import number

BARS = "▁▂▃▄▅▆▇█"
WIDTH = 40  # bars; of longer series the newest
ACCURACY = "first choice"  # that the network shares with the search; there from iteration 1

Rising = dict[str, list[float]]  # by name, oldest first


def add(rising: Rising, metrics: Mapping[str, Any], evaluation: Mapping[str, Any] | None) -> None:
    """An iteration's figures; none of `evaluation` where nothing was measured (yet)."""
    accuracy = number(dict(metrics), "train", "training", "policy_accuracy")
    if accuracy is not None:
        rising.setdefault(ACCURACY, []).append(accuracy)
    for key, value in (evaluation or {}).items():
        name = name_of(key)
        if name and isinstance(value, int | float) and math.isfinite(value):
            rising.setdefault(name, []).append(float(value))


def name_of(key: str) -> str:
    """A figure's name for people, or "" if it is none that rises."""
    name, _, last = key.rpartition(".")
    if key == "ladder.elo":
        return "Elo in this run"
    if last == "score" and name not in ("ladder", "policy") and not name.startswith("performance"):
        return f"against {name}"
    return f"{name}: {last.replace('_', ' ')}" if last in ("keeps_value", "solved") else ""


def spark(values: Sequence[float]) -> str:
    """Bars from the lowest to the highest; shares, which lie within 0 and 1, from 0 to 1."""
    shown = list(values)[-WIDTH:]
    low, high = min(shown), max(shown)
    if low >= 0 and high <= 1:
        low, high = 0.0, 1.0
    span = high - low or 1.0
    return "".join(BARS[min(7, int(8 * (value - low) / span))] for value in shown)


def last_text(values: Sequence[float]) -> str:
    """The newest value; ratings are no shares."""
    share = min(values) >= 0 and max(values) <= 1
    return f"{values[-1]:.0%}" if share else f"{values[-1]:+.0f}"
