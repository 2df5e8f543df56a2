"""Small networks in lc0's format, written here, and a slow forward pass straight from such a file.

Shares nothing with `zermelo.network` but the field writers: the numbers are read by a reader of its
own and computed in float64 with NumPy, norms not folded.
"""

from __future__ import annotations

import gzip
import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zermelo.network.wire import bytes_field, fixed32_field, float_field, number_field

Values = NDArray[np.float64]
MAIA = ("nets/maia-1100.pb.gz", "nets/maia-1500.pb.gz")  # outside data
SMALL_NETS = ("nets/tinygyal-8.pb", "nets/meangyal-8.pb")  # outside data, not packed


# --- writing --------------------------------------------------------------------------------------


class Source:
    """Random numbers, and lc0's encoding (1 LINEAR16, 2 FLOAT16, 3 BFLOAT16, 4 FLOAT32) of them."""

    def __init__(self, seed: int = 0, encoding: int = 1) -> None:
        self.rng, self.encoding = np.random.default_rng(seed), encoding

    def layer(self, size: int, scale: float, shift: float = 0.0) -> bytes:
        """Numbers about `shift`, spread by `scale`."""
        low, high = shift - 2 * scale, shift + 2 * scale
        if self.encoding == 1:
            steps = self.rng.integers(0, 65536, size, dtype=np.uint16).astype("<u2").tobytes()
            return float_field(1, low) + float_field(2, high) + bytes_field(3, steps)
        numbers = self.rng.uniform(low, high, size).astype("<f4")
        if self.encoding == 2:
            stored = numbers.astype("<f2").tobytes()
        elif self.encoding == 3:  # the upper two bytes of each
            stored = numbers.view(np.uint8).reshape(-1, 4)[:, 2:].tobytes()
        else:
            stored = numbers.tobytes()
        return bytes_field(3, stored) + number_field(4, self.encoding)


def conv(source: Source, inputs: int, outputs: int, kernel: int, norm: str) -> bytes:
    """A ConvBlock; `norm` is "full" (four parts), "old" (mean and variance) or "folded" (bias)."""
    fan_in = inputs * kernel * kernel
    found = bytes_field(1, source.layer(outputs * fan_in, 1 / np.sqrt(fan_in)))
    if norm == "folded":
        return found + bytes_field(2, source.layer(outputs, 0.1))
    found += bytes_field(3, source.layer(outputs, 0.1)) + bytes_field(
        4, source.layer(outputs, 0.2, 1)
    )
    if norm == "full":
        found += bytes_field(5, source.layer(outputs, 0.1, 1))
        found += bytes_field(6, source.layer(outputs, 0.1))
    return found


def dense(source: Source, inputs: int, outputs: int, fields: tuple[int, int]) -> bytes:
    """Weights and biases as two fields."""
    weights = source.layer(outputs * inputs, 1 / np.sqrt(inputs))
    return bytes_field(fields[0], weights) + bytes_field(fields[1], source.layer(outputs, 0.1))


def residual(source: Source, blocks: int, filters: int, se: int, norm: str = "full") -> bytes:
    """The input convolution and a tower, with so many hidden units of squeeze-and-excitation."""
    weights = bytes_field(1, conv(source, 112, filters, 3, norm))
    for _ in range(blocks):
        block = bytes_field(1, conv(source, filters, filters, 3, norm))
        block += bytes_field(2, conv(source, filters, filters, 3, norm))
        if se:
            unit = dense(source, filters, se, (1, 2)) + dense(source, se, 2 * filters, (3, 4))
            block += bytes_field(3, unit)
        weights += bytes_field(2, block)
    return weights


