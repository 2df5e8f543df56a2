"""What a network is taught. Everything is for the player to move."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from zermelo.train.options import TrainOptions

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from torch import Tensor

    Numbers = TypeVar("Numbers", Tensor, NDArray[np.float32])


def value_blend_at(iteration: int, total_iterations: int, options: TrainOptions) -> float:
    """T3: the share f of the root value in the value target of an iteration, counted from 0.

    It rises linearly from 0 to `value_blend` over the first `value_blend_ramp` of all iterations.
    """
    ramp = options.value_blend_ramp * total_iterations
    if iteration >= ramp:
        return options.value_blend
    return options.value_blend * iteration / ramp


def value_target(result_wdl: Numbers, root_wdl: Numbers, blend: float) -> Numbers:
    """T3: (1 - f) * result + f * root, as probabilities of win, draw and loss [B, 3]."""
    return (1.0 - blend) * result_wdl + blend * root_wdl


def smoothed_policy(shares: Tensor, legal: Tensor, smoothing: float) -> Tensor:
    """The policy target [B, K]: 0 where padded, `smoothing` of it spread evenly over the rest."""
    target = shares.clamp(min=0.0)
    if smoothing == 0.0:
        return target
    even = legal.float() / legal.sum(1, keepdim=True).clamp(min=1)
    return (1.0 - smoothing) * target + smoothing * even
