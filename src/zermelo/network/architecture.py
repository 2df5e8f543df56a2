"""What a network looks like: its sizes, its layers by name, how much they cost.

Knows no runtime and no weights. `NetworkOptions` is what a person chooses; an `Architecture` is the
whole truth about one network and is written into every network file.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from zermelo.errors import UserError
from zermelo.games.protocol import Game
from zermelo.network.attention import (
    AttentionBody,
    AttentionPolicy,
    body_from,
    policy_from,
    smolgen_layer,
)
from zermelo.network.chess_policy import CHESS_ACTIONS, CHESS_PLANES
from zermelo.network.form import NetworkForm, require_choice, require_some
from zermelo.network.layer import Layer

TURNS = 3  # planes of a turned board that say how it was turned


@dataclass(frozen=True)
class NetworkOptions:
    """The sizes of a new network. 0 stands for "chosen by the game or by the other sizes"."""

    kind: str = "residual"  # or "sparse": the processor network
    hidden: int = 256  # sparse: units of the first layer
    policy_hidden: int = 64  # sparse: units before the policy; 0 takes the first layer
    windows: str = ""  # sparse: patterns of cells, such as "line4 2x3"
    inputs: str = ""  # sparse: what the game tells beyond its planes; chess has "attacks"
    blocks: int = 5  # residual blocks, two convolutions each
    filters: int = 64  # channels of the tower
    se_ratio: int = 4  # squeeze-and-excitation: filters / hidden units; 0 leaves it out
    policy: str = "auto"  # "conv" (chess's 1858 moves), "dense" (any game), "auto"
    policy_filters: int = 32  # planes before a dense policy
    value_filters: int = 32  # planes before the value's dense layers
    value_hidden: int = 128
    moves_left: bool = False  # a third head: plies until the end of the game


@dataclass(frozen=True)
class Architecture(NetworkForm):
    """A residual tower with a policy, a value and perhaps a moves-left head.

    lc0's may have an attention body, after a tower or, with 0 blocks, in its place.
    """

    blocks: int
    filters: int
    se_hidden: int = 0  # hidden units of squeeze-and-excitation; 0: none
    activation: str = "relu"  # or "mish"
    policy: str = "dense"  # or "conv", or "attention"
    policy_filters: int = 32  # dense: planes before it; conv: planes of the move map
    value: str = "wdl"  # or "scalar": one number in [-1, 1]
    value_filters: int = 32
    value_hidden: int = 128
    moves_filters: int = 0  # 0: no moves-left head
    moves_hidden: int = 0
    castling: str = "flags"  # how an lc0 network sees castling rights: "flags" or "rooks"
    body: AttentionBody | None = None
    attention: AttentionPolicy | None = None  # of an attention policy

    def __post_init__(self) -> None:
        super().__post_init__()
        require_some(self, "filters", "policy_filters", "value_filters", "value_hidden")
        if self.moves_filters:
            require_some(self, "moves_hidden")
        for name, choices in (
            ("activation", ("relu", "mish")),
            ("policy", ("dense", "conv", "attention")),
            ("value", ("wdl", "scalar")),
            ("castling", ("flags", "rooks")),
        ):
            require_choice(self, name, choices)
        if self.policy == "conv" and not self._is_chess_shaped():
            raise UserError("a convolutional policy needs chess's 8 x 8 board and 1858 actions")
        if (self.policy == "attention") != (self.attention is not None):
            raise UserError("the network's policy and its attention do not fit together")
        if (self.body or self.attention) and not self._is_chess_shaped():
            raise UserError("attention needs chess's 8 x 8 board and 1858 actions")
        if self.body and self.policy != "attention":
            raise UserError(f"an attention body with a {self.policy} policy is not supported")
        if self.turned and not (self._is_chess_shaped() and self.inputs > 0):
            raise UserError("turned boards need chess's 8 x 8 board and 1858 actions")
        self.smolgen()

    @property
    def turned(self) -> bool:
        """Whether its boards are turned; the last planes, which it does not see, say how."""
        return "encoder=lc0_" in self.game

    @property
    def inputs(self) -> int:
        """Planes that the first layer sees."""
        return self.planes - TURNS * self.turned

    def _is_chess_shaped(self) -> bool:
        board = (self.rows, self.columns) == (8, 8)
        planes = self.policy != "conv" or self.policy_filters >= CHESS_PLANES
        return board and self.num_actions == CHESS_ACTIONS and planes

    @property
    def value_outputs(self) -> int:
        """3 for win, draw and loss, 1 for a scalar."""
        return 3 if self.value == "wdl" else 1

    @property
    def size(self) -> str:
        """Blocks and filters, in a word."""
        tower = f"{self.blocks}x{self.filters}"
        if self.body is None:
            return tower
        body = f"{self.body.encoders.count}x{self.body.width}"
        return f"{tower}+{body}" if self.blocks else body

    @property
    def has_tower(self) -> bool:
        """Whether it begins with convolutions."""
        return self.body is None or self.blocks > 0

    @property
    def activations(self) -> set[str]:
        """All that it uses."""
        parts = [part.encoders for part in (self.body, self.attention) if part is not None]
        found = {self.activation} | {part.activation for part in parts if part}
        return found | {part.smolgen_activation for part in parts if part}

    @property
    def channels(self) -> int:
        """That the heads see."""
        return self.filters if self.body is None else self.body.width

    def smolgen(self) -> dict[str, Layer]:
        """The layer that all encoders share; none without smolgen."""
        encoders = [part.encoders for part in (self.body, self.attention) if part is not None]
        return smolgen_layer(*encoders)

    def layers(self) -> dict[str, Layer]:
        """The layers with weights, in the order of the forward pass."""
        found = self._tower_layers() if self.has_tower else {}
        if self.body is not None:
            found |= self.body.layers(self.filters if self.blocks else self.inputs)
        found |= self.smolgen()
        c, p = self.channels, self.policy_filters
        if self.attention is not None:
            found |= self.attention.layers(c)
        elif self.policy == "conv":
            found["policy_conv"] = Layer("conv", c, c, 3, norm=True)
            found["policy_out"] = Layer("conv", c, p, 3)
        else:
            found["policy_conv"] = Layer("conv", c, p, norm=True)
            found["policy_out"] = Layer("dense", p * self.cells, self.num_actions)
        v = self.value_filters
        found["value_conv"] = Layer("conv", c, v, norm=True)
        found["value_hidden"] = Layer("dense", v * self.cells, self.value_hidden)
        found["value_out"] = Layer("dense", self.value_hidden, self.value_outputs)
        if self.moves_filters:
            m = self.moves_filters
            found["moves_conv"] = Layer("conv", c, m, norm=True)
            found["moves_hidden"] = Layer("dense", m * self.cells, self.moves_hidden)
            found["moves_out"] = Layer("dense", self.moves_hidden, 1)
        return found

    def _tower_layers(self) -> dict[str, Layer]:
        f = self.filters
        found = {"input": Layer("conv", self.inputs, f, 3, norm=True)}
        for i in range(self.blocks):
            found[f"block{i}_conv1"] = Layer("conv", f, f, 3, norm=True)
            found[f"block{i}_conv2"] = Layer("conv", f, f, 3, norm=True)
            if self.se_hidden:
                found[f"block{i}_squeeze"] = Layer("dense", f, self.se_hidden)
                found[f"block{i}_excite"] = Layer("dense", self.se_hidden, 2 * f)
        return found

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The arrays of a network with this architecture."""
        found: dict[str, tuple[int, ...]] = {}
        for name, layer in self.layers().items():
            found[f"{name}.weight"] = layer.weight_shape
            found[f"{name}.bias"] = layer.bias_shape
        return found

    def dtypes(self) -> dict[str, np.dtype[Any]]:
        """Of the arrays."""
        return dict.fromkeys(self.shapes(), np.dtype(np.float32))

    def parameters(self) -> int:
        """How many numbers the network has."""
        return sum(math.prod(shape) for shape in self.shapes().values())

    def multiply_adds(self) -> int:
        """Multiplications for one position."""
        made = sum(layer.multiply_adds(self.cells) for layer in self.layers().values())
        made += self.body.encoders.products() if self.body else 0
        return made + (self.attention.products() if self.attention else 0)

    def summary(self) -> str:
        """One line for people."""
        se = " SE" if self.se_hidden else " attention" if self.body else ""
        left = ", moves left" if self.moves_filters else ""
        return (
            f"{self.size}{se} for {self.game}: {self.parameters():,} parameters, "
            f"{self.multiply_adds() / 1e6:.1f} million multiplications a position, "
            f"{self.policy} policy, {self.value} value{left}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON; parts that it does not have are left out."""
        return {k: v for k, v in super().to_dict().items() if v is not None}

    @classmethod
    def from_dict(cls, values: object) -> Self:
        """Read back; a mistake in it is a UserError."""
        if isinstance(values, dict):
            values = values | {
                "body": body_from(values.get("body")),
                "attention": policy_from(values.get("attention")),
            }
        return super().from_dict(values)

    def check_fits(self, game: Game) -> None:
        """Refuses a game whose positions or actions the network does not know."""
        super().check_fits(game)
        if self.castling == "rooks" and "chess960=on" in game.name:  # see graph
            raise UserError(
                f"the network sees castling rights as rooks in the corners, so it is not for "
                f"{game.name}"
            )


def tower_for(game: Game, chosen: NetworkOptions) -> Architecture:
    """The tower that these options mean for this game."""
    for name in ("blocks", "filters", "policy_filters", "value_filters", "value_hidden"):
        if getattr(chosen, name) < (0 if name == "blocks" else 1):
            raise UserError(f"{name} is {getattr(chosen, name)}, not at least 1")
    if chosen.policy not in ("auto", "dense", "conv"):
        raise UserError(f"policy is '{chosen.policy}', not auto, dense or conv")
    planes, rows, columns = game.observation_shape
    chess_shaped = (rows, columns, game.num_actions) == (8, 8, CHESS_ACTIONS)
    conv = chosen.policy == "conv" or (chosen.policy == "auto" and chess_shaped)
    se_hidden = max(1, chosen.filters // chosen.se_ratio) if chosen.se_ratio else 0
    return Architecture(
        game=game.name,
        planes=planes,
        rows=rows,
        columns=columns,
        num_actions=game.num_actions,
        blocks=chosen.blocks,
        filters=chosen.filters,
        se_hidden=se_hidden,
        policy="conv" if conv else "dense",
        policy_filters=CHESS_PLANES if conv else chosen.policy_filters,
        value_filters=chosen.value_filters,
        value_hidden=chosen.value_hidden,
        moves_filters=8 if chosen.moves_left else 0,
        moves_hidden=64 if chosen.moves_left else 0,
    )
