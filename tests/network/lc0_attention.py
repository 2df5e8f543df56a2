"""Small attention networks in lc0's format, and their slow forward pass in float64.

As `lc0_files`, which has the towers: nothing but the field writers is shared with the product.
Cells come before channels throughout, as in the file.
"""

from __future__ import annotations

import gzip
import itertools
import random
from pathlib import Path
from typing import Any

import numpy as np
from lc0_files import (
    Source,
    Values,
    connect,
    conv,
    convolve,
    dense,
    move_list,
    move_planes,
    numbers,
    parse,
    residual,
)

from zermelo.network.wire import bytes_field, fixed32_field, number_field

POLICY_HEADS = {"vanilla": 3, "optimistic": 4, "soft": 5, "opponent": 6}
VALUE_HEADS = {"winner": 1, "q": 2, "st": 3}
RELU, MISH, NONE, TANH, SIGMOID, SELU, SWISH, RELU2 = 2, 1, 3, 4, 5, 6, 7, 8
# Every value of every option meets every other in the networks of `crossed`, or nearly.
OPTIONS: dict[str, list[Any]] = {
    "embedding": ["map", "dense"],
    "gates": [True, False],
    "smolgen": [True, False],
    "activation": [0, 1],
    "feed": [0, RELU, MISH, SWISH, SELU, RELU2],
    "smol": [0, SWISH, TANH, RELU2, SIGMOID],
    "value": [1, 2],
    "moves_left": [0, 1],
    "policy_encoders": [0, 1],
    "several": [True, False],
    "encoders": [1, 3],
    "heads": [1, 2, 4],
}


def crossed(count: int = 24) -> dict[str, dict[str, Any]]:
    """Networks by a short name: options drawn so that new pairs of values meet in each."""
    rng = random.Random(3)
    met: set[tuple[Any, ...]] = set()
    found: dict[str, dict[str, Any]] = {}

    def pairs(chosen: dict[str, Any]) -> set[tuple[Any, ...]]:
        return set(itertools.combinations(chosen.items(), 2))

    for number in range(count):
        drawn = [{k: rng.choice(v) for k, v in OPTIONS.items()} for _ in range(60)]
        best = max(drawn, key=lambda chosen: len(pairs(chosen) - met))
        met |= pairs(best)
        found[f"crossed {number}"] = best | {"seed": number}
    return found


# --- writing --------------------------------------------------------------------------------------


def norm(source: Source, size: int, fields: tuple[int, int]) -> bytes:
    """Factors about 1 and shifts about 0."""
    factors = bytes_field(fields[0], source.layer(size, 0.1, 1))
    return factors + bytes_field(fields[1], source.layer(size, 0.1))


def encoder(source: Source, width: int, heads: int, smolgen: bool, rpe: bool = False) -> bytes:
    """One block."""
    keys, hidden = 4 * heads, 6
    m = b"".join(dense(source, width, keys, (n, n + 1)) for n in (1, 3, 5))
    m += dense(source, keys, width, (7, 8))
    if smolgen:
        s = bytes_field(1, source.layer(2 * width, 0.5)) + dense(source, 128, 5, (2, 3))
        s += norm(source, 5, (4, 5)) + dense(source, 5, 3 * heads, (6, 7))
        m += bytes_field(9, s + norm(source, 3 * heads, (8, 9)))
    if rpe:
        m += bytes_field(10, source.layer(4, 0.5))
    feed = dense(source, width, hidden, (1, 2)) + dense(source, hidden, width, (3, 4))
    block = bytes_field(1, m) + norm(source, width, (2, 3))
    return block + bytes_field(4, feed) + norm(source, width, (5, 6))


