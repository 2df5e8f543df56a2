"""A network while it learns, whatever its kind. Needs torch.

The trainer knows no more of it than this: observations become inputs, inputs become logits of the
legal actions, and in the end there are weights to play with.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from zermelo.errors import UserError
from zermelo.games.protocol import Game
from zermelo.network.graph import Heads
from zermelo.network.kinds import AnyArchitecture, architecture_for
from zermelo.network.positions import sample_observations
from zermelo.network.sparse.architecture import SparseArchitecture

if TYPE_CHECKING:
    from zermelo.network.architecture import NetworkOptions
    from zermelo.network.training_heads import TrainingHeads
    from zermelo.network.weights import Weights

EXTRA = "extra."  # begins the names of parameters that only training has
MAX_INITIAL_SPREAD = 0.5  # standard deviation of a new network's logits


def planes_last(observations: NDArray[Any]) -> tuple[Tensor, ...]:
    """Planes as a tensor, with channels last in memory."""
    # The layout is changed by NumPy, in this thread: torch would start threads of its own for it.
    planes = np.ascontiguousarray(observations.transpose(0, 2, 3, 1), np.float32)
    return (torch.from_numpy(planes).permute(0, 3, 1, 2),)


class TrainedNetwork(nn.Module, ABC):
    """Everything is for the player to move."""

    architecture: AnyArchitecture
    packed: bool  # whether `prepare` wants packed observations

    def __init__(self) -> None:
        super().__init__()
        self.extra: TrainingHeads | None = None  # T15: heads that `weights` leaves out

    @abstractmethod
    def prepare(self, observations: NDArray[Any]) -> tuple[Tensor, ...]:
        """The inputs of `legal_heads`, for observations as planes or, if it likes them, packed.

        Thread rule: any thread, beside the optimiser's.
        """

    @abstractmethod
    def body(self, inputs: tuple[Tensor, ...]) -> Tensor:
        """What all heads see, [B, ...]."""

    @abstractmethod
    def heads(self, body: Tensor, inputs: tuple[Tensor, ...], actions: Tensor) -> Heads[Tensor]:
        """Logits of these actions [B, K], value logits [B, 3], and moves left if it has them."""

    def legal_heads(self, inputs: tuple[Tensor, ...], actions: Tensor) -> Heads[Tensor]:
        """`heads` of its own body."""
        return self.heads(self.body(inputs), inputs, actions)

    @abstractmethod
    def training_heads(self, horizons: int) -> TrainingHeads:
        """New ones that fit; see `extra`."""

    def parameters_to_play(self) -> dict[str, Tensor]:
        """The state without `extra`, by name."""
        return {k: v for k, v in self.state_dict().items() if not k.startswith(EXTRA)}

    @abstractmethod
    def adopt(self, weights: Weights) -> None:
        """Becomes a network made for playing; a UserError if it lacks what training needs."""

    @abstractmethod
    def weights(self, name: str = "network", search: Mapping[str, Any] | None = None) -> Weights:
        """A copy for playing; see `Weights.search`."""


def network_of(architecture: AnyArchitecture) -> TrainedNetwork:
    """A network of that shape, with random parameters."""
    if isinstance(architecture, SparseArchitecture):
        from zermelo.network.sparse.module import SparseModule

        return SparseModule(architecture)
    from zermelo.network.resnet import ResidualNetwork

    return ResidualNetwork(architecture)


def new_network(game: Game, options: NetworkOptions | None = None, seed: int = 0) -> TrainedNetwork:
    """A network that knows nothing about `game` yet; its policy is close to uniform (checked)."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = network_of(architecture_for(game, options))
    spread = logit_spread(network, game)
    if not spread <= MAX_INITIAL_SPREAD:
        raise UserError(
            f"a new network of {network.architecture.summary()} begins with logits that spread by "
            f"{spread:.2f}, so its first games would not be varied"
        )
    return network


def logit_spread(network: TrainedNetwork, game: Game) -> float:
    """Standard deviation of the policy logits of a position, the largest of a few positions."""
    inputs = network.prepare(sample_observations(game, 16))
    actions = torch.arange(game.num_actions).expand(16, -1)
    was_training = network.training
    network.eval()
    with torch.no_grad():
        logits = network.legal_heads(inputs, actions).policy
    network.train(was_training)
    return float(logits.std(dim=1).max())
