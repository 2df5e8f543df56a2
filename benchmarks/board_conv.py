"""The Toom-Cook convolution of a whole board against torch's, forward and backward, in f32.

Usage: python benchmarks/board_conv.py [--batch 128] [--rounds 15] [--json]

The two take turns; each round gives a ratio of times, and the median of the ratios is reported,
with how far results and gradients lie from double precision (standard deviation of the difference,
as a share of the result's). The last row is a whole step of training of a Connect Four network.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
from torch.nn.functional import conv2d
from train import make_sampler, torch_convolutions

import zermelo
from zermelo.cores import available_cores
from zermelo.network import NetworkOptions, resnet
from zermelo.network.board_conv import board_conv
from zermelo.train import Trainer, TrainOptions

BOARDS = ((3, 3), (6, 6), (6, 7), (7, 7), (8, 8))
CHANNELS = (32, 64, 128)
CALLS = 5  # of a round
STEPS = 8  # of a round of training


def usual(x: Any, kernel: Any) -> Any:
    """What torch does."""
    return conv2d(x, kernel, padding=1)


def ratio(one: Callable[[], None], other: Callable[[], None], rounds: int) -> float:
    """How much longer `one` takes, the median of rounds in which they take turns."""
    found = []
    for _ in range(rounds + 1):
        seconds = []
        for work in (one, other):
            started = time.perf_counter()
            work()
            seconds.append(time.perf_counter() - started)
        found.append(seconds[0] / seconds[1])
    return statistics.median(found[1:])  # the first round warms up


def of_layer(rows: int, columns: int, channels: int, batch: int, rounds: int) -> dict[str, Any]:
    """One row of the table."""
    last = {"memory_format": torch.channels_last}
    x = torch.randn(batch, channels, rows, columns).to(**last).requires_grad_()
    kernel = (torch.randn(channels, channels, 3, 3) / (9 * channels) ** 0.5).requires_grad_()
    gradient = torch.randn(batch, channels, rows, columns).to(**last)

    def calls(conv: Callable[[Any, Any], Any]) -> Callable[[], None]:
        def work() -> None:
            for _ in range(CALLS):
                torch.autograd.grad(conv(x, kernel), (x, kernel), gradient)

        return work

    exact = usual(x.double(), kernel.double())
    found = board_conv(x, kernel)
    errors = [
        float(((ours - true).std() / true.std()).detach())
        for ours, true in zip(
            (found, *torch.autograd.grad(found, (x, kernel), gradient)),
            (exact, *torch.autograd.grad(exact, (x, kernel), gradient.double())),
            strict=True,
        )
    ]
    return {
        "what": f"{rows}x{columns}, {channels} channels",
        "faster": ratio(calls(usual), calls(board_conv), rounds),
        "error": max(errors),
    }


def of_training(rounds: int) -> dict[str, Any]:
    """The whole trainer on ready samples, with and without it."""
    game = zermelo.game("connect4")
    batches = list(make_sampler(game, 128 * STEPS, 128))[:STEPS]
    network = resnet.new_network(game, NetworkOptions(blocks=5, filters=64))
    trainer = Trainer(network, TrainOptions(batch=128, optimiser="muon", precision="f32"))

    def with_it() -> None:
        trainer.train_iteration(batches, 0, 1)

    def without() -> None:
        with torch_convolutions():
            with_it()

    return {
        "what": "a step of training, Connect Four, 5x64, batch 128, Muon",
        "faster": ratio(without, with_it, rounds),
        "error": None,
    }


def main() -> None:
    """A table, or with --json its rows."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    torch.set_num_threads(available_cores())
    torch.manual_seed(0)
    rows = [
        of_layer(*board, channels, given.batch, given.rounds)
        for board in BOARDS
        for channels in CHANNELS
    ]
    rows.append(of_training(given.rounds))
    if given.json:
        print(json.dumps({"batch": given.batch, "rows": rows}, indent=2))
        return
    print("| | times as fast | error |\n|---|---|---|")
    for row in rows:
        error = "" if row["error"] is None else f"{row['error']:.1e}"
        print(f"| {row['what']} | {row['faster']:.2f} | {error} |")


if __name__ == "__main__":
    main()
