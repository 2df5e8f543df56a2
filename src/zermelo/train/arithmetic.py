"""Where and how torch computes: device, threads, precision, the same result every time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import torch

from zermelo.cores import available_cores
from zermelo.errors import UserError
from zermelo.network.runtime_torch import supports_bf16
from zermelo.train.options import TrainOptions

# oneDNN, which computes for torch on processors, keeps what it made for every size of a batch,
# 1,024 things unless told otherwise, and each iteration has batches of new sizes. A step needs a
# few dozen. It is read when the first is made.
os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "128")


def choose_device(options: TrainOptions) -> torch.device:
    """The device that the options mean here."""
    name = options.device
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    there: dict[str, Callable[[], bool]] = {
        "cpu": lambda: True,
        "cuda": torch.cuda.is_available,
        "mps": torch.backends.mps.is_available,
    }
    if not there[name]():
        raise UserError(f"[train]: device is '{name}', which this machine does not have")
    return torch.device(name)


def choose_precision(options: TrainOptions, device: torch.device) -> str:
    """T12: `f32` or `bf16`; auto takes bf16 where the hardware computes in it."""
    if options.precision != "auto":
        return options.precision
    return "bf16" if has_bf16(device) else "f32"


def has_bf16(device: torch.device) -> bool:
    """Whether bf16 is arithmetic of the hardware there, and not imitated."""
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    return device.type == "cpu" and supports_bf16()


def autocast(precision: str, device: torch.device) -> AbstractContextManager[Any]:
    """Around the network's forward pass; its parameters stay float32."""
    if precision == "f32":
        return nullcontext()
    return torch.autocast(device.type, dtype=torch.bfloat16)


@contextmanager
def fixed_arithmetic(threads: int) -> Iterator[None]:
    """Deterministic algorithms and a fixed number of threads (0: all cores); put back afterwards.

    Sums depend on how many threads share them, so runs repeat bit for bit with the same number.
    """
    threads_before = torch.get_num_threads()
    deterministic_before = torch.are_deterministic_algorithms_enabled()
    warn_before = torch.is_deterministic_algorithms_warn_only_enabled()
    memory: Any = torch.utils.deterministic
    filled_before = memory.fill_uninitialized_memory
    torch.set_num_threads(threads or available_cores())
    torch.use_deterministic_algorithms(True)
    memory.fill_uninitialized_memory = False  # costs time, changes nothing
    try:
        yield
    finally:
        torch.set_num_threads(threads_before)
        torch.use_deterministic_algorithms(deterministic_before, warn_only=warn_before)
        memory.fill_uninitialized_memory = filled_before
