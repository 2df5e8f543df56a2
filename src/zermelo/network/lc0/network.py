"""The layers of an lc0 network and the architecture that they make.

Walks the message `Weights`; sizes come out of the layers themselves. Knows no file.
"""

from __future__ import annotations

import numpy as np

from zermelo.errors import UserError
from zermelo.network.architecture import TURNS, Architecture
from zermelo.network.attention import CELLS, AttentionBody, Encoders
from zermelo.network.chess_policy import CHESS_ACTIONS, CHESS_PLANES
from zermelo.network.form import LIMITS
from zermelo.network.lc0.attention import read_body, read_policy
from zermelo.network.lc0.formats import (
    ENCODER,
    POLICY_ATTENTION,
    POLICY_CONV,
    ROOK_PLANES,
    SMOLGEN_W,
    TURNED_PLANES,
    VALUE_WDL,
    Format,
)
from zermelo.network.lc0.heads import PolicyHead, ValueHead, moves_head, policy_head, value_head
from zermelo.network.lc0.layers import LayerReader
from zermelo.network.own_search import LC0_SEARCH
from zermelo.network.weights import Weights
from zermelo.network.wire import Message

GAME = "chess?encoder=lc0"


class NetworkReader(LayerReader):
    """Walks the message `Weights` and collects arrays under our names."""

    def __init__(self, message: Message, form: Format, name: str) -> None:
        super().__init__(name)
        self.message, self.form = message, form

    def network(self, policy: str, value: str) -> Weights:
        """Everything, with the heads of these names."""
        chosen = policy_head(self.message, policy, self.name)
        judge = value_head(self.message, value, self.name)
        blocks = len(self.message.fields.get(2, []))
        filters, hidden = self.tower() if blocks or not self.form.body else (0, 0)
        body = read_body(self, self.message, self.form, filters) if self.form.body else None
        channels = body.width if body else filters
        attention, policy_filters = None, 1
        if self.form.policy == POLICY_ATTENTION:
            attention = read_policy(self, chosen, self.form, channels)
        else:
            policy_filters = self.board_policy(chosen, filters)
        self.smolgen(*(part.encoders for part in (body, attention) if part))
        value_filters, value_hidden = self.head("value", channels, judge, body)
        moves_filters, moves_hidden = 0, 0
        if self.form.moves_left:
            moves = moves_head(self.message)
            moves_filters, moves_hidden = self.head("moves", channels, moves, body)
        turned = self.form.input in TURNED_PLANES
        architecture = Architecture(
            game=f"{GAME}_{self.form.input}" if turned else GAME,
            planes=self.planes + TURNS * turned,
            rows=8,
            columns=8,
            num_actions=CHESS_ACTIONS,
            blocks=blocks,
            filters=filters or channels,
            se_hidden=hidden,
            activation=self.form.activation,
            policy={POLICY_ATTENTION: "attention", POLICY_CONV: "conv"}.get(
                self.form.policy, "dense"
            ),
            policy_filters=policy_filters,
            value="wdl" if self.form.value == VALUE_WDL else "scalar",
            value_filters=value_filters,
            value_hidden=value_hidden,
            moves_filters=moves_filters,
            moves_hidden=moves_hidden,
            castling="rooks" if self.form.input == ROOK_PLANES else "flags",
            body=body,
            attention=attention,
        )
        return Weights(architecture, self.arrays, self.name, LC0_SEARCH).check()

    def tower(self) -> tuple[int, int]:
        """Convolutions; returns filters and the hidden units of squeeze-and-excitation."""
        if ENCODER in self.message and not self.form.body:
            raise UserError(f"{self.name}: it has attention layers but is said to be a tower")
        filters = self.conv("input", self.message.message(1), self.planes, 3)
        blocks = self.message.messages(2)
        if not 1 <= len(blocks) <= LIMITS["blocks"]:
            raise UserError(f"{self.name}: it has {len(blocks)} blocks, not 1 to 100")
        hidden = {self.block(i, block, filters) for i, block in enumerate(blocks)}
        if len(hidden) > 1:
            raise UserError(f"{self.name}: some blocks have squeeze-and-excitation, some do not")
        return filters, hidden.pop()

    def block(self, index: int, block: Message, filters: int) -> int:
        """One residual block; returns the hidden units of its squeeze-and-excitation."""
        for part, number in (("conv1", 1), ("conv2", 2)):
            self.conv(f"block{index}_{part}", block.message(number), filters, 3, filters)
        if 3 not in block:
            return 0
        se = block.message(3)
        hidden = self.dense(f"block{index}_squeeze", se, (1, 2), filters)
        self.dense(f"block{index}_excite", se, (3, 4), hidden, 2 * filters)
        return hidden

    def board_policy(self, head: PolicyHead, filters: int) -> int:
        """A policy of convolutions, or of one and a dense layer; returns the planes before it."""
        m = head.message
        if self.form.policy == POLICY_CONV:
            self.conv("policy_conv", m.message(head.conv1), filters, 3, filters)
            planes = self.conv("policy_out", m.message(head.conv), filters, 3)
            if planes < CHESS_PLANES:
                raise UserError(f"{self.name}: its policy has {planes} planes, not {CHESS_PLANES}")
            return planes
        planes = self.conv("policy_conv", m.message(head.conv), filters, 1)
        weight, bias = head.embed_weight, head.embed_bias
        self.dense_of("policy_out", weight, bias, CELLS * planes, CHESS_ACTIONS)
        return planes

    def smolgen(self, *stacks: Encoders | None) -> None:
        """The layer that all encoders share, if any has smolgen."""
        sizes = {stack.smolgen_size for stack in stacks if stack and stack.smolgen_size}
        for size in sizes:
            self.matrix("smolgen", self.message.message(SMOLGEN_W), size, CELLS * CELLS)

    def head(
        self, name: str, channels: int, head: ValueHead, body: AttentionBody | None
    ) -> tuple[int, int]:
        """A layer over every cell and two over all; returns planes and hidden units."""
        m = head.message
        if body:
            planes = self.dense(f"{name}_conv", m, head.embed, channels)
            kernel = self.arrays[f"{name}_conv.weight"]
            self.arrays[f"{name}_conv.weight"] = kernel[:, :, None, None]
        else:
            planes = self.conv(f"{name}_conv", m.message(head.conv), channels, 1)
        hidden = self.dense(f"{name}_hidden", m, head.hidden, CELLS * planes)
        if body:  # stored by cell, then channel
            by_cell = self.arrays[f"{name}_hidden.weight"].reshape(hidden, CELLS, planes)
            by_plane = np.swapaxes(by_cell, 1, 2).reshape(hidden, -1)
            self.arrays[f"{name}_hidden.weight"] = np.ascontiguousarray(by_plane)
        outputs = 3 if name == "value" and self.form.value == VALUE_WDL else 1
        self.dense(f"{name}_out", m, head.out, hidden, outputs)
        return planes, hidden