def attention_bytes(
    *,
    blocks: int = 0,
    filters: int = 4,
    body: bool = True,
    embedding: str = "map",
    gates: bool = False,
    smolgen: bool = False,
    activation: int = 0,
    feed: int = 0,
    smol: int = 0,
    value: int = 2,
    moves_left: int = 0,
    policy_encoders: int = 0,
    several: bool = False,
    encoders: int = 2,
    heads: int = 2,
    inputs: int = 1,
    structure: int | None = None,
    policy: int = 3,
    unsaid: tuple[int, ...] = (),
    rpe: bool = False,
    encoding: int = 1,
    seed: int = 0,
) -> bytes:
    """A whole message `Net`. `unsaid` are fields of `NetworkFormat` to leave out."""
    source = Source(seed, encoding)
    width = 8 if body else filters
    weights = b""
    if blocks:
        weights += residual(source, blocks, filters, 3)
    if body:
        extra = {"map": 64, "dense": 3}[embedding]
        if embedding == "dense" and not blocks:
            weights += dense(source, 768, 64 * extra, (37, 38))
        weights += dense(source, filters if blocks else 112 + extra, width, (25, 26))
        if embedding == "dense":
            fed = dense(source, width, 5, (1, 2)) + dense(source, 5, width, (3, 4))
            weights += norm(source, width, (39, 40)) + bytes_field(41, fed)
            weights += norm(source, width, (42, 43))
        if gates:
            weights += bytes_field(33, source.layer(64 * width, 0.3, 1))
            weights += bytes_field(34, source.layer(64 * width, 0.3))
        for _ in range(encoders):
            weights += bytes_field(27, encoder(source, width, heads, smolgen, rpe))
        weights += number_field(28, heads)
        if smolgen:
            weights += bytes_field(35, source.layer(3 * 4096, 0.5))
    weights += _heads(source, width, body, value, policy_encoders, smolgen and body, several)
    if moves_left:
        if body:
            weights += dense(source, width, 2, (31, 32))
        else:
            weights += bytes_field(12, conv(source, width, 2, 1, "full"))
        weights += dense(source, 128, 5, (13, 14)) + dense(source, 5, 1, (15, 16))
    kind = structure or ((7 if several else 6) if body else 4)
    enums = {1: inputs, 2: value, 3: kind, 4: policy, 5: value, 6: moves_left, 7: activation}
    enums |= {8: smol, 9: feed, 10: {"map": 1, "dense": 2}[embedding] if body else 0}
    said = [number_field(k, v) for k, v in enums.items() if k not in unsaid]
    form = number_field(1, 1 if encoding == 1 else 0) + bytes_field(2, said)
    head = fixed32_field(1, 0x1C0) + bytes_field(3, number_field(2, 31 if encoding == 1 else 33))
    return head + bytes_field(4, form) + bytes_field(10, weights)


def _heads(
    source: Source,
    width: int,
    body: bool,
    value: int,
    policy_encoders: int,
    smolgen: bool,
    several: bool,
) -> bytes:
    outputs = 3 if value == 2 else 1

    def policy(query: int, key: int, promotion: int, blocks: int, heads: int) -> bytes:
        found = b"".join(
            bytes_field(blocks, encoder(source, 8, 2, smolgen)) for _ in range(policy_encoders)
        )
        found += number_field(heads, 2) if policy_encoders else b""
        found += dense(source, 8, 6, (query, query + 1)) + dense(source, 8, 6, (key, key + 1))
        return found + bytes_field(promotion, source.layer(4 * 6, 0.4))

    def judge(first: int, embed: int, hidden: int, out: int) -> bytes:
        if body:
            found = dense(source, width, 3, (embed, embed + 1))
        else:
            found = bytes_field(first, conv(source, width, 3, 1, "full"))
        found += dense(source, 3 * 64, 7, (hidden, hidden + 1))
        return found + dense(source, 7, outputs, (out, out + 1))

    if not several:
        return dense(source, width, 8, (4, 5)) + policy(17, 19, 22, 21, 24) + judge(6, 29, 7, 9)
    policies = dense(source, width, 8, (1, 2))
    for number in POLICY_HEADS.values():
        own = dense(source, width, 8, (1, 2)) if number == 5 else b""
        policies += bytes_field(number, own + policy(3, 5, 7, 8, 9))
    values = [bytes_field(number, judge(11, 1, 3, 5)) for number in VALUE_HEADS.values()]
    return bytes_field(45, policies) + bytes_field(44, values)


