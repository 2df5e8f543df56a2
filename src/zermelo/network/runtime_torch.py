"""Evaluates with torch: on CUDA or MPS if there is such a device, else on the CPU."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from numpy.typing import NDArray

from zermelo.errors import UserError
from zermelo.network.build_torch import FoldedNetwork
from zermelo.network.runtimes import Expand, Session
from zermelo.network.weights import Array, Weights


def best_device() -> str:
    """Where torch computes fastest here."""
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def supports_bf16() -> bool:
    """Whether the processor computes in bf16; without, torch would imitate it, ten times slower."""
    # torch has no public question for it; without an answer f32 is right.
    names = ("_is_avx512_bf16_supported", "_is_amx_tile_supported")
    asked = (getattr(torch.cpu, name, None) for name in names)
    return any(ask is not None and bool(ask()) for ask in asked)


class TorchRuntime:
    """One network serves all callers: evaluating does not change it."""

    backend = "torch"

    def __init__(self, weights: Weights, precision: str = "f32", device: str | None = None) -> None:
        self.precision = precision
        self.device = torch.device(device or best_device())
        if precision == "bf16" and self.device.type == "cpu" and not supports_bf16():
            raise UserError("this processor does not compute in bf16: use f32")
        self._type = torch.float32 if precision == "f32" else torch.bfloat16
        network: Any = FoldedNetwork(weights).eval().to(self.device, self._type)
        self._network = network.to(memory_format=torch.channels_last)

    def session(self, like: Session | None = None) -> TorchRuntime:  # noqa: ARG002
        """Itself, which is ready for any batch."""
        return self

    def run(self, observations: NDArray[Any], expand: Expand | None = None) -> tuple[Array, ...]:
        """See `runtimes.Session`."""
        if expand is not None:
            observations = expand(observations)
        with torch.inference_mode(), _one_thread(self.device):
            planes = torch.from_numpy(observations).to(self.device, self._type)
            heads = self._network(planes.contiguous(memory_format=torch.channels_last))
            return tuple(found.float().cpu().numpy() for found in heads.outputs().values())


@contextmanager
def _one_thread(device: torch.device) -> Iterator[None]:
    """Each searching thread has a core of its own; torch would otherwise use all for each."""
    before = torch.get_num_threads()
    if device.type != "cpu" or before == 1:
        yield
        return
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
