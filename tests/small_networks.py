"""Networks that have learned nothing and take no time: as weights and as files."""

from __future__ import annotations

from pathlib import Path

import zermelo
from zermelo.network import NetworkOptions, Weights, architecture_for, random_weights, save_network


def small_weights(game: str = "connect4", seed: int = 0, blocks: int = 1) -> Weights:
    options = NetworkOptions(blocks=blocks, filters=8, value_hidden=8)
    return random_weights(architecture_for(zermelo.game(game), options), seed)


def save_small(path: Path, game: str = "connect4", seed: int = 0) -> Path:
    """The file, and the directories that it needs."""
    path.parent.mkdir(parents=True, exist_ok=True)
    save_network(small_weights(game, seed), path)
    return path
