"""What a check found."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

HEALTHY, ILL, UNKNOWN = "healthy", "ill", "unknown"


@dataclass(frozen=True)
class Finding:
    """One check's verdict on a run, with the figure that it rests on."""

    check: str
    verdict: str  # HEALTHY, ILL or UNKNOWN
    figure: float | None
    sentence: str  # what was found; if unknown, why
    advice: str = ""  # what to do; empty unless ill
    figures: dict[str, float] = field(default_factory=dict)  # what else was measured

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "check": self.check,
            "verdict": self.verdict,
            "figure": plain(self.figure),
            "sentence": self.sentence,
            "advice": self.advice,
            "figures": {name: plain(value) for name, value in self.figures.items()},
        }


def verdict(
    check: str, sick: bool, figure: float, sentence: str, advice: str, **figures: float
) -> Finding:
    """Ill with its advice, or healthy without."""
    return Finding(
        check, ILL if sick else HEALTHY, figure, sentence, advice if sick else "", figures
    )


def unknown(check: str, reason: str) -> Finding:
    """A check that cannot say anything yet."""
    return Finding(check, UNKNOWN, None, reason)


def more_variety(config: Any) -> str:
    """Advice for games that are too much alike; what Gumbel searches ignore is not named."""
    if config.search.gumbel:
        selfplay = config.selfplay
        greedy = selfplay.temperature_start == selfplay.temperature_end == 0
        samples = "temperature_start above 0" if greedy else "temperature_plies"
        return (
            f"Lower search.gumbel_scale, or raise selfplay.{samples}, "
            "selfplay.opening_share with opening_plies, or selfplay.opening_temperature; other "
            "temperatures and Dirichlet noise do nothing in full searches with search.gumbel."
        )
    return (
        "Raise selfplay.temperature_start (1.3) and temperature_plies, search.dirichlet_epsilon "
        "(0.25), or selfplay.opening_share with opening_plies."
    )


def plain(value: float | None) -> float | None:
    """As JSON has it."""
    return None if value is None or not math.isfinite(value) else float(value)
