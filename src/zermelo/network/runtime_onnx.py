"""Evaluates with ONNX Runtime on the CPU."""

from __future__ import annotations

from typing import Any

import onnxruntime
from numpy.typing import NDArray

from zermelo.network.build_onnx import onnx_bytes
from zermelo.network.runtimes import Expand, Session
from zermelo.network.weights import Array, Weights


class OnnxRuntime:
    """One single-threaded session serves all callers: it keeps no state between calls."""

    backend = "onnx"

    def __init__(self, weights: Weights, precision: str = "f32") -> None:
        self.precision = precision
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self._session: Any = onnxruntime.InferenceSession(
            onnx_bytes(weights), options, providers=["CPUExecutionProvider"]
        )
        self._names = [output.name for output in self._session.get_outputs()]

    def session(self, like: Session | None = None) -> OnnxRuntime:  # noqa: ARG002
        """Itself, which is ready for any batch."""
        return self

    def run(self, observations: NDArray[Any], expand: Expand | None = None) -> tuple[Array, ...]:
        """See `runtimes.Session`."""
        if expand is not None:
            observations = expand(observations)
        return tuple(self._session.run(self._names, {"observations": observations}))
