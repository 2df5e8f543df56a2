"""The forward pass, written once; each runtime says what a convolution is.

`Ops` is what a runtime offers; a tensor is whatever it works on: a graph node (OpenVINO, ONNX) or
the numbers themselves (torch).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from zermelo.network.architecture import Architecture
from zermelo.network.attention_graph import (
    AttentionOps,
    attend,
    board_of,
    move_logits,
    tokens_of,
)
from zermelo.network.chess_policy import plane_indices, reflected_actions

T = TypeVar("T")


class Ops(Protocol[T]):
    """Shapes: B batch, C channels, H rows, W columns, N any."""

    def conv(self, x: T, layer: str) -> T:
        """[B, C, H, W] -> [B, outputs, H, W]: the layer of that name, edges padded with zeros."""

    def dense(self, x: T, layer: str) -> T:
        """[B, N] -> [B, outputs]."""

    def activate(self, x: T, kind: str) -> T:
        """`softmax` over the last axis, or one of `attention.ACTIVATIONS`, elementwise."""

    def cell_mean(self, x: T) -> T:
        """[B, C, H, W] -> [B, C]."""

    def gates(self, x: T, start: int, stop: int) -> T:
        """Columns start to stop of [B, N] as [B, stop - start, 1, 1]."""

    def flatten(self, x: T) -> T:
        """[B, C, H, W] -> [B, C * H * W]."""

    def take(self, x: T, indices: NDArray[np.int64]) -> T:
        """Entries of axis 1 in that order."""

    def constant(self, values: NDArray[np.float32]) -> T:
        """Fixed numbers."""

    def multiply(self, x: T, y: T) -> T:
        """Elementwise, shapes broadcast."""

    def add(self, x: T, y: T) -> T:
        """Elementwise, shapes broadcast."""


@dataclass(frozen=True)
class Heads(Generic[T]):
    """What comes out, for the player to move."""

    policy: T  # logits [B, num_actions]
    value: T  # win, draw, loss [B, 3], or [B, 1]: logits, or after `evaluate` probabilities / value
    moves_left: T | None  # [B, 1]: plies, at least 0

    def outputs(self) -> dict[str, T]:
        """By the names that exported files use."""
        found = {"policy": self.policy, "value": self.value}
        return found if self.moves_left is None else found | {"moves_left": self.moves_left}


def forward(a: Architecture, ops: Ops[T], x: T) -> Heads[T]:
    """From observations [B, planes, rows, columns] to logits."""
    heads = heads_of(a, ops, tower(a, ops, x))
    if not a.turned:
        return heads
    policy = _turned_back(a, ops, x, heads.policy)
    return Heads(policy, heads.value, heads.moves_left)


def tower(a: Architecture, ops: Ops[T], x: T) -> T:
    """What the heads, or attention before them, see of the observations."""
    if a.turned:
        x = ops.take(x, np.arange(a.inputs))
    if a.castling == "rooks":
        x = _castling_as_rooks(a, ops, x)
    if a.has_tower:
        x = ops.activate(ops.conv(x, "input"), a.activation)
        for i in range(a.blocks):
            x = _block(a, ops, x, f"block{i}")
    return x


def heads_of(a: Architecture, ops: Ops[T], x: T) -> Heads[T]:
    """The logits, of what `tower` gave; on turned boards for the turned moves."""
    if a.body or a.attention:
        x, policy = _attention(a, any_ops(ops), x)
    else:
        policy = _board_policy(a, ops, x)
    value = _dense_head(a, ops, x, "value")
    moves_left = None
    if a.moves_filters:
        moves_left = ops.activate(_dense_head(a, ops, x, "moves"), "relu")
    return Heads(policy, value, moves_left)


def evaluate(a: Architecture, ops: Ops[T], x: T) -> Heads[T]:
    """`forward`, with the value as probabilities or as a number in [-1, 1]."""
    heads = forward(a, ops, x)
    value = ops.activate(heads.value, "softmax" if a.value == "wdl" else "tanh")
    return Heads(heads.policy, value, heads.moves_left)


def _attention(a: Architecture, ops: AttentionOps[T], x: T) -> tuple[T, T]:
    """The board that the other heads see, and the policy; see `attention_graph`."""
    if a.body:
        tokens = attend(a.body, ops, x, a.filters if a.blocks else a.inputs, a.activation)
        x = board_of(ops, tokens, a.channels)
    else:
        tokens = tokens_of(ops, x, a.channels)
    assert a.attention is not None  # a body has no other policy
    return x, move_logits(a.attention, ops, tokens)


def _board_policy(a: Architecture, ops: Ops[T], x: T) -> T:
    policy = ops.activate(ops.conv(x, "policy_conv"), a.activation)
    if a.policy == "conv":
        return ops.take(ops.flatten(ops.conv(policy, "policy_out")), plane_indices())
    return ops.dense(ops.flatten(policy), "policy_out")


def _block(a: Architecture, ops: Ops[T], x: T, name: str) -> T:
    """The activated x + gate * f(x) + shift; gate and shift see the whole board."""
    y = ops.activate(ops.conv(x, f"{name}_conv1"), a.activation)
    y = ops.conv(y, f"{name}_conv2")
    if a.se_hidden:
        hidden = ops.activate(ops.dense(ops.cell_mean(y), f"{name}_squeeze"), a.activation)
        excited = ops.dense(hidden, f"{name}_excite")
        gate = ops.activate(ops.gates(excited, 0, a.filters), "sigmoid")
        y = ops.add(ops.multiply(y, gate), ops.gates(excited, a.filters, 2 * a.filters))
    return ops.activate(ops.add(y, x), a.activation)


def _dense_head(a: Architecture, ops: Ops[T], x: T, name: str) -> T:
    x = ops.flatten(ops.activate(ops.conv(x, f"{name}_conv"), a.activation))
    x = ops.activate(ops.dense(x, f"{name}_hidden"), a.activation)
    return ops.dense(x, f"{name}_out")


def _castling_as_rooks(a: Architecture, ops: Ops[T], x: T) -> T:
    """Turns lc0's four castling flags (planes 104-107) into rooks with rights (planes 104, 105).

    Flag planes are all ones or all zeros; mine come before the opponent's, queen side first. The
    rooks stand in the corners, so this is for usual chess and not for Chess960.
    """
    keep = np.ones((1, *a.observation_shape), np.float32)
    keep[0, 104:108] = 0
    keep[0, 104, 0, 0] = keep[0, 105, 0, 7] = 1
    moved = np.zeros_like(keep)
    moved[0, 104, 7, 0] = moved[0, 105, 7, 7] = 1
    sources = np.arange(a.planes)
    sources[[104, 105]] = [106, 107]
    theirs = ops.multiply(ops.take(x, sources), ops.constant(moved))
    return ops.add(ops.multiply(x, ops.constant(keep)), theirs)


def _turned_back(a: Architecture, ops: Ops[T], shown: T, policy: T) -> T:
    """Logits of the actions on the board as it is, from those on the board as it was turned."""
    turns = ops.cell_mean(ops.take(shown, np.arange(a.inputs, a.planes)))
    one, minus = np.ones((1, 1), np.float32), np.full((1, 1), -1, np.float32)
    # The last reflection is undone first.
    for i, actions in reversed(list(enumerate(reflected_actions()))):
        made = ops.take(turns, np.array([i]))
        kept = ops.add(ops.multiply(made, ops.constant(minus)), ops.constant(one))
        reflected = ops.multiply(ops.take(policy, actions), made)
        policy = ops.add(ops.multiply(policy, kept), reflected)
    return policy


def any_ops(ops: Any) -> Any:
    """For runtimes without type information, and for ops that only attention needs."""
    return ops
