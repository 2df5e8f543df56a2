"""The attention layers of an lc0 file, factors between layers folded in.

Attention is divided by the square root of its depth, and what a block adds is multiplied by
(2 * blocks) ** -1/4: both are multiplied into the layer before.
"""

from __future__ import annotations

import math

import numpy as np

from zermelo.errors import UserError
from zermelo.network.attention import (
    CELLS,
    PLACED_PLANES,
    AttentionBody,
    AttentionPolicy,
    Encoders,
)
from zermelo.network.chess_policy import reachable
from zermelo.network.form import LIMITS
from zermelo.network.lc0.formats import ENCODER, Format
from zermelo.network.lc0.heads import PolicyHead
from zermelo.network.lc0.layers import LayerReader
from zermelo.network.wire import Message

PROMOTIONS = 4  # rows: queen, rook, bishop, and what all three have in common


def read_body(reader: LayerReader, m: Message, form: Format, channels: int) -> AttentionBody:
    """The body; `channels` are those of a tower before it, 0 if there is none."""
    count = len(m.fields[ENCODER]) if ENCODER in m else 0
    factor = (2 * max(1, count)) ** -0.25
    position, made = "none", 0
    if channels:
        width = reader.dense("embed", m, (25, 26), channels)
    elif form.dense_position:
        position = "dense"
        width, made = _dense_position(reader, m)
    else:
        position = "map"
        width = _map_position(reader, m)
    hidden = 0
    if form.dense_position:
        reader.norm("embed_norm", m, (39, 40), width)
        hidden = _read_feed(reader, m.message(41), "embed_feed", width, factor)
        reader.norm("embed_feed_norm", m, (42, 43), width)
    epsilon = "1e-3" if form.dense_position else "1e-6"
    encoders = read_encoders(reader, m, (ENCODER, 28), "encoder", width, form, epsilon, factor)
    gates = _read_gates(reader, m, width)
    if encoders is None:
        raise UserError(f"{reader.name}: its attention body has no encoders")
    return AttentionBody(width, encoders, position, made, int(gates), hidden)


def read_policy(
    reader: LayerReader, head: PolicyHead, form: Format, channels: int
) -> AttentionPolicy:
    """The policy over tokens of so many channels."""
    width = reader.dense_of("policy_embed", head.embed_weight, head.embed_bias, channels)
    fields = (head.encoders, head.heads)
    encoders = read_encoders(reader, head.message, fields, "policy_encoder", width, form)
    keys = reader.dense("policy_query", head.message, head.query, width)
    reader.scale("policy_query", 1 / math.sqrt(keys))
    reader.dense("policy_key", head.message, head.key, width, keys)
    offsets = reader.values(head.message.message(head.promotion), "policy_promotion")
    reader.expect("policy_promotion", offsets, PROMOTIONS * keys)
    rows = offsets.reshape(PROMOTIONS, keys)
    with np.errstate(all="ignore"):
        rows = np.concatenate([rows[:3] + rows[3], np.zeros((1, keys), np.float32)])
    reader.arrays["policy_promotion.weight"] = rows
    reader.arrays["policy_promotion.bias"] = np.zeros(PROMOTIONS, np.float32)
    return AttentionPolicy(width, keys, form.activation if form.body else "selu", encoders)


def read_encoders(
    reader: LayerReader,
    m: Message,
    fields: tuple[int, int],
    prefix: str,
    width: int,
    form: Format,
    epsilon: str = "1e-6",
    factor: float = 1.0,
) -> Encoders | None:
    """Blocks and number of heads are in `fields`; None without blocks."""
    blocks, heads = m.messages(fields[0]), m.integer(fields[1])
    if not blocks:
        return None
    if len(blocks) > LIMITS["count"] or not 1 <= heads <= LIMITS["heads"]:
        raise UserError(f"{reader.name}: it has {len(blocks)} encoders with {heads} heads each")
    sizes = {
        _read_block(reader, block, f"{prefix}{i}", width, heads, factor)
        for i, block in enumerate(blocks)
    }
    if len(sizes) > 1:
        raise UserError(f"{reader.name}: its encoders differ in their sizes")
    keys, hidden, channels, units, size = sizes.pop()
    return Encoders(
        count=len(blocks),
        heads=heads,
        keys=keys,
        hidden=hidden,
        activation=form.feed_activation,
        epsilon=epsilon,
        smolgen_channels=channels,
        smolgen_hidden=units,
        smolgen_size=size,
        smolgen_activation=form.smolgen_activation if channels else "none",
    )