def write_attention(path: Path, **choices: Any) -> Path:
    """`attention_bytes` in a file, compressed unless it is called `.pb`."""
    data = attention_bytes(**choices)
    path.write_bytes(data if path.suffix == ".pb" else gzip.compress(data, 1))
    return path


# --- computing, slowly ----------------------------------------------------------------------------

ACTS: dict[int, Any] = {
    RELU: lambda x: np.maximum(x, 0),
    MISH: lambda x: x * np.tanh(np.logaddexp(0, x)),
    NONE: lambda x: x,
    TANH: np.tanh,
    SIGMOID: lambda x: 1 / (1 + np.exp(-x)),
    SELU: lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x)),
    SWISH: lambda x: x / (1 + np.exp(-x)),
    RELU2: lambda x: np.maximum(x, 0) ** 2,
}


def softmax(x: Values) -> Values:
    powers = np.exp(x - x.max(-1, keepdims=True))
    return np.asarray(powers / powers.sum(-1, keepdims=True))


def normed(x: Values, m: Any, fields: tuple[int, int], epsilon: float) -> Values:
    y = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + epsilon)
    return np.asarray(y * numbers(m, fields[0]) + numbers(m, fields[1]))


def fed(x: Values, m: Any, act: Any) -> Values:
    return connect(act(connect(x, m, 1, 2)), m, 3, 4)


def encoded(x: Values, block: Any, heads: int, shared: Any, acts: Any, tuning: Any) -> Values:
    """`acts` are of feed-forward and smolgen, `tuning` is (factor, epsilon)."""
    m, (factor, epsilon) = parse(block[1][0]), tuning
    parts = [connect(x, m, n, n + 1) for n in (1, 3, 5)]
    q, k, v = (np.stack(np.split(part, heads, -1), 1) for part in parts)
    logits = q @ np.swapaxes(k, 2, 3) / np.sqrt(q.shape[-1])
    if 9 in m:
        s = parse(m[9][0])
        y: Any = (x @ numbers(s, 1).reshape(-1, x.shape[-1]).T).reshape(len(x), -1)
        y = normed(acts[1](connect(y, s, 2, 3)), s, (4, 5), 1e-3)
        y = normed(acts[1](connect(y, s, 6, 7)), s, (8, 9), 1e-3).reshape(len(x), heads, -1)
        logits = logits + (y @ shared.reshape(4096, -1).T).reshape(logits.shape)
    seen = np.concatenate(list(np.moveaxis(softmax(logits) @ v, 1, 0)), -1)
    x = normed(x + factor * connect(seen, m, 7, 8), block, (2, 3), epsilon)
    return normed(x + factor * fed(x, parse(block[4][0]), acts[0]), block, (5, 6), epsilon)


