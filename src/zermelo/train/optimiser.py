"""AdamW over a network's parameters, and its state as arrays by the parameters' names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from zermelo.errors import UserError
from zermelo.train.options import TrainOptions

MOMENTS = ("exp_avg", "exp_avg_sq")  # torch's names: running mean of gradients and of their squares
STEP = "step"


def make_optimiser(network: nn.Module, options: TrainOptions) -> torch.optim.AdamW:
    """Kernels decay; biases and the parameters of norms (one number per channel) do not."""
    parameters = [p for p in network.parameters() if p.requires_grad]
    groups = [
        {
            "params": [p for p in parameters if p.ndim > 1],
            "weight_decay": options.weight_decay,
        },
        {"params": [p for p in parameters if p.ndim <= 1], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=options.learning_rate, fused=True)


def set_learning_rate(optimiser: torch.optim.Optimizer, rate: float) -> None:
    """For all groups, from the next step on."""
    for group in optimiser.param_groups:
        group["lr"] = rate


def optimiser_arrays(
    network: nn.Module, optimiser: torch.optim.Optimizer
) -> dict[str, NDArray[Any]]:
    """`NAME.exp_avg`, `NAME.exp_avg_sq` and `NAME.step` of each parameter; none before a step."""
    return {
        f"{name}.{part}": as_array(optimiser.state[parameter][part])
        for name, parameter in network.named_parameters()
        if parameter in optimiser.state
        for part in (*MOMENTS, STEP)
    }


def restore_optimiser(
    network: nn.Module, optimiser: torch.optim.Optimizer, arrays: Mapping[str, NDArray[Any]]
) -> None:
    """The reverse; the arrays must be those of such a network or empty."""
    optimiser.state.clear()
    if not arrays:
        return
    for name, parameter in network.named_parameters():
        state: dict[str, Tensor] = {}
        for part in MOMENTS:
            # The layout in memory must be the parameter's: the fused step walks both side by side.
            state[part] = torch.empty_like(parameter, requires_grad=False)
            copy_into(state[part], arrays, f"{name}.{part}")
        state[STEP] = torch.zeros((), dtype=torch.float32, device=parameter.device)
        copy_into(state[STEP], arrays, f"{name}.{STEP}")
        optimiser.state[parameter] = state


def copy_into(tensor: Tensor, arrays: Mapping[str, NDArray[Any]], name: str) -> None:
    """Fills a tensor in place; a UserError if there is no array of that name and shape."""
    if name not in arrays:
        raise UserError(f"the training state has no '{name}', so it is of another network")
    array = arrays[name]
    if tuple(array.shape) != tuple(tensor.shape):
        raise UserError(
            f"the training state's '{name}' has shape {tuple(array.shape)}, "
            f"not {tuple(tensor.shape)}, so it is of another network"
        )
    with torch.no_grad():
        tensor.copy_(torch.from_numpy(np.array(array)))  # from_numpy wants an array it may write


def as_array(tensor: Tensor) -> NDArray[Any]:
    """A copy in the usual order of axes."""
    return np.array(tensor.detach().cpu().contiguous().numpy())
