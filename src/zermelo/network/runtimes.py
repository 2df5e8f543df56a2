"""Which runtimes there are, and what each must offer.

A `Runtime` is one network made ready; a `Session` is its private working memory for one caller at a
time. Runtimes are imported only when asked for: none of them is needed to import this.
"""

from __future__ import annotations

import importlib.util
from typing import Any, Protocol

from numpy.typing import NDArray

from zermelo.errors import UserError
from zermelo.network.weights import Array, Weights

BACKENDS = ("openvino", "onnx", "torch")
PRECISIONS = ("f32", "bf16", "int8")
_PACKAGES = {"openvino": "openvino", "onnx": "onnxruntime", "torch": "torch"}


class Expand(Protocol):
    """Packed observations [n, words] to planes, into the first rows of `out` if that is given."""

    def __call__(self, packed: NDArray[Any], out: Array = ..., /) -> Any:
        """The planes [n, planes, rows, columns]; None with `out`."""


class Session(Protocol):
    """Not to be used by two threads at once; the GIL is free while it computes."""

    def run(self, observations: NDArray[Any], expand: Expand | None = None) -> tuple[Array, Array]:
        """[n, planes, rows, columns], any n >= 1 -> policy logits and values, both the caller's.

        With `expand` the observations are packed.
        """


class Runtime(Protocol):
    """One network in one backend."""

    backend: str
    precision: str

    def session(self) -> Session:
        """Another session; may take a moment."""


def installed_backends() -> list[str]:
    """In the order in which they are preferred."""
    return [name for name in BACKENDS if importlib.util.find_spec(_PACKAGES[name]) is not None]


def make_runtime(
    weights: Weights, backend: str, precision: str = "f32", calibration: Array | None = None
) -> Runtime:
    """The network in that backend. `calibration` is observations for int8."""
    if backend not in BACKENDS:
        raise UserError(f"there is no backend '{backend}'; there are auto, {', '.join(BACKENDS)}")
    if precision not in PRECISIONS:
        raise UserError(f"there is no precision '{precision}'; there are {', '.join(PRECISIONS)}")
    if backend not in installed_backends():
        raise UserError(f"the backend {backend} needs the package '{_PACKAGES[backend]}'")
    if backend == "openvino":
        from zermelo.network.runtime_openvino import OpenVinoRuntime

        return OpenVinoRuntime(weights, precision, calibration)
    if precision == "int8":
        raise UserError("int8 is there with the backend openvino only")
    if backend == "onnx":
        from zermelo.network.runtime_onnx import OnnxRuntime

        return OnnxRuntime(weights, precision)
    from zermelo.network.runtime_torch import TorchRuntime

    return TorchRuntime(weights, precision)
