"""The seam between search and networks: what a search asks for, and what else may be offered.

Owns the types alone. The native evaluators and every callable of the right shape are evaluators;
what only some of them can do is a protocol of its own.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias, runtime_checkable

from numpy.typing import NDArray

from zermelo._core import (
    GatheringEvaluator,
    HashEvaluator,
    RolloutEvaluator,
    UniformEvaluator,
)
from zermelo.games.protocol import Game


class BatchEvaluator(Protocol):
    """A callable on a batch of observations, always from the side of the player to move.

    It gets float32 [batch, planes, rows, columns], or uint64 [batch, words] when it has an
    attribute `packed` that is true, and returns
      - policy logits, float32 [batch, num_actions] (illegal actions are ignored), and
      - values: [batch] in [-1, 1], or win, draw and loss probabilities [batch, 3].
    Several searching threads may call it at once. If it has a callable `with_plies_left`, searches
    call that instead, which also returns the plies left [batch].
    """

    def __call__(self, observations: NDArray[Any], /) -> tuple[NDArray[Any], NDArray[Any]]:
        """Policy logits and values for the batch."""
        ...


# Those that the core has itself; the search asks them without Python.
NativeEvaluator: TypeAlias = (
    UniformEvaluator | HashEvaluator | RolloutEvaluator | GatheringEvaluator
)


class HasNative(Protocol):
    """An evaluator of Python's own with a twin in the core, which the search asks instead."""

    @property
    def native(self) -> NativeEvaluator:
        """The twin."""
        ...


Evaluator: TypeAlias = BatchEvaluator | NativeEvaluator | HasNative


@runtime_checkable
class WarmsUp(BatchEvaluator, Protocol):
    """Evaluators that compile for each batch size, which else happens in the middle of a search."""

    @property
    def observation_shape(self) -> tuple[int, ...]:
        """Of one position: planes, rows, columns."""
        ...

    def warm_up(self, threads: int, batch: int) -> None:
        """Compiles for so many threads and all batches up to `batch`."""
        ...


@runtime_checkable
class ChecksGames(BatchEvaluator, Protocol):
    """Evaluators that know positions of some games only."""

    def check_fits(self, game: Game) -> None:
        """Refuses, by a UserError, a game whose positions or actions it does not know."""
        ...
