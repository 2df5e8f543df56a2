"""The fast convolution is the usual one, and training uses it where it may."""

from __future__ import annotations

from typing import Any

import pytest

torch: Any = pytest.importorskip("torch", reason="torch is not installed")

from torch.nn.functional import conv2d  # noqa: E402

import zermelo  # noqa: E402
from zermelo.network import (  # noqa: E402
    NetworkOptions,
    resnet,
)
from zermelo.network.board_conv import board_conv, supports  # noqa: E402
from zermelo.network.trained import new_network  # noqa: E402

# Rows, columns, channels in and out. Lengths of two cells to eight, both ways round.
SIZES = [
    (2, 2, 32, 32),
    (3, 3, 32, 48),
    (5, 4, 64, 32),
    (6, 7, 64, 64),
    (7, 6, 32, 32),
    (8, 8, 64, 64),
]


def made(rows: int, columns: int, inputs: int, outputs: int) -> tuple[Any, Any, Any]:
    """Boards, a kernel, and a gradient of the result, all in f32."""
    torch.manual_seed(rows * columns)
    x = torch.randn(5, inputs, rows, columns).to(memory_format=torch.channels_last)
    kernel = torch.randn(outputs, inputs, 3, 3) / (9 * inputs) ** 0.5
    return x.requires_grad_(), kernel.requires_grad_(), torch.randn(5, outputs, rows, columns)


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_results_and_gradients_are_those_of_a_convolution_in_double_precision(size: Any) -> None:
    x, kernel, gradient = made(*size)
    assert supports(x, kernel)
    exact = conv2d(x.double(), kernel.double(), padding=1)
    found = board_conv(x, kernel)
    pairs = [(found, exact)]
    pairs += zip(
        torch.autograd.grad(found, (x, kernel), gradient),
        torch.autograd.grad(exact, (x, kernel), gradient.double()),
        strict=True,
    )
    for ours, true in pairs:
        assert ours.shape == true.shape
        assert (ours - true).std() < 2e-4 * true.std()  # bf16: about 3e-3


def test_it_is_left_alone_where_it_would_not_fit_or_not_pay() -> None:
    x, kernel, _ = made(6, 7, 64, 64)
    assert not supports(x.double(), kernel.double())
    assert not supports(x, kernel[:, :, :1, :1])
    assert not supports(*made(6, 7, 4, 64)[:2])
    assert not supports(*made(9, 9, 64, 64)[:2])
    assert not supports(*made(1, 8, 64, 64)[:2])
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert not supports(x, kernel)


def test_a_network_uses_it_to_train_and_never_to_play(monkeypatch: pytest.MonkeyPatch) -> None:
    used = []

    def counted(x: Any, kernel: Any) -> Any:
        used.append(tuple(kernel.shape))
        return board_conv(x, kernel)

    monkeypatch.setattr(resnet, "board_conv", counted)
    game = zermelo.game("connect4")
    network = new_network(game, NetworkOptions(blocks=2, filters=32))
    boards = torch.rand(4, *game.observation_shape)
    network.eval()
    network(boards)
    assert not used
    network.train()
    network(boards)
    assert used.count((32, 32, 3, 3)) >= 4
