"""Which runtimes there are, and what each must offer.

A `Runtime` is one network made ready; a `Session` is its private working memory for one caller at a
time. Runtimes are imported only when asked for: none of them is needed to import this.
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any, Protocol

from numpy.typing import NDArray

from zermelo.errors import UserError
from zermelo.games.protocol import Game
from zermelo.network.sparse.architecture import SparseArchitecture
from zermelo.network.weights import Array, Weights

# What each backend computes in; the backends in the order in which they are preferred.
COMPUTES = {
    "openvino": ("f32", "bf16", "int8"),
    "onnx": ("f32",),
    "torch": ("f32", "bf16"),
    "numpy": ("f32",),
}
BACKENDS = tuple(COMPUTES)
PRECISIONS = ("f32", "bf16", "int8")
_PACKAGES = {"openvino": "openvino", "onnx": "onnxruntime", "torch": "torch"}
_PACKAGES["numpy"] = "numpy"  # which is always there, and used where nothing else is


class Expand(Protocol):
    """Packed observations [n, words] to planes, into the first rows of `out` if that is given."""

    def __call__(self, packed: NDArray[Any], out: Array = ..., /) -> Any:
        """The planes [n, planes, rows, columns]; None with `out`."""


class Session(Protocol):
    """Not to be used by two threads at once; the GIL is free while it computes."""

    def run(self, observations: NDArray[Any], expand: Expand | None = None) -> tuple[Array, ...]:
        """[n, planes, rows, columns], any n >= 1 -> policy logits and values, the caller's.

        A network with a moves-left head adds plies left [n, 1]. With `expand` the observations are
        packed.
        """


class Runtime(Protocol):
    """One network in one backend."""

    backend: str
    precision: str

    def session(self, like: Session | None = None) -> Session:
        """Another session; may take a moment. With `like`, ready for all batches that one met."""


def installed_backends() -> list[str]:
    """In the order in which they are preferred; NumPy alone if there is no other."""
    others = [name for name in BACKENDS if name != "numpy"]
    return [n for n in others if importlib.util.find_spec(_PACKAGES[n]) is not None] or ["numpy"]


def capable_backends(precision: str) -> list[str]:
    """Those installed that compute in it; `auto` is any precision."""
    found = dict.fromkeys([*installed_backends(), "numpy"])
    return [name for name in found if precision in (*COMPUTES[name], "auto")]


def check_runtime(backend: str, precision: str) -> None:
    """Refuses what `make_runtime` cannot make; either may be `auto`."""
    if backend not in (*BACKENDS, "auto"):
        raise UserError(f"there is no backend '{backend}'; there are auto, {', '.join(BACKENDS)}")
    if precision not in (*PRECISIONS, "auto"):
        raise UserError(f"there is no precision '{precision}'; there are {', '.join(PRECISIONS)}")
    if not installed_backends():
        raise UserError("no runtime is installed: install openvino, onnxruntime or torch")
    if backend not in ("auto", "numpy", *installed_backends()):
        raise UserError(f"the backend {backend} needs the package '{_PACKAGES[backend]}'")
    able = capable_backends(precision)
    if backend in able or (backend == "auto" and able):
        return
    having = [name for name in BACKENDS if precision in COMPUTES[name]]
    if len(having) == 1:
        raise UserError(f"{precision} is there with the backend {having[0]} only")
    if backend == "auto":
        raise UserError(f"{precision} needs one of the backends {', '.join(having)}")
    raise UserError(f"the backend {backend} computes in {' and '.join(COMPUTES[backend])} only")


def make_runtime(
    weights: Weights,
    backend: str,
    precision: str = "f32",
    calibration: Array | None = None,
    game: Game | None = None,
) -> Runtime:
    """The network in that backend, which is not `auto` here; a processor network in the core.

    int8 is calibrated by observations, or else by random games of `game`; without either the game
    is found by the network's name for it.
    """
    if isinstance(weights.architecture, SparseArchitecture):
        from zermelo.network.sparse.runtime import CoreRuntime

        return CoreRuntime(weights)
    check_runtime(backend, precision)
    try:
        importlib.import_module(_PACKAGES[backend])
    except Exception as error:  # installed, but broken
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise UserError(f"the backend {backend} cannot be loaded ({reason})") from error
    if backend == "openvino":
        from zermelo.network.runtime_openvino import OpenVinoRuntime

        return OpenVinoRuntime(weights, precision, calibration, game)
    if backend == "onnx":
        from zermelo.network.runtime_onnx import OnnxRuntime

        return OnnxRuntime(weights, precision)
    if backend == "numpy":
        from zermelo.network.runtime_numpy import NumpyRuntime

        return NumpyRuntime(weights)
    from zermelo.network.runtime_torch import TorchRuntime

    return TorchRuntime(weights, precision)