def slow_attention(
    path: Path, observations: Values, policy_head: str = "vanilla", value_head: str = "winner"
) -> tuple[Values, Values, Values | None]:
    """Policy logits [B, 1858], WDL [B, 3] or value [B, 1], moves left [B, 1] or None."""
    data = path.read_bytes()
    net = parse(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
    form = parse(parse(net[4][0])[2][0])
    enums = {n: form.get(n, [0])[0] for n in range(1, 11)}
    m = parse(net[10][0])
    body = 27 in m
    if enums[3] == 4 and body and 35 in m:  # an old file
        enums |= {9: RELU2, 8: SWISH}
    own = MISH if enums[7] else RELU
    act = ACTS[own]
    acts = [ACTS[enums[9] or own], ACTS[enums[8] or own]] if body else [ACTS[SELU], ACTS[NONE]]
    dense_position = enums[10] == 2 or (45 in m and enums[3] == 6)
    x = observations.astype(np.float64)
    if 2 in m:
        x = act(convolve(x, m[1][0]))
        for block in map(parse, m[2]):
            y = convolve(act(convolve(x, block[1][0])), block[2][0])
            se = parse(block[3][0])
            scale = connect(act(connect(y.mean((2, 3)), se, 1, 2)), se, 3, 4)
            gate, shift = np.split(scale[:, :, None, None], 2, axis=1)
            x = act(x + y / (1 + np.exp(-gate)) + shift)
    board = x
    x = np.moveaxis(x.reshape(len(x), -1, 64), 1, 2)  # [B, 64, channels]
    shared = numbers(m, 35) if 35 in m else None
    if body:
        blocks = [parse(block) for block in m[27]]
        if 2 not in m:
            if dense_position:
                placed = connect(x[:, :, :12].reshape(len(x), -1), m, 37, 38)
                placed = placed.reshape(len(x), 64, -1)
            else:
                placed = np.broadcast_to(position_table(), (len(x), 64, 64))
            x = np.concatenate([x, placed], -1)
        x = act(connect(x, m, 25, 26))
        factor = (2 * len(blocks)) ** -0.25
        if dense_position:
            x = normed(x, m, (39, 40), 1e-3)
        if 33 in m:
            x = x * numbers(m, 33).reshape(-1, 64).T + numbers(m, 34).reshape(-1, 64).T
        if dense_position:
            x = normed(x + factor * fed(x, parse(m[41][0]), acts[0]), m, (42, 43), 1e-3)
        for block in blocks:
            tuning = (factor, 1e-3 if dense_position else 1e-6)
            x = encoded(x, block, m[28][0], shared, acts, tuning)
    policy = _policy(m, x, policy_head, act if body else ACTS[SELU], acts, shared)
    judge, fields = (
        (parse(parse(m[44][0])[VALUE_HEADS[value_head]][0]), (11, 1, 3, 5))
        if (44 in m)
        else (m, (6, 29, 7, 9))
    )
    value = _judged(judge, fields, x, board, act, body)
    value = softmax(value) if enums[5] == 2 else np.tanh(value)
    if not enums[6]:
        return policy, value, None
    return policy, value, np.maximum(_judged(m, (12, 31, 13, 15), x, board, act, body), 0)


def _judged(m: Any, fields: Any, x: Values, board: Values, act: Any, body: bool) -> Values:
    first, embed, hidden, out = fields
    seen = connect(x, m, embed, embed + 1) if body else convolve(board, m[first][0])
    flat = act(seen).reshape(len(x), -1)
    return connect(act(connect(flat, m, hidden, hidden + 1)), m, out, out + 1)


def _policy(m: Any, x: Values, name: str, act: Any, acts: Any, shared: Any) -> Values:
    head, (query, key, promotion, blocks, heads) = m, (17, 19, 22, 21, 24)
    embed, weight, bias = m, 4, 5
    if 45 in m:
        several = parse(m[45][0])
        head, (query, key, promotion, blocks, heads) = (
            parse(several[POLICY_HEADS[name]][0]),
            (3, 5, 7, 8, 9),
        )
        embed, weight, bias = (head if 1 in head else several), 1, 2
    x = act(connect(x, embed, weight, bias))
    for block in head.get(blocks, []):
        x = encoded(x, parse(block), head[heads][0], shared, acts, (1.0, 1e-6))
    q, k = connect(x, head, query, query + 1), connect(x, head, key, key + 1)
    logits = q @ np.swapaxes(k, 1, 2) / np.sqrt(q.shape[-1])
    offsets = k @ numbers(head, promotion).reshape(4, -1).T  # [B, 64, 4]
    columns = []
    for start, end, piece in move_list():
        column = logits[:, start, end]
        if piece:
            column = column + offsets[:, end, "qrb".index(piece)] + offsets[:, end, 3]
        columns.append(column)
    return np.stack(columns, 1)


def position_table() -> Values:
    """Where a queen or a knight could go from each cell; -1 at the cell itself."""
    table = -np.eye(64)
    for start, end in itertools.permutations(range(64), 2):
        if (end % 8 - start % 8, end // 8 - start // 8, "") in move_planes():
            table[start, end] = 1
    return table
