"""What the checks look at: a run's metrics, shards, checkpoints, and its newest network's answers.

Everything is read when it is first asked for, and nothing is moved or written: the run may be under
way. What is damaged is left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zermelo import _core
from zermelo.checkpoint import Checkpoint, CheckpointStore
from zermelo.doctor.random_games import RandomGames, random_games
from zermelo.errors import UserError
from zermelo.games.native import native_game
from zermelo.network import NetworkEvaluator
from zermelo.replay import Samples, Schema, ShardHeader, read_header, read_shard, window_size
from zermelo.replay.samples import FULL, VALUE_SCALE, WHOLE_SHARE, entry_index
from zermelo.replay.shard import parse_name
from zermelo.replay.window import held_out
from zermelo.runs.directory import Run
from zermelo.runs.status import number
from zermelo.runs.trust import refuse_strange_game
from zermelo.train import read_metrics

MOST_SAMPLES = 60_000  # read from the window's shards
MOST_BYTES = 256 << 20  # of their observations
MOST_ROWS = 3_000  # evaluated, of games in training and of games kept out each
BATCH = 256
RECENT = 5  # iterations whose metrics count
LEAST_GAMES = 20  # that a verdict on games needs
LEAST_ITERATIONS = 3  # finished, before the network's knowledge is judged

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Predictions:
    """What the newest network says of some rows of the samples; all for the mover."""

    rows: NDArray[np.int64]  # of Evidence.samples
    value: NDArray[np.float64]  # [n] win - loss
    cross_entropy: NDArray[np.float64]  # [n] of the policy target; only where it is FULL
    target_entropy: NDArray[np.float64]  # [n]
    uniform: NDArray[np.float64]  # [n] log of the number of legal actions
    entropy: NDArray[np.float64]  # [n] of the network's policy

    def take(self, chosen: Array) -> Predictions:
        """Some of them, by mask."""
        return Predictions(**{name: column[chosen] for name, column in vars(self).items()})


class Evidence:
    """A run as the checks see it. Used by one thread."""

    def __init__(self, path: Path, *, trust: bool = False) -> None:
        """The file of a game in Python is run only for a run made here by this user, or `trust`."""
        self.run = Run.open(path)
        self.trust = trust
        self.config: Any = self.run.config
        entries = read_metrics(self.run.metrics)
        self.metrics = [entry for entry in entries if "pretrain" not in entry]
        self.pretrained = len(self.metrics) < len(entries)

    @property
    def recent(self) -> list[dict[str, Any]]:
        """Metrics of the last few iterations, oldest first."""
        return self.metrics[-RECENT:]

    def figures(self, *keys: str) -> list[float]:
        """One figure of the last iterations, where they have it."""
        found = (number(entry, *keys) for entry in self.recent)
        return [value for value in found if value is not None]

    @cached_property
    def game(self) -> Any:
        """The rules; a UserError if they are code of a stranger."""
        if not self.trust:
            refuse_strange_game(self.run.path, self.config)
        return self.config.game()

    @property
    def random_games(self) -> RandomGames:
        """What random games of the same rules are like; played once per process."""
        assert self.game is not None  # rules that may be run
        return random_games(self.config.game_name)

    @cached_property
    def iteration(self) -> int:
        """Finished iterations."""
        return max((int(entry["iteration"]) for entry in self.metrics), default=0)

    @property
    def without_metrics(self) -> str:
        """Why there is no line of metrics."""
        store = CheckpointStore(self.run.checkpoints, read_only=True)
        if not self.pretrained and max(store.list(), default=0) > 0:
            return "there are checkpoints of finished iterations, but their metrics are lost"
        so_far = "the run is only pretrained, " if self.pretrained else ""
        return f"{so_far}no iteration is finished yet"

    # ---- shards -----------------------------------------------------------------------------

    @cached_property
    def shards(self) -> list[tuple[Path, ShardHeader]]:
        """Of the newest window, oldest first; samples that are not self-play's are left out."""
        last = max(0, self.iteration - 1)
        first = last - window_size(last, self.config.replay) + 1
        found = []
        for path in self.run.replay.glob("*.zshard"):
            place = parse_name(path.name)
            if place is None or place[0] < first:
                continue
            try:
                header = read_header(path)
            except (UserError, FileNotFoundError):
                continue
            if "games" in header.statistics:
                found.append((path, header))
        return sorted(found, key=lambda shard: (shard[1].iteration, shard[1].number))

    @cached_property
    def headers(self) -> list[ShardHeader]:
        """Of the window's shards."""
        return [header for _, header in self.shards]

    @cached_property
    def newest_headers(self) -> list[ShardHeader]:
        """Those of the newest iteration that has shards."""
        newest = max((header.iteration for header in self.headers), default=0)
        return [header for header in self.headers if header.iteration == newest]

    @cached_property
    def judged_headers(self) -> list[ShardHeader]:
        """Those of the newest iteration if it has games enough to judge, else of the window."""
        newest = self.newest_headers
        return newest if self.total("games", newest) >= LEAST_GAMES else self.headers

    def total(self, name: str, headers: list[ShardHeader]) -> float:
        """A statistic of self-play, added up over shards."""
        values = (header.statistics.get(name, 0) for header in headers)
        return float(sum(value for value in values if isinstance(value, int | float)))

    @cached_property
    def _loaded(self) -> tuple[Samples | None, Array, Array, dict[int, Array]]:
        """Samples, whether each is kept out of training, its shard's iteration, and `moves`."""
        schema = Schema.of(self.game)
        parts: list[Samples] = []
        kept_out: list[Array] = []
        iterations: list[Array] = []
        moves: dict[int, Array] = {}
        total, games = 0, 0
        row = 8 * schema.layout.words  # bytes of an observation
        for path, header in across(self.shards):
            full = parts and (total + header.samples) * row > MOST_BYTES
            if full or total >= MOST_SAMPLES:
                break
            try:
                shard = read_shard(path, self.game)
            except (UserError, FileNotFoundError):
                continue
            samples = shard.samples
            kept_out.append(held_out(path.name, samples.games, self.config.replay.holdout))
            iterations.append(np.full(len(samples), header.iteration))
            parts.append(_renumbered(samples, games))
            moves |= dict(enumerate(shard.records.actions(), games))
            games = max(int(parts[-1].games.max(initial=0)) + 1, games + len(shard.records))
            total += len(samples)
        if not parts:
            return None, np.zeros(0, np.bool_), np.zeros(0, np.int64), moves
        whole = Samples.concat(parts)
        return whole, np.concatenate(kept_out), np.concatenate(iterations), moves

    @property
    def samples(self) -> Samples | None:
        """From all over the window, as `across` orders shards; games are numbered through."""
        return self._loaded[0]

    @property
    def kept_out(self) -> Array:
        """Of each sample, whether training never saw its game."""
        return self._loaded[1]

    @property
    def shard_iterations(self) -> Array:
        """Of each sample, the iteration of its shard."""
        return self._loaded[2]

    @property
    def moves(self) -> dict[int, Array]:
        """The actions of whole games, by the samples' numbers; older shards do not have them."""
        return self._loaded[3]

    # ---- the network --------------------------------------------------------------------------

    @cached_property
    def checkpoints(self) -> list[Checkpoint]:
        """The sound ones, newest first, two at most."""
        store = CheckpointStore(self.run.checkpoints, read_only=True)
        found: list[Checkpoint] = []
        for iteration in reversed(store.list()):
            try:
                found.append(store.load(iteration))
            except UserError:
                continue
            if len(found) == 2:
                break
        return found

    @cached_property
    def evaluator(self) -> NetworkEvaluator:
        """The newest network."""
        from zermelo.network.runtimes import installed_backends

        if not self.checkpoints:
            raise UserError(f"'{self.run.path}' has no sound checkpoint")
        backend, installed = self.config.pool.backend, installed_backends()
        if installed and backend not in installed:  # auto, or the run is from another machine
            backend = installed[0]
        return NetworkEvaluator(self.checkpoints[0].weights(), backend, "f32", game=self.game)

    @cached_property
    def trained(self) -> Predictions | None:
        """Of games that training sees; None without any."""
        return self._predict(~self.kept_out & self._finished)

    @cached_property
    def held(self) -> Predictions | None:
        """Of games that training never sees; None without any."""
        return self._predict(self.kept_out & self._finished)

    @property
    def _finished(self) -> Array:
        """Of each sample, whether its iteration is over: the others were not trained on yet."""
        return np.asarray(self.shard_iterations < self.iteration)

    def _predict(self, chosen: Array) -> Predictions | None:
        samples = self.samples
        rows = np.flatnonzero(chosen)
        if samples is None or not len(rows) or not self.checkpoints:
            return None
        if len(rows) > MOST_ROWS:
            rows = np.sort(np.random.default_rng(0).choice(rows, MOST_ROWS, replace=False))
        return predict(self.game, self.evaluator, samples, rows)


