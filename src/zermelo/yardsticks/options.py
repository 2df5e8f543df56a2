"""Options of the yardsticks that a training run applies to its checkpoints: `[evaluate]`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from zermelo.options import option

LEVELS = re.compile(r"[?&]UCI_Elo=([^&]*,[^&]*)")


@dataclass(frozen=True)
class EvaluateOptions:
    """When the yardsticks are applied to a new checkpoint, and how long they may take."""

    every: int = option(
        1, "Iterations from one evaluation to the next; 0 means never.", low=0, high=1_000_000
    )
    seconds: float = option(
        20.0,
        "Time for all yardsticks of an evaluation; 0 means no limit.",
        low=0.0,
        high=1e6,
        technique="E2",
    )
    meanwhile: bool = option(
        False,
        "Measure during the next iteration instead of before it; both then take longer.",
    )
    simulations: int = option(
        100, "Simulations for each choice.", low=1, high=1_000_000, technique="E2"
    )
    positions: int = option(600, "Most positions with known results.", low=0, high=1_000_000)
    games: int = option(
        20, "Games against each opponent, in pairs with colours swapped.", low=0, high=1_000_000
    )
    opponents: str = option(
        "random policy",
        "Players, separated by blanks; `policy` is the network without search; several levels of "
        "an engine (UCI_Elo=1350,1500) give a rating.",
        technique="E3",
    )
    ladder: int = option(
        0, "Number of earlier checkpoints that a new one meets.", low=0, high=100, technique="E3"
    )
    ladder_games: int = option(20, "Games against each earlier checkpoint.", low=2, high=1_000_000)
    openings: str = option("random:4", "Openings of the games.")
    max_plies: int = option(300, "Longest game; a longer one is a draw.", low=1, high=100_000)
    perfect_games: int = option(
        0,
        "Connect Four: games against the perfect player; the network moves first.",
        low=0,
        high=1_000_000,
        technique="E2",
    )
    threads: int = option(0, "Search threads; 0 means one per core.", low=0, high=256)
    suite: str = option("", "File of problems, such as a tactical suite for chess.")
    seed: int = option(0, "Random seed for openings and opponents.", low=0, high=2**52 - 1)

    @property
    def players(self) -> list[str]:
        """The opponents, one by one; `UCI_Elo=1350,1500` stands for two.

        >>> EvaluateOptions(opponents="random uci:engine?UCI_Elo=1350,1500&seconds=0.1").players
        ['random', 'uci:engine?UCI_Elo=1350&seconds=0.1', 'uci:engine?UCI_Elo=1500&seconds=0.1']
        """
        found: list[str] = []
        for text in self.opponents.split():
            if (levels := LEVELS.search(text)) is None:
                found.append(text)
                continue
            before, after = text[: levels.start(1)], text[levels.end(1) :]
            found += [f"{before}{level}{after}" for level in levels[1].split(",")]
        return found
