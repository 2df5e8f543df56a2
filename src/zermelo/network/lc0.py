"""Networks in lc0's format (`.pb.gz`): classical and squeeze-and-excitation residual networks.

The file is untrusted: it is unpacked up to a bound, walked with `wire`, and every size is checked
before it is used. Attention bodies and attention policies are refused by name.
"""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from zermelo.errors import UserError
from zermelo.network.architecture import Architecture
from zermelo.network.chess_policy import CHESS_ACTIONS, CHESS_PLANES
from zermelo.network.own_search import LC0_SEARCH
from zermelo.network.weights import NORM_EPSILON, Array, Weights
from zermelo.network.wire import Message, WireError

MAGIC = 0x1C0
PLANES = 112
GAME = "chess?encoder=lc0"
# 16-bit weights hardly shrink in gzip, so a file that grows by more than this is no network.
MAX_GROWTH = 8
MIN_UNPACKED, MAX_UNPACKED = 32 << 20, 1 << 30
CHUNK = 1 << 20  # bytes of the file that are unpacked at a time

_STRUCTURES = {
    5: "ONNX",
    6: "attention body",
    7: "attention body with several heads",
    134: "attention body with several heads",
}
_INPUTS = {
    3: "canonicalised planes",
    4: "canonicalised planes, hectoplies",
    5: "canonicalised planes, version 2",
    132: "canonicalised planes, armageddon",
    133: "canonicalised planes, version 2, armageddon",
}


class _Format(NamedTuple):
    """The enums of `NetworkFormat`, older files brought up to date."""

    input: int
    structure: int
    policy: int
    value: int
    moves_left: int
    activation: int


def read_lc0(path: str | Path) -> Weights:
    """The network of the file, for the game `chess?encoder=lc0`."""
    name = Path(path).name
    with Path(path).open("rb") as file:
        data = unpack_gzip(file, name)
    try:
        net = Message(memoryview(data))
        if net.integer(1) != MAGIC:
            raise UserError(f"{name}: it is not an lc0 network (its first number is wrong)")
        if 11 in net:
            raise UserError(f"{name}: lc0 networks that hold an ONNX model are not supported")
        form = _read_format(net, name)
        return _Reader(net.message(10), form, name).network()
    except WireError as error:
        raise UserError(f"{name}: it is damaged or not an lc0 network ({error})") from None


def unpack_gzip(file: BinaryIO, name: str) -> bytearray:
    """The content, or a UserError for a damaged file or one that grows without bound."""
    unpacker = zlib.decompressobj(wbits=31)
    data = bytearray()
    read = 0
    while not unpacker.eof:
        packed = file.read(CHUNK)
        if not read and packed[:2] != b"\x1f\x8b":
            raise UserError(f"{name}: it is not a gzip file, as lc0 networks are")
        if not packed:
            raise UserError(f"{name}: it ends too early")
        read += len(packed)
        bound = min(MAX_UNPACKED, max(MIN_UNPACKED, MAX_GROWTH * read))
        try:
            data += unpacker.decompress(packed, bound + 1 - len(data))
        except zlib.error as error:
            raise UserError(f"{name}: it is damaged ({str(error).split(': ')[-1]})") from None
        if len(data) > bound:
            raise UserError(
                f"{name}: it unpacks to more than {bound >> 20} MiB, so it is no network"
            )
    if unpacker.unused_data or file.read(1):
        raise UserError(f"{name}: it goes on after its end")
    return data


def _read_format(net: Message, name: str) -> _Format:
    form = net.message(4)
    if form.integer(1) != 1:
        raise UserError(f"{name}: its weights are not encoded as LINEAR16")
    network = form.message(2)
    structure = network.integer(3, 1)
    policy, value = network.integer(4), network.integer(5)
    if structure in (1, 2):  # from before the heads had formats
        policy, value = 1, 1
    elif structure not in (3, 4):
        kind = _STRUCTURES.get(structure, f"structure {structure}")
        raise UserError(f"{name}: lc0 networks of the kind '{kind}' are not supported")
    if policy == 3:
        raise UserError(f"{name}: lc0 networks with an attention policy are not supported")
    if policy not in (1, 2) or value not in (1, 2):
        raise UserError(f"{name}: its policy format {policy} or value format {value} is unknown")
    planes = network.integer(1, 1) or 1
    if planes not in (1, 2):
        kind = _INPUTS.get(planes, f"format {planes}")
        raise UserError(f"{name}: lc0 networks with the input '{kind}' are not supported")
    activation, moves_left = network.integer(7), network.integer(6)
    if activation not in (0, 1):
        raise UserError(f"{name}: its activation {activation} is unknown")
    if moves_left not in (0, 1):
        raise UserError(f"{name}: its moves-left format {moves_left} is unknown")
    return _Format(planes, structure, policy, value, moves_left, activation)


