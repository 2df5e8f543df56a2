"""How far one way of evaluating is from another, in terms of play."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zermelo.games.protocol import Game
from zermelo.network.positions import Evaluate, SampledPosition, observations_of


@dataclass(frozen=True)
class Difference:
    """Over positions; the policy is taken over legal actions."""

    positions: int
    policy_kl: float  # mean, in nats, of the exact policy against the other
    value_mean: float  # mean absolute difference of values in [-1, 1]
    value_max: float
    top_changed: float  # share of positions whose likeliest action is another one

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        return (
            f"policy KL {self.policy_kl:.2e}, value differs by {self.value_mean:.4f} "
            f"(at most {self.value_max:.4f}), another top move in {self.top_changed:.1%} "
            f"of {self.positions} positions"
        )


def difference(
    exact: Evaluate, other: Evaluate, game: Game, positions: list[SampledPosition]
) -> Difference:
    """`other` against `exact`."""
    divergences, values, changed = [], [], 0
    for start in range(0, len(positions), 64):
        chunk = positions[start : start + 64]
        observations = observations_of(game, chunk)
        logits, found = exact(observations)
        other_logits, other_found = other(observations)
        values.append(np.abs(scalar_value(found) - scalar_value(other_found)))
        for row, position in enumerate(chunk):
            p = log_softmax(logits[row][position.actions])
            q = log_softmax(other_logits[row][position.actions])
            divergences.append(float((np.exp(p) * (p - q)).sum()))
            changed += int(p.argmax() != q.argmax())
    gaps = np.concatenate(values)
    return Difference(
        positions=len(positions),
        policy_kl=float(np.mean(divergences)),
        value_mean=float(gaps.mean()),
        value_max=float(gaps.max()),
        top_changed=changed / len(positions),
    )


def scalar_value(values: NDArray[Any]) -> NDArray[Any]:
    """[B] in [-1, 1] of either form of an evaluator's values."""
    columns = values.reshape(len(values), -1)
    return columns[:, 0] - columns[:, 2] if columns.shape[1] == 3 else columns[:, 0]


def log_softmax(logits: NDArray[Any]) -> NDArray[np.float64]:
    """In double precision."""
    shifted = logits.astype(np.float64) - logits.max()
    return np.asarray(shifted - np.log(np.exp(shifted).sum()))