def net_bytes(
    *,
    blocks: int = 2,
    filters: int = 4,
    se: int = 3,
    policy: int = 2,
    value: int = 2,
    moves_left: int = 0,
    activation: int = 0,
    inputs: int = 1,
    structure: int | None = None,
    norm: str = "full",
    seed: int = 0,
    encoding: int = 1,
) -> bytes:
    """A whole message `Net`, not compressed. The enums are those of lc0's `NetworkFormat`."""
    source = Source(seed, encoding)
    weights = residual(source, blocks, filters, se, norm)
    if policy == 2:
        weights += bytes_field(11, conv(source, filters, filters, 3, norm))
        weights += bytes_field(3, conv(source, filters, 80, 3, "folded"))
    else:
        weights += bytes_field(3, conv(source, filters, 2, 1, norm))
        weights += dense(source, 2 * 64, 1858, (4, 5))
    weights += bytes_field(6, conv(source, filters, 3, 1, norm))
    weights += dense(source, 3 * 64, 7, (7, 8)) + dense(source, 7, 3 if value == 2 else 1, (9, 10))
    if moves_left:
        weights += bytes_field(12, conv(source, filters, 2, 1, norm))
        weights += dense(source, 2 * 64, 5, (13, 14)) + dense(source, 5, 1, (15, 16))
    enums = {1: inputs, 2: value, 3: structure or (4 if se else 3), 4: policy, 5: value}
    enums |= {6: moves_left, 7: activation}
    form = number_field(1, 1 if encoding == 1 else 0)
    form += bytes_field(2, [number_field(field, number) for field, number in enums.items()])
    version = number_field(2, 33 if encoding != 1 else 20)
    head = fixed32_field(1, 0x1C0) + bytes_field(3, version)
    return head + bytes_field(4, form) + bytes_field(10, weights)


def write_net(path: Path, **choices: Any) -> Path:
    """`net_bytes` in a file, compressed unless it is called `.pb`."""
    data = net_bytes(**choices)
    path.write_bytes(data if path.suffix == ".pb" else gzip.compress(data, 1))
    return path


# --- reading and computing, slowly ----------------------------------------------------------------