def _read_block(
    reader: LayerReader, block: Message, name: str, width: int, heads: int, factor: float
) -> tuple[int, int, int, int, int]:
    """Its sizes: keys, hidden, and three of smolgen."""
    m = block.message(1)
    if 10 in m or 11 in m or 12 in m:
        raise UserError(
            f"{reader.name}: lc0 networks with relative position encodings (RPE) are not supported"
        )
    keys = reader.dense(f"{name}_query", m, (1, 2), width)
    if keys % heads:
        raise UserError(f"{reader.name}: its {heads} heads do not share {keys} keys")
    reader.scale(f"{name}_query", 1 / math.sqrt(keys // heads))
    reader.dense(f"{name}_key", m, (3, 4), width, keys)
    reader.dense(f"{name}_value", m, (5, 6), width, keys)
    reader.dense(f"{name}_output", m, (7, 8), keys, width)
    reader.scale(f"{name}_output", factor)
    reader.norm(f"{name}_norm1", block, (2, 3), width)
    hidden = _read_feed(reader, block.message(4), f"{name}_feed", width, factor)
    reader.norm(f"{name}_norm2", block, (5, 6), width)
    smolgen = _read_smolgen(reader, m.message(9), name, width, heads) if 9 in m else (0, 0, 0)
    return keys, hidden, *smolgen


def _read_feed(reader: LayerReader, m: Message, name: str, width: int, factor: float) -> int:
    """Two layers; returns the units between them."""
    hidden = reader.dense(f"{name}1", m, (1, 2), width)
    reader.dense(f"{name}2", m, (3, 4), hidden, width)
    reader.scale(f"{name}2", factor)
    return hidden


def _read_smolgen(
    reader: LayerReader, m: Message, name: str, width: int, heads: int
) -> tuple[int, int, int]:
    """Channels of the summary, hidden units, numbers per head."""
    channels = reader.matrix(f"{name}_compress", m.message(1), width)
    hidden = reader.dense(f"{name}_smolgen1", m, (2, 3), CELLS * channels)
    reader.norm(f"{name}_smolgen1_norm", m, (4, 5), hidden)
    made = reader.dense(f"{name}_smolgen2", m, (6, 7), hidden)
    reader.norm(f"{name}_smolgen2_norm", m, (8, 9), made)
    if made % heads:
        raise UserError(f"{reader.name}: its {heads} heads do not share {made} smolgen outputs")
    return channels, hidden, made // heads


def _map_position(reader: LayerReader, m: Message) -> int:
    """A constant table says where the pieces of a cell could go: it becomes a bias per cell."""
    width = reader.dense("embed", m, (25, 26), reader.planes + CELLS)
    weight = reader.arrays["embed.weight"]
    with np.errstate(all="ignore"):
        bias = reachable() @ weight[:, reader.planes :].T + reader.arrays["embed.bias"]
    reader.arrays["embed.weight"] = np.ascontiguousarray(weight[:, : reader.planes])
    reader.arrays["embed.bias"] = bias.astype(np.float32)
    return width


def _dense_position(reader: LayerReader, m: Message) -> tuple[int, int]:
    """A layer over all pieces makes channels for every cell; returns the width and those."""
    outputs = reader.dense("position", m, (37, 38), PLACED_PLANES * CELLS)
    made = outputs // CELLS
    if outputs % CELLS:
        raise UserError(f"{reader.name}: the weights 'position' are not for 64 cells")
    weight = reader.arrays["position.weight"].reshape(outputs, CELLS, PLACED_PLANES)
    planes_first = np.swapaxes(weight, 1, 2).reshape(outputs, -1)
    reader.arrays["position.weight"] = np.ascontiguousarray(planes_first)
    width = reader.dense("embed", m, (25, 26), reader.planes + made)
    weight = reader.arrays["embed.weight"]
    reader.arrays["embed.weight"] = np.ascontiguousarray(weight[:, : reader.planes])
    reader.arrays["embed_position.weight"] = np.ascontiguousarray(weight[:, reader.planes :])
    reader.arrays["embed_position.bias"] = np.zeros(width, np.float32)
    return width, made


def _read_gates(reader: LayerReader, m: Message, width: int) -> bool:
    """Factors and shifts by channel and cell; whether there are any."""
    factors, shifts = (reader.values(m.message(number), "embed_gate") for number in (33, 34))
    if not factors.size and not shifts.size:
        return False
    factors = factors if factors.size else np.ones(width * CELLS, np.float32)
    shifts = shifts if shifts.size else np.zeros(width * CELLS, np.float32)
    for part, values in (("weight", factors), ("bias", shifts)):
        reader.expect("embed_gate", values, width * CELLS)
        by_cell = values.reshape(width, CELLS).T
        reader.arrays[f"embed_gate.{part}"] = np.ascontiguousarray(by_cell)
    return True
