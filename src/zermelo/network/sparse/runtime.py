"""The processor network in the core: a runtime like the others, and an evaluator without Python."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from zermelo import _core
from zermelo.network.runtimes import Expand, Session
from zermelo.network.sparse.architecture import SparseArchitecture
from zermelo.network.weights import Array, Weights


class CoreRuntime:
    """One network; it needs no working memory that callers could not share."""

    backend = "core"
    precision = "integer"

    def __init__(self, weights: Weights, kernels: str = "") -> None:
        a = weights.architecture
        assert isinstance(a, SparseArchitecture)
        self.features = a.features
        self.network = _core.SparseNetwork(
            a.features,
            a.hidden,
            a.policy_hidden,
            a.value_hidden,
            a.num_actions,
            dict(weights.arrays),
            kernels,
        )

    def session(self, like: Session | None = None) -> CoreRuntime:  # noqa: ARG002
        """Itself: there is nothing to compile."""
        return self

    def run(self, observations: NDArray[Any], expand: Expand | None = None) -> tuple[Array, Array]:
        """Planes, or packed with `expand`."""
        if expand is None:
            observations = self.features.pack(np.ascontiguousarray(observations, np.float32))
        logits, wdl = self.network.evaluate(observations)
        return logits, wdl
