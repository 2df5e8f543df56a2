"""What changes a network's parameters, and its state as arrays by the parameters' names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from zermelo.errors import UserError
from zermelo.network.trained import EXTRA
from zermelo.train.muon import Muon
from zermelo.train.options import TrainOptions

STEP = "step"  # a number; the rest of a parameter's state has the parameter's shape
STATE = {torch.optim.AdamW: ("exp_avg", "exp_avg_sq", STEP), Muon: ("momentum",)}


class NetworkOptimiser:
    """AdamW for all parameters, or Muon for the tower's kernels and AdamW for the others.

    Kernels decay; biases and the parameters of norms (one number per channel) do not.
    """

    def __init__(self, network: nn.Module, options: TrainOptions) -> None:
        self.network = network
        parameters = [p for p in network.parameters() if p.requires_grad]
        tower = tower_kernels(network) if options.optimiser == "muon" else []
        known = {id(kernel) for kernel in tower}
        rest = [p for p in parameters if id(p) not in known]
        rate, decay = options.learning_rate, options.weight_decay
        groups = [
            {"params": [p for p in rest if p.ndim > 1], "weight_decay": decay},
            {"params": [p for p in rest if p.ndim <= 1], "weight_decay": 0.0},
        ]
        self.parts: list[torch.optim.Optimizer] = [torch.optim.AdamW(groups, lr=rate, fused=True)]
        if tower:
            self.parts.append(Muon(tower, rate, decay))

    def zero_grad(self) -> None:
        """Forgets the gradients."""
        self.network.zero_grad(set_to_none=True)

    def step(self, rate: float) -> None:
        """One step along the gradients, at this learning rate."""
        for part in self.parts:
            for group in part.param_groups:
                group["lr"] = rate
            part.step()

    def arrays(self) -> dict[str, NDArray[Any]]:
        """`NAME.exp_avg` and so on for each parameter; none before a step."""
        return {
            f"{name}.{key}": as_array(part.state[parameter][key])
            for name, parameter in self.network.named_parameters()
            for part in self.parts
            if parameter in part.state
            for key in STATE[type(part)]
        }

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """The reverse; the arrays must be those of such a network and optimiser, or empty."""
        for part in self.parts:
            part.state.clear()
            owned = {id(p) for group in part.param_groups for p in group["params"]}
            for name, parameter in self.network.named_parameters():
                if not arrays or id(parameter) not in owned:
                    continue
                if name.startswith(EXTRA) and f"{name}.{STATE[type(part)][0]}" not in arrays:
                    continue  # T15: heads that are new
                for key in STATE[type(part)]:
                    part.state[parameter][key] = _restored(parameter, arrays, name, key)


def tower_kernels(network: nn.Module) -> list[Tensor]:
    """Those of the residual blocks' convolutions."""
    return [p for n, p in network.named_parameters() if n.startswith("block") and p.ndim == 4]


def _restored(parameter: Tensor, arrays: Mapping[str, NDArray[Any]], name: str, key: str) -> Tensor:
    if key == STEP:
        state = torch.zeros((), dtype=torch.float32, device=parameter.device)
    else:
        # The layout in memory must be the parameter's: the fused step walks both side by side.
        state = torch.empty_like(parameter, requires_grad=False)
    copy_into(state, arrays, f"{name}.{key}")
    return state


def copy_into(tensor: Tensor, arrays: Mapping[str, NDArray[Any]], name: str) -> None:
    """Fills a tensor in place; a UserError if there is no array of that name and shape."""
    if name not in arrays:
        raise UserError(
            f"the training state has no '{name}', so it is of another network or optimiser"
        )
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
