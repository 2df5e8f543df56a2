"""What the search asks of a network."""

from __future__ import annotations

from typing import Any, Protocol

from numpy.typing import NDArray


class Evaluator(Protocol):
    """A callable on a batch of observations, always from the side of the player to move.

    It gets float32 [batch, planes, rows, columns], or uint64 [batch, words] when it has an
    attribute `packed` that is true, and returns
      - policy logits, float32 [batch, num_actions] (illegal actions are ignored), and
      - values: [batch] in [-1, 1], or win, draw and loss probabilities [batch, 3].
    Several searching threads may call it at once.
    """

    def __call__(self, observations: NDArray[Any], /) -> tuple[NDArray[Any], NDArray[Any]]:
        """Policy logits and values for the batch."""
        ...
