"""Samples of random games, packed in Python as the core packs them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import zermelo
from zermelo.games.native import is_native
from zermelo.replay import FULL, Samples, ShardHeader, shard_path, write_shard
from zermelo.replay.samples import COLUMNS

MAX_PLIES = 200


def packed(game: Any, state: Any) -> np.ndarray:
    """The packed observation of a position, also of a game written in Python."""
    if is_native(game):
        return np.asarray(game.observe_packed(state))
    planes = np.asarray(game.observe(state), np.float32).ravel()
    return np.append(planes, np.zeros(planes.size % 2, np.float32)).view(np.uint64)


def canonical(game: Any, state: Any) -> tuple[np.ndarray, int]:
    """The smallest words of the position's symmetries, and the symmetry that gives them."""
    if not hasattr(game, "num_symmetries"):
        return packed(game, state), 0
    found = []
    for symmetry in range(game.num_symmetries(state)):
        words = packed(game, game.transform(state, symmetry) if symmetry else state)
        found.append((words.tolist(), symmetry, words))
    _, symmetry, words = min(found, key=lambda each: each[:2])
    return words, symmetry


def quantised(rng: np.random.Generator, count: int) -> np.ndarray:
    """Random shares that sum to 65535."""
    shares = np.floor(rng.dirichlet(np.ones(count)) * 65535).astype(np.int64)
    shares[0] += 65535 - shares.sum()
    return shares


def random_samples(
    name: str | Any = "connect4",
    games: int = 5,
    seed: int = 0,
    iteration: int = 0,
    full_share: float = 0.7,
    max_plies: int = MAX_PLIES,
    states: list[Any] | None = None,
) -> Samples:
    """Samples of random games with random targets; a cut game counts as a draw.

    `states` receives each sample's position in its canonical symmetry.
    """
    game: Any = zermelo.game(name) if isinstance(name, str) else name
    rng = np.random.default_rng(seed)
    columns: dict[str, list[Any]] = {name: [] for name, one in COLUMNS.items() if one.since <= 2}
    for number in range(games):
        state = game.initial()
        players: list[int] = []
        while game.outcome(state) is None and len(players) < max_plies:
            legal = [int(action) for action in game.legal_actions(state)]
            words, symmetry = canonical(game, state)
            if states is not None:
                states.append(game.transform(state, symmetry) if symmetry else state)
            full = rng.random() < full_share
            value = rng.uniform(-1, 1)
            columns["observations"].append(words)
            columns["policy_counts"].append(len(legal))
            columns["policy_actions"] += [
                game.transform_action(action, symmetry) if symmetry else action for action in legal
            ]
            columns["policy_shares"] += (
                quantised(rng, len(legal)).tolist() if full else [0] * len(legal)
            )
            columns["values"].append(round(value * 32767))
            columns["draws"].append(int(rng.uniform(0, 1 - abs(value)) * 65535))
            columns["plies"].append(len(players))
            columns["iterations"].append(iteration)
            columns["games"].append(number)
            has = hasattr(game, "num_symmetries")
            columns["symmetries"].append(game.num_symmetries(state) if has else 1)
            columns["flags"].append(FULL if full else 0)
            players.append(game.player(state))
            action = int(rng.choice(legal))
            played = game.transform_action(action, symmetry) if symmetry else action
            columns["played"].append(played)
            state = game.play(state, action)
        outcome = game.outcome(state)
        winner = {1: 0, 3: 1}.get(0 if outcome is None else int(outcome))
        columns["results"] += [
            0 if winner is None else 1 if player == winner else -1 for player in players
        ]
        columns["plies_left"] += [len(players) - ply for ply in range(len(players))]
    return Samples.from_columns(columns)


def put_shard(
    directory: Path,
    samples: Samples,
    game: Any = "connect4",
    *,
    iteration: int | None = None,
    worker: int = 0,
    number: int = 0,
) -> Path:
    """Writes samples where a worker would."""
    rules = zermelo.game(game) if isinstance(game, str) else game
    header = ShardHeader.of(rules, samples, iteration=iteration, worker=worker, number=number)
    path = shard_path(directory, header.iteration, worker, number)
    write_shard(path, samples, header)
    return path
