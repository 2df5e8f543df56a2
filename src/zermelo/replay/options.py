"""What can be chosen about replay, and how large the window is."""

from __future__ import annotations

from dataclasses import dataclass

from zermelo.errors import UserError
from zermelo.options import option


@dataclass(frozen=True)
class ReplayOptions:
    """The section [replay] of a run file."""

    window_start: int = option(
        5, "Iterations in the window at the start of a run.", low=1, high=1_000_000, technique="T6"
    )
    window_max: int = option(
        30, "Iterations in the window after its growth.", low=1, high=1_000_000, technique="T6"
    )
    window_growth: int = option(
        50,
        "Number of iterations over which the window grows.",
        low=0,
        high=1_000_000,
        technique="T6",
    )
    max_samples: int = option(
        4_000_000,
        "Most samples in memory; the oldest leave first.",
        low=1,
        high=1_000_000_000,
        technique="T7",
        alphazero="500,000 games",
    )
    deduplicate: bool = option(
        True, "Merge equal positions and average their targets.", technique="T4", alphazero="off"
    )
    dedup_weight: str = option(
        "log",
        "Weight of a position seen n times: log2(1 + n), 1, or n.",
        choices=("log", "constant", "linear"),
        technique="T4",
    )
    symmetries: bool = option(
        True,
        "Show each sample in a random symmetry.",
        technique="T5",
        alphazero="off",
    )
    shard_samples: int = option(
        2000,
        "About how many samples a shard holds; games stay whole.",
        low=1,
        high=1_000_000,
        technique="T2",
    )
    holdout: float = option(
        0.02,
        "Share of the games that training never sees, to detect overfitting.",
        low=0.0,
        high=0.5,
    )

    def __post_init__(self) -> None:
        """Refuses a window that would have to shrink."""
        if self.window_start > self.window_max:
            raise UserError(
                f"[replay]: window_start is {self.window_start}, "
                f"more than window_max, which is {self.window_max}"
            )


def window_size(iteration: int, options: ReplayOptions) -> int:
    """How many of the last iterations are used at `iteration`, counted from 0 (T6).

    Linear: window_start at 0, window_max from iteration window_growth on.
    """
    if iteration >= options.window_growth:
        return options.window_max
    grown = (options.window_max - options.window_start) * max(iteration, 0)
    return options.window_start + grown // options.window_growth
