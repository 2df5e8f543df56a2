"""What shards hold, added up: shares, lengths, entropies, by iteration and over all."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

from zermelo.replay.columns import Array
from zermelo.replay.dedup import hash_words
from zermelo.replay.samples import (
    ADJUDICATED,
    AUDIT,
    FULL,
    PROVEN,
    RESIGNED,
    VALUE_SCALE,
    WHOLE_SHARE,
    Samples,
)
from zermelo.replay.shard import Shard

FLAG_NAMES = {
    "full": FULL,
    "resigned": RESIGNED,
    "adjudicated": ADJUDICATED,
    "audit": AUDIT,
    "proven": PROVEN,
}


class ReplayFigures:
    """Takes shards one after another and keeps only sums of them, and a hash of each position."""

    def __init__(self) -> None:
        self._sums: dict[
            int, dict[str, float]
        ] = {}  # by the iteration during which they were written
        self._keys: list[Array] = []

    def add(self, shard: Shard, size: int) -> None:
        """A shard and its size in bytes."""
        samples, header = shard.samples, shard.header
        full = (samples.flags & FULL) != 0
        error = samples.values / VALUE_SCALE - samples.results
        # A game is as long as any of its samples says, and it is drawn if its first one was.
        _, first = np.unique(samples.games, return_index=True)
        lengths = samples.plies[first].astype(np.int64) + samples.plies_left[first]
        more: dict[str, float] = {
            "shards": 1,
            "bytes": size,
            "samples": len(samples),
            "entries": header.entries,
            "entropy": float(policy_entropy(samples)[full].sum()),
            "value_error": float(np.square(error).sum()),
            "wins": int((samples.results == 1).sum()),
            "draws": int((samples.results == 0).sum()),
            "losses": int((samples.results == -1).sum()),
            "games": len(first),
            "plies": int(lengths.sum()),
            "drawn_games": int((samples.results[first] == 0).sum()),
        }
        for name, flag in FLAG_NAMES.items():
            more[name] = int(((samples.flags & flag) != 0).sum())
        _add(self._sums.setdefault(header.iteration, {}), more)
        self._keys.append(hash_words(samples.observations))

    def to_dict(self) -> dict[str, Any]:
        """Over all, and a row for each iteration."""
        total: dict[str, float] = {}
        for sums in self._sums.values():
            _add(total, sums)
        keys = np.concatenate(self._keys) if self._keys else np.zeros(0, np.uint64)
        positions = len(np.unique(keys))
        return _figures(total) | {
            "positions": positions,
            "duplicates": 1 - positions / len(keys) if len(keys) else 0.0,
            "iterations": [
                {"iteration": iteration} | _figures(self._sums[iteration])
                for iteration in sorted(self._sums)
            ],
        }


def policy_entropy(samples: Samples) -> Array:
    """[N] of the policy targets, in nats; 0 where there is none."""
    share = samples.policy_shares.astype(np.float32) / WHOLE_SHARE
    terms = share * np.log(np.maximum(share, 1e-9))
    return np.asarray(-np.add.reduceat(terms, samples.starts()))


def _add(total: dict[str, float], more: dict[str, float]) -> None:
    for name, value in more.items():
        total[name] = total.get(name, 0) + value


def _figures(found: dict[str, float]) -> dict[str, Any]:
    sums = defaultdict(int, found)
    samples, games = max(1, sums["samples"]), max(1, sums["games"])
    shares = {f"{name}_share": sums[name] / samples for name in FLAG_NAMES}
    return {
        "shards": sums["shards"],
        "samples": sums["samples"],
        "games": sums["games"],
        "bytes": sums["bytes"],
        "bytes_per_sample": sums["bytes"] / samples,
        "legal_actions": sums["entries"] / samples,
        "plies_per_game": sums["plies"] / games,
        "drawn_games_share": sums["drawn_games"] / games,
        "win_share": sums["wins"] / samples,
        "draw_share": sums["draws"] / samples,
        "loss_share": sums["losses"] / samples,
        "policy_entropy": sums["entropy"] / max(1, sums["full"]),
        "root_value_error": sums["value_error"] / samples,
    } | shares
