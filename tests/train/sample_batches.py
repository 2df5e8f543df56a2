"""Batches of positions from random games, with made-up targets, in the form the replay gives."""

from __future__ import annotations

from typing import Any

import numpy as np

from zermelo.games.protocol import Game
from zermelo.network.positions import observations_of, sample_positions
from zermelo.replay import Batch


def sample_batches(game: Game, count: int, rows: int, seed: int = 0) -> list[Batch]:
    """Targets that depend on the position, so that they can be learned."""
    positions = sample_positions(game, count * rows, seed)
    return [
        _batch(game, positions[start : start + rows], np.random.default_rng(seed + start))
        for start in range(0, count * rows, rows)
    ]


def _batch(game: Game, positions: list[Any], rng: np.random.Generator) -> Batch:
    rows, widest = len(positions), max(len(p.actions) for p in positions) + 1
    actions = np.zeros((rows, widest), np.int64)
    shares = np.full((rows, widest), -1, np.float32)
    result = np.zeros((rows, 3), np.float32)
    planes = observations_of(game, positions)
    middle = planes[:, :, :, game.observation_shape[2] // 2].sum(2)  # [rows, planes]
    for row, position in enumerate(positions):
        legal = sorted(position.actions)
        actions[row, : len(legal)] = legal
        shares[row, : len(legal)] = 0.3 / len(legal)
        shares[row, len(legal) // 2] += 0.7
        result[row, 0 if middle[row, 0] > middle[row, 1] else 2] = 1
    root = rng.dirichlet((1, 1, 1), rows).astype(np.float32)
    policy_weight = (rng.random(rows) < 0.8).astype(np.float32)
    shares[(policy_weight == 0)[:, None] & (shares >= 0)] = 0
    return Batch(
        planes,
        actions,
        shares,
        policy_weight,
        result,
        root,
        (45 - planes[:, :2].sum((1, 2, 3))).astype(np.float32),
        rng.uniform(0.5, 3.0, rows).astype(np.float32),
    )
