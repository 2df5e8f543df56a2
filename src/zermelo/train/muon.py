"""Muon for a tower's kernels, steps along momentum whose singular values are evened out.

After K. Jordan and others (2024). A kernel [out, in, h, w] counts as the matrix [out, in * h * w].
torch's own takes matrices only and computes in bf16, four times as slow where that is emulated.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor

# Newton-Schulz in five steps of x -> a x + b x^3 + c x^5 takes singular values to about 1.
STEPS = 5
A, B, C = 3.4445, -4.7750, 2.0315
TINY = 1e-7
# An AdamW step has entries of about this size, so that one learning rate serves both.
ADAMW_SIZE = 0.2


class Muon(torch.optim.Optimizer):
    """Its state of a parameter is `momentum`, shaped like the parameter."""

    def __init__(
        self, kernels: Iterable[Tensor], lr: float, weight_decay: float, momentum: float = 0.95
    ) -> None:
        defaults = {"lr": lr, "weight_decay": weight_decay, "momentum": momentum}
        super().__init__(kernels, defaults)

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        """Kernels of one shape are worked on together."""
        if closure is not None:
            raise ValueError("Muon takes no closure")
        for group in self.param_groups:
            shapes: dict[torch.Size, list[Tensor]] = defaultdict(list)
            for kernel in group["params"]:
                if kernel.grad is not None:
                    shapes[kernel.shape].append(kernel)
            for kernels in shapes.values():
                self._step(kernels, group)

    def _step(self, kernels: list[Tensor], group: dict[str, Any]) -> None:
        ahead = []  # Nesterov's: the momentum as the next step will see it
        for kernel in kernels:
            gradient = kernel.grad
            assert gradient is not None
            state = self.state[kernel]
            if not state:
                state["momentum"] = torch.zeros_like(kernel)
            state["momentum"].lerp_(gradient, 1 - group["momentum"])
            ahead.append(gradient.lerp(state["momentum"], group["momentum"]).flatten(1))
        evened = orthogonal(torch.stack(ahead))
        size = group["lr"] * ADAMW_SIZE * max(evened.shape[1:]) ** 0.5
        for kernel, direction in zip(kernels, evened, strict=True):
            kernel.mul_(1 - group["lr"] * group["weight_decay"])
            kernel.add_(direction.view_as(kernel), alpha=-size)


def orthogonal(matrices: Tensor) -> Tensor:
    """[K, m, n] with the same singular vectors; values that are not tiny become 0.7 to 1.2."""
    if matrices.shape[1] > matrices.shape[2]:
        return orthogonal(matrices.mT).mT
    x: Tensor = matrices / (matrices.flatten(1).norm(dim=1)[:, None, None] + TINY)
    for _ in range(STEPS):
        squared = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(squared, squared, squared, beta=B, alpha=C), x, beta=A)
    return x