def parse(data: bytes) -> dict[int, list[Any]]:
    """The fields of a message; messages inside stay bytes."""
    fields: dict[int, list[Any]] = {}
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        if key % 8 == 0:
            content: Any = varint()
        else:
            size = {1: 8, 5: 4}.get(key % 8) or varint()
            content = data[at : at + size]
            at += size
        fields.setdefault(key // 8, []).append(content)
    return fields


def numbers(message: dict[int, list[Any]], field: int) -> Values:
    """The values of a layer."""
    found = parse(message[field][0])
    encoding, stored = found.get(4, [1])[0], found[3][0]
    if encoding == 3:
        pairs = [stored[i : i + 2] for i in range(0, len(stored), 2)]
        return np.array([struct.unpack("<f", b"\0\0" + pair)[0] for pair in pairs])
    if encoding != 1:
        return np.frombuffer(stored, {2: "<f2", 4: "<f4"}[encoding]).astype(np.float64)
    low, high = (struct.unpack("<f", found[i][0])[0] if i in found else 0.0 for i in (1, 2))
    return low + (high - low) * np.frombuffer(stored, "<u2") / 65535.0


def convolve(x: Values, block: bytes) -> Values:
    """[B, inputs, 8, 8] -> [B, outputs, 8, 8], normalised."""
    m = parse(block)
    layers = {i: numbers(m, i) for i in range(1, 7) if i in m}
    bias, mean, variance, gamma, beta = (layers.get(i) for i in range(2, 7))
    weight = layers[1].reshape(layers[2 if 2 in m else 3].size, x.shape[1], -1)
    kernel = int(np.sqrt(weight.shape[2]))
    edge = kernel // 2
    padded = np.pad(x, ((0, 0), (0, 0), (edge, edge), (edge, edge)))
    y = np.zeros((len(x), len(weight), 8, 8))
    for row in range(kernel):
        for column in range(kernel):
            seen = padded[:, :, row : row + 8, column : column + 8]
            y += np.einsum("bchw,oc->bohw", seen, weight[:, :, row * kernel + column])
    if bias is not None:
        y += bias[:, None, None]
    if mean is not None and variance is not None:
        y = (y - mean[:, None, None]) / np.sqrt(variance + 1e-5)[:, None, None]
        if gamma is not None and beta is not None:
            y = y * gamma[:, None, None] + beta[:, None, None]
    return y


def connect(x: Values, m: dict[int, list[Any]], weight: int, bias: int) -> Values:
    """[B, inputs] -> [B, outputs]."""
    b = numbers(m, bias)
    return x @ numbers(m, weight).reshape(b.size, -1).T + b


def move_planes() -> dict[tuple[int, int, str], int]:
    """Plane of each kind of move, in lc0's order: (files, ranks, promotion)."""
    north = [(0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1)]
    kinds = [(f * n, r * n, "") for f, r in north for n in range(1, 8)]
    kinds += [(f, r, "") for f, r in [(1, 2), (2, 1), (2, -1), (1, -2)]]
    kinds += [(f, r, "") for f, r in [(-1, -2), (-2, -1), (-2, 1), (-1, 2)]]
    kinds += [(f, 1, piece) for f in (-1, 0, 1) for piece in "rbq"]
    return {kind: plane for plane, kind in enumerate(kinds)}


def move_list() -> list[tuple[int, int, str]]:
    """The 1858 moves of lc0's policy: (from, to, promotion)."""
    planes = move_planes()
    squares = [(s % 8, s // 8) for s in range(64)]
    plain = [
        (start, end, "")
        for start, (f, r) in enumerate(squares)
        for end, (g, s) in enumerate(squares)
        if (g - f, s - r, "") in planes
    ]
    return plain + [
        (48 + f, 56 + g, piece)
        for f in range(8)
        for g in (f - 1, f, f + 1)
        if 0 <= g < 8
        for piece in "qrb"
    ]


def slow_forward(path: Path, observations: NDArray[Any]) -> tuple[Values, Values, Values | None]:
    """Policy logits [B, 1858], WDL [B, 3] or value [B, 1], moves left [B, 1] or None."""
    data = path.read_bytes()
    net = parse(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
    form = parse(parse(net[4][0])[2][0])
    m = parse(net[10][0])
    mish = form.get(7, [0])[0] == 1

    def act(x: Values) -> Values:
        return x * np.tanh(np.logaddexp(0, x)) if mish else np.maximum(x, 0)

    x = observations.astype(np.float64)
    if form[1][0] == 2:  # rooks with castling rights instead of flags
        flags = x[:, 104:108, 0, 0].copy()
        x[:, 104:108] = 0
        x[:, 104, 0, 0], x[:, 105, 0, 7] = flags[:, 0], flags[:, 1]
        x[:, 104, 7, 0], x[:, 105, 7, 7] = flags[:, 2], flags[:, 3]
    x = act(convolve(x, m[1][0]))
    for block in map(parse, m.get(2, [])):
        y = convolve(act(convolve(x, block[1][0])), block[2][0])
        if 3 in block:
            se = parse(block[3][0])
            scale = connect(act(connect(y.mean((2, 3)), se, 1, 2)), se, 3, 4)
            gate, shift = np.split(scale[:, :, None, None], 2, axis=1)
            y = y / (1 + np.exp(-gate)) + shift
        x = act(x + y)
    if form[4][0] == 2:
        planes = convolve(act(convolve(x, m[11][0])), m[3][0]).reshape(len(x), -1, 64)
        numbered = move_planes()
        columns = []
        for start, end, piece in move_list():
            kind = (end % 8 - start % 8, end // 8 - start // 8, piece)
            columns.append(planes[:, numbered[kind], start])
        policy = np.stack(columns, axis=1)
    else:
        policy = connect(act(convolve(x, m[3][0])).reshape(len(x), -1), m, 4, 5)
    hidden = act(connect(act(convolve(x, m[6][0])).reshape(len(x), -1), m, 7, 8))
    value = connect(hidden, m, 9, 10)
    if form[5][0] == 2:
        value = np.exp(value) / np.exp(value).sum(1, keepdims=True)
    else:
        value = np.tanh(value)
    if not form.get(6, [0])[0]:
        return policy, value, None
    hidden = act(connect(act(convolve(x, m[12][0])).reshape(len(x), -1), m, 13, 14))
    return policy, value, np.maximum(connect(hidden, m, 15, 16), 0)
