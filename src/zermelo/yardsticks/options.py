"""Options of the yardsticks that a training run applies to its checkpoints: `[evaluate]`."""

from __future__ import annotations

from dataclasses import dataclass

from zermelo.options import option


@dataclass(frozen=True)
class EvaluateOptions:
    """When the yardsticks are applied to a new checkpoint, and how long they may take."""

    every: int = option(
        1, "Iterations from one evaluation to the next; 0 is never.", low=0, high=1_000_000
    )
    seconds: float = option(
        20.0,
        "For all yardsticks of one evaluation; 0 is as long as they take.",
        low=0.0,
        high=1e6,
        technique="E2",
    )
    meanwhile: bool = option(
        False,
        "Measure while the next iteration is played, instead of before it; both take longer then.",
    )
    simulations: int = option(
        100, "Of the network's search, for each choice.", low=1, high=1_000_000, technique="E2"
    )
    positions: int = option(
        600, "Positions with known results; there may be fewer.", low=0, high=1_000_000
    )
    games: int = option(
        20, "Games against each opponent, in pairs with colours swapped.", low=0, high=1_000_000
    )
    opponents: str = option(
        "random policy",
        "Players, separated by blanks; `policy` is the network without a search.",
        technique="E3",
    )
    ladder: int = option(
        0, "Earlier checkpoints that a new one meets; 0 is none.", low=0, high=100, technique="E3"
    )
    ladder_games: int = option(20, "Games against each of those.", low=2, high=1_000_000)
    openings: str = option("random:4", "Where the games begin.")
    max_plies: int = option(300, "A longer game is a draw.", low=1, high=100_000)
    perfect_games: int = option(
        0,
        "Connect Four: games against the perfect player, moving first from the empty board.",
        low=0,
        high=1_000_000,
        technique="E2",
    )
    threads: int = option(0, "Of the search; 0 is one for each core.", low=0, high=256)
    suite: str = option("", "A file of problems, such as a tactical suite for chess.")
    seed: int = option(0, "Of the openings and of the opponents' chance.", low=0, high=2**52 - 1)
