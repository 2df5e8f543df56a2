"""Evaluates with NumPy alone: the runtime of an installation that has no other.

Some times slower than the others, and yet quick enough to play with the networks that the package
brings. Never chosen where another runtime is installed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from zermelo.network.graph import evaluate
from zermelo.network.runtimes import Expand, Session
from zermelo.network.weights import Array, Weights

SELU_SCALE, SELU_ALPHA = np.float32(1.0507009873554805), np.float32(1.6732632423543772)


def _sigmoid(x: Array) -> Array:
    return np.asarray(np.float32(0.5) * (np.tanh(np.float32(0.5) * x) + np.float32(1)))


def _selu(x: Array) -> Array:
    return np.asarray(SELU_SCALE * np.where(x > 0, x, SELU_ALPHA * np.expm1(np.minimum(x, 0))))


_ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "relu": lambda x: np.maximum(x, np.float32(0)),
    "relu2": lambda x: np.square(np.maximum(x, np.float32(0))),
    "mish": lambda x: x * np.tanh(np.logaddexp(np.float32(0), x)),
    "swish": lambda x: x * _sigmoid(x),
    "selu": _selu,
    "sigmoid": _sigmoid,
    "tanh": lambda x: np.asarray(np.tanh(x)),
    "none": lambda x: x,
}


class NumpyOps:
    """See `graph.Ops` and `attention_graph.AttentionOps`; tensors are float32 arrays."""

    def __init__(self, weights: Weights) -> None:
        self._bias = {}
        self._matrix = {}  # [inputs * kernel * kernel, outputs] of a layer
        self._kernel = {}
        for name, array in weights.arrays.items():
            layer, _, part = name.rpartition(".")
            values = np.ascontiguousarray(array, np.float32)
            if part == "bias":
                self._bias[layer] = values
                continue
            flat = values.reshape(len(values), -1)
            self._matrix[layer] = np.ascontiguousarray(flat.T) if values.ndim in (2, 4) else values
            self._kernel[layer] = values.shape[-1] if values.ndim == 4 else 1
        self._plain = {name.rpartition(".")[0]: a for name, a in weights.arrays.items()
                       if name.endswith(".weight")}  # fmt: skip

    def conv(self, x: Array, layer: str) -> Array:
        """By a matrix product over the neighbourhoods of all cells."""
        matrix, side = self._matrix[layer], self._kernel[layer]
        batch, channels, rows, columns = x.shape
        if side == 1:
            cells = x.transpose(0, 2, 3, 1).reshape(-1, channels)
        else:
            edge = side // 2
            padded = np.pad(x, ((0, 0), (0, 0), (edge, edge), (edge, edge)))
            windows = np.lib.stride_tricks.sliding_window_view(padded, (side, side), (2, 3))
            cells = windows.transpose(0, 2, 3, 1, 4, 5).reshape(batch * rows * columns, -1)
        found = cells @ matrix + self._bias[layer]
        return np.asarray(found.reshape(batch, rows, columns, -1).transpose(0, 3, 1, 2))

    def dense(self, x: Array, layer: str) -> Array:
        """Also of tokens."""
        return np.asarray(x @ self._matrix[layer] + self._bias[layer])

    linear = dense

    def activate(self, x: Array, kind: str) -> Array:
        """See `graph.Ops`."""
        if kind != "softmax":
            return _ACTIVATIONS[kind](x)
        powers = np.exp(x - x.max(-1, keepdims=True))
        return np.asarray(powers / powers.sum(-1, keepdims=True))

    def cell_mean(self, x: Array) -> Array:
        """See `graph.Ops`."""
        return np.asarray(x.mean((2, 3)))

    def gates(self, x: Array, start: int, stop: int) -> Array:
        """See `graph.Ops`."""
        return x[:, start:stop, None, None]

    def flatten(self, x: Array) -> Array:
        """See `graph.Ops`."""
        return x.reshape(len(x), -1)

    def take(self, x: Array, indices: NDArray[np.int64]) -> Array:
        """See `graph.Ops`."""
        return x[:, indices]

    def constant(self, values: NDArray[np.float32]) -> Array:
        """See `graph.Ops`."""
        return values

    def multiply(self, x: Array, y: Array) -> Array:
        """See `graph.Ops`."""
        return np.asarray(x * y)

    def add(self, x: Array, y: Array) -> Array:
        """See `graph.Ops`."""
        return np.asarray(x + y)

    def layer_norm(self, x: Array, layer: str, epsilon: float) -> Array:
        """See `AttentionOps`."""
        centred = x - x.mean(-1, keepdims=True)
        spread = np.sqrt(np.square(centred).mean(-1, keepdims=True) + np.float32(epsilon))
        return np.asarray(centred / spread * self._plain[layer] + self._bias[layer])

    def gate(self, x: Array, layer: str) -> Array:
        """See `AttentionOps`."""
        return np.asarray(x * self._plain[layer] + self._bias[layer])

    def reshape(self, x: Array, *sizes: int) -> Array:
        """See `AttentionOps`."""
        return x.reshape(-1, *sizes)

    def transpose(self, x: Array, *axes: int) -> Array:
        """See `AttentionOps`."""
        return x.transpose(axes)

    def matmul(self, x: Array, y: Array) -> Array:
        """See `AttentionOps`."""
        return np.asarray(x @ y)


class NumpyRuntime:
    """Serves all callers: it keeps no state between calls."""

    backend = "numpy"
    precision = "f32"

    def __init__(self, weights: Weights) -> None:
        self._architecture = weights.tower
        self._ops = NumpyOps(weights)
        self._threads = ThreadpoolController()

    def session(self, like: Session | None = None) -> NumpyRuntime:  # noqa: ARG002
        """Itself, which is ready for any batch."""
        return self

    def run(self, observations: NDArray[Any], expand: Expand | None = None) -> tuple[Array, ...]:
        """See `runtimes.Session`."""
        if expand is not None:
            observations = expand(observations)
        # Threads of the matrix product wait for each other in a loop: on a busy machine that takes
        # a thousand times as long as one thread, and the searches have threads of their own.
        with self._threads.limit(limits=1, user_api="blas"):
            heads = evaluate(self._architecture, self._ops, np.asarray(observations, np.float32))
        return tuple(np.ascontiguousarray(found) for found in heads.outputs().values())
