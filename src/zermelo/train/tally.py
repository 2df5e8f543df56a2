"""Averages over many batches: losses, accuracy, how well values are calibrated."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from zermelo.train.loader import TensorBatch
from zermelo.train.losses import Losses

BINS = 10  # of predicted values, equally wide over [-1, 1]


class Tally:
    """Adds up batches; rows count by their weight, the policy's only where there is a target."""

    def __init__(self) -> None:
        self.samples = 0
        self._policy = np.zeros(4)  # weight, loss, entropy, agreement
        self._value = np.zeros(4)  # weight, loss, entropy, squared error
        self._total = 0.0
        self._moves_left: float | None = None
        self._extra: dict[str, float] = {}
        self._bins = np.zeros((3, BINS))  # weight, predicted value, outcome

    def add(self, batch: TensorBatch, losses: Losses) -> None:
        """One batch and what the network made of it."""
        weight = _numbers(batch.weight)
        policy_weight = weight * _numbers(batch.policy_weight)
        rows = len(weight)
        one = np.ones(rows)
        policy = (one, *map(_numbers, (losses.policy, losses.policy_entropy, losses.policy_agrees)))
        self._policy += np.stack(policy) @ policy_weight
        predicted = _numbers(losses.predicted_value)
        result = _numbers(batch.result_wdl)
        outcome = result[:, 0] - result[:, 2]
        error = np.square(predicted - outcome)
        value = (one, _numbers(losses.value), _numbers(losses.value_entropy), error)
        self._value += np.stack(value) @ weight
        bins = np.clip((predicted + 1) * (BINS / 2), 0, BINS - 1).astype(np.intp)
        for row, column in enumerate((one, predicted, outcome)):
            self._bins[row] += np.bincount(bins, column * weight, BINS)
        if losses.moves_left is not None:
            moves_left = float(_numbers(losses.moves_left) @ weight)
            self._moves_left = (self._moves_left or 0.0) + moves_left
        for name, loss in losses.extra.items():
            self._extra[name] = self._extra.get(name, 0.0) + float(_numbers(loss) @ weight)
        self._total += losses.total.item() * float(weight.sum())
        self.samples += rows

    def metrics(self) -> dict[str, Any]:
        """Plain numbers by stable names; None where nothing was measured."""
        weight = float(self._value[0])
        _, policy, policy_entropy, agreement = _means(self._policy)
        _, value, value_entropy, error = _means(self._value)
        left = None if self._moves_left is None else _ratio(self._moves_left, weight)
        return {
            "samples": self.samples,
            "loss": _ratio(self._total, weight),
            "policy_loss": policy,
            "policy_entropy": policy_entropy,
            "policy_kl": None if policy is None else policy - (policy_entropy or 0.0),
            "policy_accuracy": agreement,
            "value_loss": value,
            "value_kl": None if value is None else value - (value_entropy or 0.0),
            "value_squared_error": error,
            "value_calibration_error": self._calibration_error(),
            "moves_left_loss": left,
            **{f"{name}_loss": _ratio(total, weight) for name, total in self._extra.items()},
            "calibration": self._calibration(),
        }

    def _calibration_error(self) -> float | None:
        """Expected |mean prediction - mean outcome| of a sample's bin."""
        weights, predicted, outcomes = self._bins
        return _ratio(float(np.abs(predicted - outcomes).sum()), float(weights.sum()))

    def _calibration(self) -> list[dict[str, float | None]]:
        """Bin by bin: its bounds, its share of the samples, mean prediction, mean outcome."""
        everything = float(self._bins[0].sum())
        return [
            {
                "low": -1 + 2 * index / BINS,
                "high": -1 + 2 * (index + 1) / BINS,
                "share": _ratio(weight, everything),
                "predicted": _ratio(predicted, weight),
                "outcome": _ratio(outcome, weight),
            }
            for index, (weight, predicted, outcome) in enumerate(self._bins.T.tolist())
        ]


def _numbers(tensor: Tensor) -> NDArray[np.float64]:
    return tensor.detach().cpu().numpy().astype(np.float64)


def _means(sums: NDArray[np.float64]) -> list[float | None]:
    return [_ratio(total, float(sums[0])) for total in sums.tolist()]


def _ratio(total: float, weight: float) -> float | None:
    return total / weight if weight > 0 else None
