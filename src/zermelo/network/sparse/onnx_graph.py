"""The processor network as a graph for other programs: floats that hold its integers, exactly.

Adds nodes to an `OnnxOps`; the file around them is `build_onnx`'s.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zermelo.errors import UserError
from zermelo.network.graph import Heads
from zermelo.network.sparse.architecture import SparseArchitecture
from zermelo.network.sparse.fixed_point import ACTIVATION_ONE, UNITS
from zermelo.network.sparse.windows import windows_of

if TYPE_CHECKING:
    from zermelo.network.build_onnx import OnnxOps

FLOAT, INT64 = 1, 7  # ONNX element types
FACTOR_ONE, MOST_FACTOR = 128.0, 4.0
PLIES = 32.0  # an output of 1.0 is so many plies


def sparse_graph(a: SparseArchitecture, ops: OnnxOps) -> Heads[str]:
    """From `observations` [B, planes, rows, columns] to policy logits and win, draw, loss."""
    if a.inputs:
        raise UserError(f"a network with the inputs '{a.inputs}' cannot be written as ONNX")
    hidden = _activated(a, ops, "observations")
    tails = _clipped(ops, _dense(ops, hidden, "tail"), UNITS["tail"][0])
    split, end = a.policy_hidden, a.policy_hidden + a.value_hidden
    policy = _columns(ops, tails, 0, split) if split else hidden
    logits = _times(ops, _dense(ops, policy, "actions", "action_bias"), 1 / UNITS["action_bias"][0])
    value = _dense(ops, _columns(ops, tails, split, end), "value1")
    value = _dense(ops, _clipped(ops, value, UNITS["value1"][0]), "value2")
    value = _times(ops, value, 1 / UNITS["value2_bias"][0])
    wdl = ops.activate(_columns(ops, value, 0, 3), "softmax")
    plies = _times(ops, ops.activate(_columns(ops, value, 3, 4), "relu"), PLIES)
    return Heads(logits, wdl, plies)


def _activated(a: SparseArchitecture, ops: OnnxOps, observations: str) -> str:
    """The hidden layer [B, hidden], 0 to 127."""
    table = _floats(ops, "table")
    flat = ops.flatten(observations)
    rows, columns, binary, scales, dense = a.layout
    cells, cell_planes = rows * columns, binary + dense
    last = a.features.num_rows - 1
    sums = [_rows(ops, table, last, last + 1)]
    if binary:
        planes = ops.node(
            "Reshape", _columns(ops, flat, 0, binary * cells), ops.shape(0, binary, cells)
        )
        full = ops.node("ReduceMin", planes, axes=[2], keepdims=0)
        others = ops.node("Sub", _number(ops, 1), ops.node("Unsqueeze", full, ops.shape(2)))
        bits = ops.flatten(ops.multiply(planes, others))
        sums.append(ops.node("MatMul", bits, _rows(ops, table, 0, binary * cells)))
        first = cell_planes * cells
        sums.append(ops.node("MatMul", full, _rows(ops, table, first, first + binary)))
    if scales:
        first = cell_planes * cells + binary
        places = (binary + np.arange(len(scales))) * cells
        wanted = _rows(ops, table, first, first + len(scales))
        sums.append(_scaled(ops, ops.take(flat, places), wanted))
    if dense:
        first = (binary + len(scales)) * cells
        values = _columns(ops, flat, first, first + dense * cells)
        wanted = _rows(ops, table, binary * cells, cell_planes * cells)
        sums.append(_scaled(ops, values, wanted))
    if a.windows:
        sums.append(_windows(a, ops, flat, table))
    total = sums[0]
    for part in sums[1:]:
        total = ops.add(total, part)
    limited = ops.node("Clip", total, _number(ops, 0), _number(ops, UNITS["table"][0] - 1))
    return ops.node("Floor", _times(ops, ops.multiply(limited, limited), 1 / 2048))


def _scaled(ops: OnnxOps, values: str, rows: str) -> str:
    """Rows [N, hidden] times values [B, N], each product rounded half up, added up."""
    size = _times(ops, ops.node("Abs", values), FACTOR_ONE)
    rounded = ops.node("Floor", ops.add(size, _number(ops, 0.5)))
    most = _number(ops, MOST_FACTOR * FACTOR_ONE)
    kept = ops.multiply(ops.node("Sign", values), ops.node("Min", rounded, most))
    factors = ops.node("Unsqueeze", _times(ops, kept, 1 / FACTOR_ONE), ops.shape(2))
    products = ops.node("Floor", ops.add(ops.multiply(factors, rows), _number(ops, 0.5)))
    return ops.node("ReduceSum", products, ops.shape(1), keepdims=0)


def _windows(a: SparseArchitecture, ops: OnnxOps, flat: str, table: str) -> str:
    """The rows that the windows' contents select, added up; empty ones have none."""
    windows = windows_of(a.rows, a.columns, a.windows)
    planes = a.window_planes
    base = len(planes) + 1
    weights = np.zeros((a.planes * a.cells, len(windows)), np.float32)
    for index, cells in enumerate(windows):
        for place, cell in enumerate(cells):
            for digit, plane in enumerate(planes, start=1):
                of_all = plane if plane < a.binary_planes else plane + len(a.scalar_scales)
                weights[of_all * a.cells + cell, index] = digit * base**place
    ones = ops.node("Sign", ops.node("Abs", flat))
    contents = ops.node("MatMul", ones, ops.constant(weights))
    counts = np.array([base ** len(cells) - 1 for cells in windows])
    first = a.features.num_rows - 1 - counts.sum()
    begins = (first - 1 + np.concatenate([[0], np.cumsum(counts)[:-1]])).astype(np.float32)
    nothing = ops.constant(np.zeros((1, a.hidden), np.float32))
    longer = ops.node("Concat", table, nothing, axis=0)
    less = ops.node("Less", contents, ops.constant(counts.astype(np.float32) + 1))
    known = ops.node("And", ops.node("Greater", contents, _number(ops, 0)), less)
    at = ops.add(contents, ops.constant(begins))
    rows = ops.node("Where", known, at, _number(ops, a.features.num_rows))
    chosen = ops.node("Gather", longer, ops.node("Cast", rows, to=INT64), axis=0)
    return ops.node("ReduceSum", chosen, ops.shape(1), keepdims=0)


def _dense(ops: OnnxOps, x: str, name: str, bias: str = "") -> str:
    return ops.node("Gemm", x, _floats(ops, name), _floats(ops, bias or f"{name}_bias"), transB=1)


def _clipped(ops: OnnxOps, sums: str, one: int) -> str:
    scaled = _times(ops, sums, 1 / one)
    limited = ops.node("Clip", scaled, _number(ops, 0), _number(ops, ACTIVATION_ONE - 1))
    return ops.node("Floor", limited)


def _floats(ops: OnnxOps, name: str) -> str:
    """An array of the network; the file holds its integers."""
    return ops.node("Cast", ops.tensor(name, ops.arrays[name]), to=FLOAT)


def _rows(ops: OnnxOps, table: str, start: int, stop: int) -> str:
    return ops.node("Slice", table, ops.shape(start), ops.shape(stop), ops.shape(0))


def _columns(ops: OnnxOps, x: str, start: int, stop: int) -> str:
    return ops.node("Slice", x, ops.shape(start), ops.shape(stop), ops.shape(1))


def _times(ops: OnnxOps, x: str, factor: float) -> str:
    return ops.multiply(x, _number(ops, factor))


def _number(ops: OnnxOps, value: float) -> str:
    return ops.constant(np.array(value, np.float32))
