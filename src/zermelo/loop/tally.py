"""Adds up what the shards of one iteration say about its self-play."""

from __future__ import annotations

from typing import Any

from zermelo.selfplay.self_play import add_statistics

RATES = ("samples", "games", "simulations", "evaluations", "moves")


class SelfPlayTally:
    """Statistics of shards by iteration; a shard that is written anew counts once."""

    def __init__(self, workers: int = 1) -> None:
        self.workers = workers  # that play at the same time
        self._shards: dict[int, dict[str, dict[str, Any]]] = {}
        self._totals: dict[int, dict[str, Any]] = {}  # asked for far more often than shards come

    def add(self, message: dict[str, Any]) -> None:
        """What a pool tells of a shard."""
        self.add_shard(int(message["iteration"]), str(message["shard"]), message)

    def add_shard(self, iteration: int, name: str, statistics: dict[str, Any]) -> None:
        """A shard, finished now or found on disk."""
        shards = self._shards.setdefault(iteration, {})
        fresh = [statistics]
        if name in shards:  # what it said before does not count any more
            self._totals.pop(iteration)
            fresh = list((shards | {name: statistics}).values())
        shards[name] = statistics
        for found in fresh:
            add_statistics(self._totals.setdefault(iteration, {}), found)

    def forget(self, iteration: int) -> None:
        """The iteration is played anew."""
        self._shards.pop(iteration, None)
        self._totals.pop(iteration, None)

    def drop_before(self, iteration: int) -> None:
        """Earlier iterations will not be asked for again."""
        for old in [i for i in self._shards if i < iteration]:
            self.forget(old)

    def count(self, iteration: int, what: str = "samples") -> int:
        """A sum over the iteration's shards."""
        return int(self._totals.get(iteration, {}).get(what, 0))

    def total(self, iteration: int) -> dict[str, Any]:
        """All sums of the iteration's shards."""
        total = dict(self._totals.get(iteration, {}))
        total.pop("iteration", None)
        return total

    def rates(self, iteration: int) -> dict[str, float]:
        """Per second of playing, all workers together."""
        total = self.total(iteration)
        seconds = float(total.get("seconds", 0.0)) / self.workers
        if seconds <= 0:
            return {}
        return {name: total.get(name, 0) / seconds for name in RATES}

    def metrics(self, iteration: int) -> dict[str, Any]:
        """Figures of an iteration."""
        total = self.total(iteration)
        games = max(1, total.get("games", 0))
        looked_up = total.get("evaluations", 0) + total.get("cache_hits", 0)
        found: dict[str, Any] = {
            name: total.get(name, 0)
            for name in (
                *RATES, "cache_hits", "saved_simulations", "full_searches", "fast_searches",
                "resigned", "adjudicated", "proven_ends", "seconds",
            )
        }  # fmt: skip
        found |= {f"{name}_per_second": rate for name, rate in self.rates(iteration).items()}
        found |= {
            "shards": len(self._shards.get(iteration, {})),
            "cache_hit_share": total.get("cache_hits", 0) / max(1, looked_up),
            "mean_batch": total.get("evaluations", 0) / max(1, total.get("batches", 0)),
            "mean_plies": total.get("plies", 0) / games,
            "first_win_share": total.get("first_wins", 0) / games,
            "draw_share": total.get("draws", 0) / games,
            "second_win_share": total.get("second_wins", 0) / games,
            "resigned_share": total.get("resigned", 0) / games,
            "restart_share": total.get("restarts", 0) / games,
            "mean_regret": total.get("regret", 0.0) / max(1, total.get("regretted", 0)),
            "adjudicated_share": total.get("adjudicated", 0) / games,
            "unique_games_share": total.get("unique_games", 0) / games,
        }
        return found
