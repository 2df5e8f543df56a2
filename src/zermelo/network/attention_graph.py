"""The forward pass of an attention body and of an attention policy.

Tokens are [B, cells, channels]. Factors between the layers (of the keys, of what is added) are
folded into the weights when they are read, so there are none here.
"""

from __future__ import annotations

from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from zermelo.network.attention import (
    CELLS,
    PLACED_PLANES,
    AttentionBody,
    AttentionPolicy,
    Encoders,
)
from zermelo.network.chess_policy import cell_pairs, promotion_places

T = TypeVar("T")


class AttentionOps(Protocol[T]):
    """What a runtime offers beyond a tower's; in shapes the batch comes first."""

    def linear(self, x: T, layer: str) -> T:
        """[B, N, inputs] -> [B, N, outputs]: a token layer."""

    def layer_norm(self, x: T, layer: str, epsilon: float) -> T:
        """Mean 0 and variance 1 over the last axis, then the layer's factors and shifts."""

    def gate(self, x: T, layer: str) -> T:
        """[B, cells, N]: times the layer's factors, plus its shifts."""

    def reshape(self, x: T, *sizes: int) -> T:
        """[B, ...] -> [B, *sizes]."""

    def transpose(self, x: T, *axes: int) -> T:
        """Axes in this order; the batch stays first."""

    def matmul(self, x: T, y: T) -> T:
        """[..., M, N] and [..., N, K] -> [..., M, K]."""

    # As in `graph.Ops`.
    def dense(self, x: T, layer: str) -> T:
        """[B, N] -> [B, outputs]."""

    def activate(self, x: T, kind: str) -> T:
        """Elementwise, but for softmax."""

    def flatten(self, x: T) -> T:
        """[B, ...] -> [B, N]."""

    def take(self, x: T, indices: NDArray[np.int64]) -> T:
        """Entries of axis 1."""

    def add(self, x: T, y: T) -> T:
        """Elementwise."""


def tokens_of(ops: AttentionOps[T], x: T, channels: int) -> T:
    """[B, channels, 8, 8] -> [B, cells, channels]."""
    return ops.transpose(ops.reshape(x, channels, CELLS), 0, 2, 1)


def board_of(ops: AttentionOps[T], tokens: T, channels: int) -> T:
    """[B, cells, channels] -> [B, channels, 8, 8]."""
    return ops.reshape(ops.transpose(tokens, 0, 2, 1), channels, 8, 8)


def attend(body: AttentionBody, ops: AttentionOps[T], x: T, channels: int, activation: str) -> T:
    """Tokens of the body from planes or from a tower's channels [B, channels, 8, 8]."""
    tokens = ops.linear(tokens_of(ops, x, channels), "embed")
    if body.position == "dense":
        pieces = ops.flatten(ops.take(x, np.arange(PLACED_PLANES)))
        placed = ops.reshape(ops.dense(pieces, "position"), CELLS, body.position_channels)
        tokens = ops.add(tokens, ops.linear(placed, "embed_position"))
    tokens = ops.activate(tokens, activation)
    if body.hidden:
        tokens = ops.layer_norm(tokens, "embed_norm", 1e-3)
    if body.gates:
        tokens = ops.gate(tokens, "embed_gate")
    if body.hidden:
        fed = _feed(ops, tokens, "embed_feed", body.encoders.activation)
        tokens = ops.layer_norm(ops.add(tokens, fed), "embed_feed_norm", 1e-3)
    return encode(body.encoders, ops, tokens, "encoder")


def encode(encoders: Encoders, ops: AttentionOps[T], tokens: T, prefix: str) -> T:
    """Tokens after all blocks."""
    epsilon = float(encoders.epsilon)
    for i in range(encoders.count):
        name = f"{prefix}{i}"
        seen = ops.linear(_exchange(encoders, ops, tokens, name), f"{name}_output")
        tokens = ops.layer_norm(ops.add(tokens, seen), f"{name}_norm1", epsilon)
        fed = _feed(ops, tokens, f"{name}_feed", encoders.activation)
        tokens = ops.layer_norm(ops.add(tokens, fed), f"{name}_norm2", epsilon)
    return tokens


def move_logits(policy: AttentionPolicy, ops: AttentionOps[T], tokens: T) -> T:
    """[B, 1858] from tokens [B, 64, channels]."""
    tokens = ops.activate(ops.linear(tokens, "policy_embed"), policy.activation)
    if policy.encoders:
        tokens = encode(policy.encoders, ops, tokens, "policy_encoder")
    keys = ops.linear(tokens, "policy_key")
    queries = ops.linear(tokens, "policy_query")
    pairs = ops.flatten(ops.matmul(queries, ops.transpose(keys, 0, 2, 1)))
    promoted = ops.flatten(ops.linear(keys, "policy_promotion"))
    return ops.add(ops.take(pairs, cell_pairs()), ops.take(promoted, promotion_places()))


def _exchange(encoders: Encoders, ops: AttentionOps[T], tokens: T, name: str) -> T:
    """What each cell sees of the others: [B, cells, keys]."""
    heads, depth = encoders.heads, encoders.keys // encoders.heads

    def split(part: str) -> T:
        return ops.reshape(ops.linear(tokens, f"{name}_{part}"), CELLS, heads, depth)

    queries = ops.transpose(split("query"), 0, 2, 1, 3)
    keys = ops.transpose(split("key"), 0, 2, 3, 1)
    values = ops.transpose(split("value"), 0, 2, 1, 3)
    attention = ops.matmul(queries, keys)
    if encoders.smolgen_channels:
        attention = ops.add(attention, _smolgen(encoders, ops, tokens, name))
    seen = ops.matmul(ops.activate(attention, "softmax"), values)
    return ops.reshape(ops.transpose(seen, 0, 2, 1, 3), CELLS, encoders.keys)


def _smolgen(encoders: Encoders, ops: AttentionOps[T], tokens: T, name: str) -> T:
    """Attention [B, heads, 64, 64] that the whole board asks for."""
    x = ops.flatten(ops.linear(tokens, f"{name}_compress"))
    for part in ("smolgen1", "smolgen2"):
        x = ops.activate(ops.dense(x, f"{name}_{part}"), encoders.smolgen_activation)
        x = ops.layer_norm(x, f"{name}_{part}_norm", 1e-3)
    x = ops.linear(ops.reshape(x, encoders.heads, encoders.smolgen_size), "smolgen")
    return ops.reshape(x, encoders.heads, CELLS, CELLS)


def _feed(ops: AttentionOps[T], tokens: T, name: str, activation: str) -> T:
    return ops.linear(ops.activate(ops.linear(tokens, f"{name}1"), activation), f"{name}2")
