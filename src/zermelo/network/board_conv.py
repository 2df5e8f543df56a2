"""A 3x3 convolution of a whole small board by Toom-Cook: fewer multiplications, for training.

Needs torch. A board and a kernel are polynomials in two variables, a convolution is their product.
Evaluated at as many points as the product has coefficients, it is one product of matrices per
point: (rows + 2)(columns + 2) of them in place of 9 rows columns, and two small fixed matrices
that lead to the points and back. In f32 the result differs from the direct one by 1e-6 to 1e-4
of its size, far less than bf16 does. Speed and error by size: benchmarks/board_conv.py.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

# Points of evaluation of one variable in the order in which they are taken, then infinity. Small
# numbers and their inverses: large powers would cost precision.
POINTS = (0, 1, -1, 2, -2, Fraction(1, 2), Fraction(-1, 2), -4, Fraction(1, 4))
KERNEL = 3
LARGEST = len(POINTS) - KERNEL + 2  # rows or columns of a board
FEWEST_CHANNELS = 32  # with fewer the fixed matrices cost what the products save


class Transforms(NamedTuple):
    """Of a board of n cells with p points."""

    board: Tensor  # [p, n]: values of a board at the points
    kernel: Tensor  # [p, 9]: values of a kernel
    back: Tensor  # [n, p]: from the values of the product to the cells


def supports(x: Tensor, kernel: Tensor) -> bool:
    """Whether this is for such a convolution: on a processor, in f32, and no slower than usual."""
    rows, columns = x.shape[2:]
    outputs, inputs, *size = kernel.shape
    return (
        x.device.type == "cpu"
        and x.dtype == kernel.dtype == torch.float32
        and not torch.is_autocast_enabled("cpu")
        and tuple(size) == (KERNEL, KERNEL)
        and min(rows, columns) >= 2
        and max(rows, columns) <= LARGEST
        and min(inputs, outputs) >= FEWEST_CHANNELS
    )


def board_conv(x: Tensor, kernel: Tensor) -> Tensor:
    """[B, C, H, W] and [O, C, 3, 3] -> [B, O, H, W], edges padded with zeros; channels last."""
    result: Tensor = _BoardConv.apply(x, kernel)  # type: ignore[no-untyped-call]
    return result


class _BoardConv(torch.autograd.Function):
    """Shapes: B boards, n cells, p points, C channels in and O out. Matrices are batched over p."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, kernel: Tensor) -> Tensor:
        boards, inputs, rows, columns = x.shape
        outputs = len(kernel)
        t = transforms(rows, columns)
        cells = x.permute(0, 2, 3, 1).reshape(boards, rows * columns, inputs)
        at_points = torch.matmul(t.board, cells).transpose(0, 1)  # [p, B, C]
        taps = kernel.permute(2, 3, 1, 0).reshape(KERNEL * KERNEL, inputs * outputs)
        weights = (t.kernel @ taps).view(-1, inputs, outputs)  # [p, C, O]
        products = torch.bmm(at_points, weights)  # [p, B, O]
        ctx.save_for_backward(at_points, weights)
        ctx.size = rows, columns
        found = torch.matmul(t.back, products.transpose(0, 1))  # [B, n, O]
        return found.view(boards, rows, columns, outputs).permute(0, 3, 1, 2)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor]:
        at_points, weights = ctx.saved_tensors
        (rows, columns), gradient = ctx.size, gradients[0]
        boards, outputs = gradient.shape[:2]
        inputs = weights.shape[1]
        t = transforms(rows, columns)
        cells = gradient.permute(0, 2, 3, 1).reshape(boards, rows * columns, outputs)
        products = torch.matmul(t.back.T, cells).transpose(0, 1)  # [p, B, O]
        kernel = torch.bmm(at_points.transpose(1, 2), products)  # [p, C, O]
        taps = t.kernel.T @ kernel.view(-1, inputs * outputs)
        board = torch.bmm(products, weights.transpose(1, 2)).transpose(0, 1)  # [B, p, C]
        x = torch.matmul(t.board.T, board).view(boards, rows, columns, inputs)
        return (
            x.permute(0, 3, 1, 2),
            taps.view(KERNEL, KERNEL, inputs, outputs).permute(3, 2, 0, 1),
        )


@cache
def transforms(rows: int, columns: int) -> Transforms:
    """Both directions one after the other are one matrix, their Kronecker product."""
    pairs = zip(_one_direction(rows), _one_direction(columns), strict=True)
    return Transforms(*(torch.from_numpy(np.kron(r, c).astype(np.float32)) for r, c in pairs))


def _one_direction(length: int) -> tuple[NDArray[np.float64], ...]:
    """The three matrices for a line of cells and three taps."""
    count = length + KERNEL - 1  # coefficients of the product
    line, taps, product = (_powers(count, size) for size in (length, KERNEL, count))
    # Values at the points are scaled to the size of the coefficients, so that none drowns others.
    line_size, taps_size = np.abs(line).max(1), np.abs(taps).max(1)
    back = np.linalg.inv(product) * (line_size * taps_size)
    # A network's kernel is not turned round as a product would do; the ends of the product lie
    # beyond the edges.
    return line / line_size[:, None], (taps / taps_size[:, None])[:, ::-1], back[1 : length + 1]


def _powers(count: int, size: int) -> NDArray[np.float64]:
    """[count, size]: powers of the points; at infinity only the highest one counts."""
    rows = [[float(Fraction(point) ** power) for power in range(size)] for point in POINTS]
    return np.array([*rows[: count - 1], [0.0] * (size - 1) + [1.0]])
