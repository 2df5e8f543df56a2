"""Games and evaluators for tests of the search: small trees drawn by hand, and counted calls."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from zermelo.games.protocol import Outcome
from zermelo.search import SearchOptions, SearchResult

WIN, DRAW, LOSS = Outcome.FIRST_WINS, Outcome.DRAW, Outcome.SECOND_WINS  # for the first player
Path = tuple[int, ...]  # the actions since the root: a state of `TreeGame`


class TreeGame:
    """A game that is written down: nested lists are positions, their items what actions lead to.

    An item is a list, an Outcome, or a number b: from there on every position has b actions. The
    players alternate. A state is the path to it; the observation is a number for every path.
    """

    name = "tree"
    observation_shape = (1, 1, 1)

    def __init__(self, root: list[Any]) -> None:
        self.root = root
        self.num_actions = 64
        self.paths: list[Path] = []
        self._numbers: dict[Path, int] = {}

    def initial(self) -> Path:
        return ()

    def _at(self, path: Path) -> Any:
        item: Any = self.root
        for action in path:
            item = item[action] if isinstance(item, list) else item
        return item

    def legal_actions(self, path: Path) -> list[int]:
        item = self._at(path)
        return list(range(len(item) if isinstance(item, list) else item))

    def play(self, path: Path, action: int) -> Path:
        if action not in self.legal_actions(path):
            raise ValueError(f"{action} is not legal")
        return (*path, action)

    def player(self, path: Path) -> int:
        return len(path) % 2

    def outcome(self, path: Path) -> Outcome | None:
        item = self._at(path)
        return item if isinstance(item, Outcome) else None

    def observe(self, path: Path) -> np.ndarray:
        if path not in self._numbers:
            self._numbers[path] = len(self.paths)
            self.paths.append(path)
        return np.full((1, 1, 1), self._numbers[path], dtype=np.float32)


class TableEvaluator:
    """Values (for the mover) and policies by path of a `TreeGame`; remembers what it was asked."""

    def __init__(
        self,
        game: TreeGame,
        values: dict[Path, float] | Callable[[Path], float] | None = None,
        policies: dict[Path, Sequence[float]] | None = None,
    ) -> None:
        self.game = game
        self.values = values or {}
        self.policies = policies or {}
        self.asked: list[Path] = []
        self.batches: list[int] = []

    def __call__(self, observations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        paths = [self.game.paths[int(number)] for number in observations.ravel()]
        self.asked += paths
        self.batches.append(len(paths))
        logits = np.zeros((len(paths), self.game.num_actions), dtype=np.float32)
        for row, path in zip(logits, paths, strict=True):
            policy = self.policies.get(path, ())
            row[: len(policy)] = np.log(policy)
        read = self.values if callable(self.values) else lambda path: self.values.get(path, 0.0)
        return logits, np.array([read(path) for path in paths], dtype=np.float32)


class CountingEvaluator:
    """Equal logits and one value for every position of any game; keeps the sizes of batches."""

    def __init__(self, num_actions: int, value: float = 0.0) -> None:
        self.num_actions = num_actions
        self.value = value
        self.batches: list[int] = []

    @property
    def positions(self) -> int:
        return sum(self.batches)

    def __call__(self, observations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        self.batches.append(len(observations))
        size = len(observations)
        values = np.full(size, self.value, dtype=np.float32)
        return np.zeros((size, self.num_actions), dtype=np.float32), values


def random_position(game: Any, rng: random.Random, most: int = 200) -> Any:
    """A position that is not over, from a random game; late ones are as likely as early ones."""
    while True:
        states = [game.initial()]
        while game.outcome(states[-1]) is None and len(states) < most:
            states.append(game.play(states[-1], rng.choice(game.legal_actions(states[-1]))))
        ongoing = [state for state in states if game.outcome(state) is None]
        if ongoing:
            return rng.choice(ongoing)


def first_play(result: SearchResult, options: SearchOptions) -> float | np.ndarray:
    """S3 and S26 at the root, written once more."""
    rule = options.fpu if options.fpu_root == "same" else options.fpu_root
    if rule in ("zero", "loss"):
        return {"zero": 0.0, "loss": -1.0}[rule]
    if rule == "imputed":
        logs = np.log(np.maximum(result.prior, 2.0**-32))
        moved = float(options.fpu_slope) * (logs - (result.prior * logs).sum())
        return np.asarray(np.clip(result.value + moved, -1.0, 1.0))
    mass = float(result.prior[result.visits > 0].sum())
    reduction = float(options.fpu_reduction) if rule == "reduced" else 0.0
    return result.value - reduction * math.sqrt(mass)


def puct_scores(
    result: SearchResult, options: SearchOptions, priors: np.ndarray | None = None
) -> np.ndarray:
    """S2 and S27 at the root, written once more: Q + c P sqrt(sum N) / (1 + n) of every action."""
    total = float(result.visits.sum())
    base = float(options.c_puct_base)
    factor = float(options.c_puct_factor_root)
    factor = float(options.c_puct_factor) if factor < 0 else factor
    c = float(options.c_puct_root) or float(options.c_puct)
    c += factor * math.log((total + base) / base)
    q = np.where(result.visits > 0, result.q, first_play(result, options))
    prior = result.prior if priors is None else priors
    return q + c * prior * math.sqrt(total) / (1 + result.visits)


def stepped(search: Any, state: Any, steps: int) -> list[tuple[SearchResult, int]]:
    """Each result and the index of the root action that the next simulation took."""
    taken = []
    before = search.run(state, simulations=0)
    for _ in range(steps):
        after = search.run(state, simulations=1)
        taken.append((before, int(np.argmax(after.visits - before.visits))))
        before = after
    return taken
