"""Evaluates with OpenVINO on the CPU, at its practical peak.

A session compiles the network for a few batch sizes, each when it is first needed, and fits any
batch to them. It computes in the calling thread.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import openvino as ov
from numpy.typing import NDArray

from zermelo.errors import UserError
from zermelo.games.protocol import Game
from zermelo.network.build_openvino import Quantise, openvino_model
from zermelo.network.openvino_core import openvino_core
from zermelo.network.runtimes import Expand, Session
from zermelo.network.weights import Array, Weights

SIZES = (1, 2, 4, 8, 16, 32, 64)
# A call costs about as much as this part of a position; so small batches are not padded but split.
CALL_COST = 0.4
# A network above this many parameters is compiled once, for any batch, which is a little slower.
LARGE = 4_000_000


@cache
def supports_bf16() -> bool:
    """Whether the processor computes in bf16; without, OpenVINO would quietly use f32."""
    return "BF16" in openvino_core().get_property("CPU", "OPTIMIZATION_CAPABILITIES")


class OpenVinoRuntime:
    """The network; sessions have their own compiled models, since callers must not share one."""

    backend = "openvino"

    def __init__(
        self,
        weights: Weights,
        precision: str = "f32",
        calibration: Array | None = None,
        game: Game | None = None,
    ) -> None:
        if precision == "bf16" and not supports_bf16():
            raise UserError("this processor does not compute in bf16: use f32 or int8")
        if precision == "int8" and not weights.tower.has_tower:
            raise UserError(
                f"{weights.name}: int8 is for towers of convolutions, and its body is attention: "
                "use f32 or bf16"
            )
        self.precision = precision
        # What is not int8 in an int8 network: bf16 is by far the smaller of its two errors.
        bf16 = precision == "bf16" or (precision == "int8" and supports_bf16())
        self._floats = "bf16" if bf16 else "f32"
        self._weights = weights
        self._quantise: Quantise | None = None
        if precision == "int8":
            from zermelo.network.quantise import quantiser

            self._quantise = quantiser(weights, calibration, game)
        self.sizes = SIZES if weights.architecture.parameters() <= LARGE else ()

    def session(self, like: Session | None = None) -> OpenVinoSession:
        """See `runtimes.Runtime`."""
        session = OpenVinoSession(self)
        if isinstance(like, OpenVinoSession):
            session.prepare(like)
        return session

    def compiled(self, batch: int) -> Any:
        """A model for that batch, or for any with -1."""
        model = openvino_model(self._weights, batch, self._quantise)
        settings: dict[str, Any] = {
            # Left to itself it takes bf16 where it can, and pins every caller to the same core.
            "INFERENCE_PRECISION_HINT": self._floats,
            "ENABLE_CPU_PINNING": False,
            "INFERENCE_NUM_THREADS": 1,
            "NUM_STREAMS": 1,
        }
        if "mish" in self.architecture.activations:  # its fused kernels lack mish on some CPUs
            settings["SNIPPETS_MODE"] = "DISABLE"
        return openvino_core().compile_model(model, "CPU", settings)

    @property
    def architecture(self) -> Any:
        """Of the network."""
        return self._weights.architecture

    @property
    def outputs(self) -> int:
        """How many heads answer."""
        return 3 if self._weights.tower.moves_filters else 2


class _Bound:
    """A request for one batch size with its input in place."""

    def __init__(self, runtime: OpenVinoRuntime, size: int) -> None:
        shape = (size, *runtime.architecture.observation_shape)
        self.planes = np.zeros(shape, np.float32)
        self.request = runtime.compiled(size).create_infer_request()
        self.request.set_input_tensor(ov.Tensor(self.planes, shared_memory=True))
        self.request.infer(share_outputs=True)
        self.outputs = [self.request.get_output_tensor(i).data for i in range(runtime.outputs)]


class OpenVinoSession:
    """See `runtimes.Session`."""

    def __init__(self, runtime: OpenVinoRuntime) -> None:
        self._runtime = runtime
        self._bound: dict[int, _Bound] = {}
        self._any: Any = None
        self._largest = 0  # batch that it has met

    def run(self, observations: NDArray[Any], expand: Expand | None = None) -> tuple[Array, ...]:
        """See `runtimes.Session`."""
        if not self._runtime.sizes:
            return self._run_any(observations if expand is None else expand(observations))
        count = len(observations)
        architecture = self._runtime.architecture
        widths = (architecture.num_actions, architecture.value_outputs, 1)[: self._runtime.outputs]
        found = tuple(np.empty((count, width), np.float32) for width in widths)
        done = 0
        for size in pieces(count):
            bound = self._bound.get(size) or self._bind(size)
            stop = min(done + size, count)
            if expand is None:
                bound.planes[: stop - done] = observations[done:stop]
            else:
                expand(observations[done:stop], bound.planes)
            bound.request.infer(share_outputs=True)
            for answers, output in zip(found, bound.outputs, strict=True):
                answers[done:stop] = output[: stop - done]
            done = stop
        return found

    def prepare(self, like: OpenVinoSession) -> None:
        """Compiles for the batch sizes that another session has met."""
        for size in list(like._bound):
            self._bind(size)
        if like._largest:
            shape = self._runtime.architecture.observation_shape
            self._run_any(np.zeros((like._largest, *shape), np.float32))

    def _bind(self, size: int) -> _Bound:
        self._bound[size] = _Bound(self._runtime, size)
        return self._bound[size]

    def _run_any(self, observations: Array) -> tuple[Array, ...]:
        if self._any is None:
            self._any = self._runtime.compiled(-1).create_infer_request()
        self._largest = max(self._largest, len(observations))
        self._any.infer(observations, share_inputs=True, share_outputs=True)
        count = self._runtime.outputs
        return tuple(self._any.get_output_tensor(i).data.copy() for i in range(count))


@cache
def pieces(count: int) -> tuple[int, ...]:
    """The cheapest way to evaluate `count` positions with models of the sizes there are.

    The sizes add up to `count` or a little more; the rest of the last one is padding.
    """
    if count > 2 * SIZES[-1]:
        full, rest = divmod(count, SIZES[-1])
        return (SIZES[-1],) * (full - 1) + pieces(rest + SIZES[-1])
    best: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
    for n in range(1, count + 1):
        options = [
            (size + CALL_COST + best[max(0, n - size)][0], (*best[max(0, n - size)][1], size))
            for size in SIZES
        ]
        best.append(min(options))
    return tuple(sorted(best[count][1], reverse=True))
