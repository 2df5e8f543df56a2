"""The parts of a network with attention, as lc0 makes them: sizes and layers by name.

An attention body sees 64 tokens, one per cell, and lets them exchange what they know in encoder
blocks; an attention policy compares the cell that a piece leaves with the one that it reaches.
Knows no runtime: `attention_graph` computes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from zermelo.errors import UserError
from zermelo.network.form import check_sizes, require_choice, require_some, sizes_from
from zermelo.network.layer import Layer

ACTIVATIONS = ("relu", "mish", "swish", "selu", "relu2", "tanh", "sigmoid", "none")
EPSILONS = ("1e-3", "1e-6")  # of layer norms
CELLS = 64
PLACED_PLANES = 12  # the pieces of the current position, which a dense position encoding sees


@dataclass(frozen=True)
class Encoders:
    """Encoder blocks: attention and a feed-forward layer, each added to what came in and normed."""

    count: int
    heads: int
    keys: int  # channels of the queries, of the keys and of the values, all heads together
    hidden: int  # units of the feed-forward layer
    activation: str  # of the feed-forward layer
    epsilon: str = "1e-6"
    # "Smolgen": attention that depends on the whole board, made from a summary. 0: none.
    smolgen_channels: int = 0  # of a cell in the summary
    smolgen_hidden: int = 0
    smolgen_size: int = 0  # numbers per head, from which a shared layer makes 64 x 64
    smolgen_activation: str = "none"

    def __post_init__(self) -> None:
        check_sizes(self)
        require_some(self, "count", "heads", "keys", "hidden")
        if self.smolgen_channels:
            require_some(self, "smolgen_hidden", "smolgen_size")
        require_choice(self, "activation", ACTIVATIONS)
        require_choice(self, "smolgen_activation", ACTIVATIONS)
        require_choice(self, "epsilon", EPSILONS)
        if self.keys % self.heads:
            raise UserError(f"the network's {self.heads} heads do not share {self.keys} keys")

    def layers(self, prefix: str, width: int) -> dict[str, Layer]:
        """Those of all blocks; `width` is the channels of a token."""
        found: dict[str, Layer] = {}
        for i in range(self.count):
            name = f"{prefix}{i}"
            for part in ("query", "key", "value"):
                found[f"{name}_{part}"] = _token(width, self.keys)
            if self.smolgen_channels:
                summary, made = self.smolgen_channels, self.heads * self.smolgen_size
                found[f"{name}_compress"] = _token(width, summary)
                found[f"{name}_smolgen1"] = Layer("dense", CELLS * summary, self.smolgen_hidden)
                found[f"{name}_smolgen1_norm"] = _norm(self.smolgen_hidden)
                found[f"{name}_smolgen2"] = Layer("dense", self.smolgen_hidden, made)
                found[f"{name}_smolgen2_norm"] = _norm(made)
            found[f"{name}_output"] = _token(self.keys, width)
            found[f"{name}_norm1"] = _norm(width, CELLS)
            found[f"{name}_feed1"] = _token(width, self.hidden)
            found[f"{name}_feed2"] = _token(self.hidden, width)
            found[f"{name}_norm2"] = _norm(width, CELLS)
        return found

    def products(self) -> int:
        """Multiplications of a position between tokens, which no layer counts."""
        return 2 * self.count * CELLS * CELLS * self.keys


@dataclass(frozen=True)
class AttentionBody:
    """From planes, or from the channels of a tower before it, to tokens for the heads."""

    width: int  # channels of a token
    encoders: Encoders
    # How a token knows its cell: "map" has a bias for each, "dense" a layer over the pieces.
    position: str = "none"
    position_channels: int = 0  # dense: per cell
    gates: int = 0  # 1: a factor and a shift per cell and channel
    hidden: int = 0  # units of a feed-forward layer before the blocks; 0: none, and no norm

    def __post_init__(self) -> None:
        check_sizes(self)
        require_some(self, "width")
        require_choice(self, "position", ("none", "map", "dense"))
        if self.position == "dense":
            require_some(self, "position_channels")
        if not isinstance(self.encoders, Encoders):
            raise UserError("the network's description lacks some of its sizes")

    def layers(self, inputs: int) -> dict[str, Layer]:
        """With `inputs` channels coming in."""
        cells = CELLS if self.position == "map" else 0
        found = {"embed": Layer("token", inputs, self.width, cells=cells, uses=CELLS)}
        if self.position == "dense":
            made = self.position_channels
            found["position"] = Layer("dense", PLACED_PLANES * CELLS, made * CELLS)
            found["embed_position"] = _token(made, self.width)
        if self.hidden:
            found["embed_norm"] = _norm(self.width, CELLS)
        if self.gates:
            found["embed_gate"] = Layer("gate", self.width, self.width, cells=CELLS)
        if self.hidden:
            found["embed_feed1"] = _token(self.width, self.hidden)
            found["embed_feed2"] = _token(self.hidden, self.width)
            found["embed_feed_norm"] = _norm(self.width, CELLS)
        found |= self.encoders.layers("encoder", self.width)
        return found


@dataclass(frozen=True)
class AttentionPolicy:
    """Logits of a move from the query of one cell and the key of another."""

    width: int  # channels of a token
    keys: int  # channels that are compared
    activation: str
    encoders: Encoders | None = None

    def __post_init__(self) -> None:
        check_sizes(self)
        require_some(self, "width", "keys")
        require_choice(self, "activation", ACTIVATIONS)
        if not isinstance(self.encoders, Encoders | None):
            raise UserError("the network's description lacks some of its sizes")

    def layers(self, inputs: int) -> dict[str, Layer]:
        """With `inputs` channels coming in."""
        found = {"policy_embed": _token(inputs, self.width)}
        if self.encoders:
            found |= self.encoders.layers("policy_encoder", self.width)
        found["policy_query"] = _token(self.width, self.keys)
        found["policy_key"] = _token(self.width, self.keys)
        found["policy_promotion"] = _token(self.keys, 4)  # queen, rook, bishop, none of them
        return found

    def products(self) -> int:
        """See `Encoders`."""
        return CELLS * CELLS * self.keys + (self.encoders.products() if self.encoders else 0)


def smolgen_layer(*stacks: Encoders | None) -> dict[str, Layer]:
    """The layer that all blocks share, from a head's numbers to 64 x 64; none without smolgen."""
    using = [stack for stack in stacks if stack and stack.smolgen_channels]
    if len({stack.smolgen_size for stack in using}) > 1:
        raise UserError("the network's encoders do not share one size of smolgen")
    uses = sum(stack.count * stack.heads for stack in using)
    size = using[0].smolgen_size if using else 0
    return {"smolgen": Layer("token", size, CELLS * CELLS, uses=uses)} if using else {}


def body_from(values: Any) -> Any:
    """A body as `asdict` gave it; None stays None."""
    return None if values is None else sizes_from(AttentionBody, _with_encoders(values))


def policy_from(values: Any) -> Any:
    """A policy as `asdict` gave it; None stays None."""
    return None if values is None else sizes_from(AttentionPolicy, _with_encoders(values))


def _with_encoders(values: Any) -> Any:
    if isinstance(values, dict) and values.get("encoders") is not None:
        return values | {"encoders": sizes_from(Encoders, values["encoders"])}
    return values


def _token(inputs: int, outputs: int) -> Layer:
    return Layer("token", inputs, outputs, uses=CELLS)


def _norm(channels: int, uses: int = 1) -> Layer:
    return Layer("norm", channels, channels, uses=uses)