class _Reader:
    """Walks the message `Weights` and collects arrays under our names."""

    def __init__(self, message: Message, form: _Format, name: str) -> None:
        self.message, self.form, self.name = message, form, name
        self.arrays: dict[str, Array] = {}

    def network(self) -> Weights:
        """Everything."""
        m = self.message
        if 27 in m or 21 in m:  # encoder layers
            raise UserError(f"{self.name}: lc0 networks with attention layers are not supported")
        filters = self.conv("input", m.message(1), PLANES, 3)
        blocks = m.messages(2)
        if not 1 <= len(blocks) <= 100:
            raise UserError(f"{self.name}: it has {len(blocks)} blocks, not 1 to 100")
        hidden = {self.block(i, block, filters) for i, block in enumerate(blocks)}
        if len(hidden) > 1:
            raise UserError(f"{self.name}: some blocks have squeeze-and-excitation, some do not")
        policy_filters = self.policy(filters)
        value_filters, value_hidden = self.head("value", filters, 6, (7, 8, 9, 10))
        moves_filters, moves_hidden = 0, 0
        if self.form.moves_left:
            moves_filters, moves_hidden = self.head("moves", filters, 12, (13, 14, 15, 16))
        architecture = Architecture(
            game=GAME,
            planes=PLANES,
            rows=8,
            columns=8,
            num_actions=CHESS_ACTIONS,
            blocks=len(blocks),
            filters=filters,
            se_hidden=hidden.pop() if hidden else 0,
            activation="mish" if self.form.activation else "relu",
            policy="conv" if self.form.policy == 2 else "dense",
            policy_filters=policy_filters,
            value="wdl" if self.form.value == 2 else "scalar",
            value_filters=value_filters,
            value_hidden=value_hidden,
            moves_filters=moves_filters,
            moves_hidden=moves_hidden,
            castling="rooks" if self.form.input == 2 else "flags",
        )
        return Weights(architecture, self.arrays, self.name, LC0_SEARCH).check()

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

    def policy(self, filters: int) -> int:
        """Either kind of policy head; returns the planes before the moves."""
        m = self.message
        if self.form.policy == 2:
            self.conv("policy_conv", m.message(11), filters, 3, filters)
            planes = self.conv("policy_out", m.message(3), filters, 3)
            if planes < CHESS_PLANES:
                raise UserError(f"{self.name}: its policy has {planes} planes, not {CHESS_PLANES}")
            return planes
        planes = self.conv("policy_conv", m.message(3), filters, 1)
        self.dense("policy_out", m, (4, 5), 64 * planes, CHESS_ACTIONS)
        return planes

    def head(
        self, head: str, filters: int, conv: int, dense: tuple[int, int, int, int]
    ) -> tuple[int, int]:
        """A convolution and two dense layers; returns planes and hidden units."""
        planes = self.conv(f"{head}_conv", self.message.message(conv), filters, 1)
        outputs = 3 if head == "value" and self.form.value == 2 else 1
        hidden = self.dense(f"{head}_hidden", self.message, dense[:2], 64 * planes)
        self.dense(f"{head}_out", self.message, dense[2:], hidden, outputs)
        return planes, hidden

    def dense(
        self, layer: str, m: Message, fields: tuple[int, ...], inputs: int, outputs: int = 0
    ) -> int:
        """Weights [outputs, inputs] and biases; returns the outputs."""
        weight, bias = (self.values(m.message(number), layer) for number in fields)
        self.expect(layer, weight, bias.size * inputs)
        if outputs:
            self.expect(layer, bias, outputs)
        self.arrays[f"{layer}.weight"] = weight.reshape(-1, inputs)
        self.arrays[f"{layer}.bias"] = bias
        return int(bias.size)

    def conv(self, layer: str, m: Message, inputs: int, kernel: int, outputs: int = 0) -> int:
        """A convolution with its batch normalisation folded in; returns the outputs."""
        weight, bias, mean, variance, gamma, beta = (
            self.values(m.message(number), layer) for number in range(1, 7)
        )
        found = bias.size or mean.size
        if outputs:
            self.expect(layer, bias if bias.size else mean, outputs)
        self.expect(layer, weight, found * inputs * kernel * kernel)
        weight = weight.reshape(-1, inputs, kernel, kernel)
        if not bias.size:
            bias = np.zeros(found, np.float32)
        if mean.size:
            gamma = gamma if gamma.size else np.ones(found, np.float32)
            beta = beta if beta.size else np.zeros(found, np.float32)
            for part in (mean, variance, gamma, beta):
                self.expect(layer, part, found)
            with np.errstate(all="ignore"):  # what is not finite is refused afterwards
                scale = gamma / np.sqrt(variance + np.float32(NORM_EPSILON))
                weight = weight * scale[:, None, None, None]
                bias = beta + (bias - mean) * scale
        self.arrays[f"{layer}.weight"] = weight.astype(np.float32)
        self.arrays[f"{layer}.bias"] = bias.astype(np.float32)
        return int(found)

    def values(self, m: Message, layer: str) -> Array:
        """16-bit steps between a smallest and a largest value."""
        params = m.view(3)
        if len(params) % 2 or m.integer(4, 1) != 1:
            raise UserError(f"{self.name}: the weights '{layer}' are not encoded as LINEAR16")
        low, high = np.float32(m.real(1)), np.float32(m.real(2))
        share = np.frombuffer(params, "<u2").astype(np.float32) / np.float32(0xFFFF)
        with np.errstate(all="ignore"):
            return np.asarray(low * (1 - share) + high * share, np.float32)

    def expect(self, layer: str, values: Array, size: int) -> None:
        """Refuses a layer of another size; 0 means that it is missing."""
        if values.size != size or size == 0:
            raise UserError(
                f"{self.name}: the weights '{layer}' have {values.size} numbers, not {size}"
                if values.size
                else f"{self.name}: the weights '{layer}' are missing"
            )