def across(shards: Sequence[tuple[Path, ShardHeader]]) -> list[tuple[Path, ShardHeader]]:
    """One shard of each iteration, newest first, then a second one of each, and so on.

    Training with `train.reuse` has seen the newest samples least, so they alone say little about
    what it has learned.
    """
    turns: Counter[int] = Counter()
    order = []
    for path, header in reversed(shards):
        order.append((turns[header.iteration], path, header))
        turns[header.iteration] += 1
    order.sort(key=lambda entry: (entry[0], -entry[2].iteration))
    return [(path, header) for _, path, header in order]


def predict(game: Any, evaluator: NetworkEvaluator, samples: Samples, rows: Array) -> Predictions:
    """The network's answers to rows of samples, compared with their targets."""
    native, shape = native_game(game), Schema.of(game).layout.shape
    parts: list[tuple[Array, ...]] = []
    starts = samples.starts()
    for begin in range(0, len(rows), BATCH):
        some = np.ascontiguousarray(rows[begin : begin + BATCH], np.int64)
        planes = np.empty((len(some), *shape), np.float32)
        _core.decode_samples(
            native, samples.observations, some, np.zeros(len(some), np.uint8), planes
        )
        logits, wdl = evaluator(planes)
        counts = samples.policy_counts[some].astype(np.int64)
        entries = entry_index(starts[some], samples.policy_counts[some])
        owner = np.repeat(np.arange(len(some)), counts)
        legal = logits[owner, samples.policy_actions[entries]].astype(np.float64)
        logs = _log_softmax(legal, counts)
        shares = samples.policy_shares[entries] / WHOLE_SHARE
        first = np.cumsum(counts) - counts
        parts.append(
            (
                wdl[:, 0].astype(np.float64) - wdl[:, 2],
                -np.add.reduceat(shares * logs, first),
                -np.add.reduceat(shares * np.log(np.maximum(shares, 1e-12)), first),
                np.log(counts),
                -np.add.reduceat(np.exp(logs) * logs, first),
            )
        )
    return Predictions(rows, *(np.concatenate(column) for column in zip(*parts, strict=True)))


def _log_softmax(values: Array, counts: Array) -> Array:
    """Over runs of `values` that are `counts` long."""
    first = np.cumsum(counts) - counts
    values = values - np.repeat(np.maximum.reduceat(values, first), counts)
    sums = np.log(np.add.reduceat(np.exp(values), first))
    return np.asarray(values - np.repeat(sums, counts))


def _renumbered(samples: Samples, first: int) -> Samples:
    """With game numbers that no other shard has."""
    columns = samples.columns() | {"games": samples.games + np.uint32(first)}
    return Samples(**columns)


def root_values(samples: Samples) -> Array:
    """Of the search, for the mover, from -1 to 1."""
    return np.asarray(samples.values / VALUE_SCALE)


def is_full(samples: Samples) -> Array:
    """Whether a row has a policy target."""
    return np.asarray((samples.flags & FULL) != 0)
