"""The trainer's speed against a bare PyTorch loop on ready tensors.

Usage: python benchmarks/train.py [--rounds 7] [--steps 12] [--threads 0] [--precision f32] [--json]

The trainer decodes samples of real self-play (searched with a uniform evaluator), computes its
losses over legal actions and its metrics, clips gradients and follows its schedule. The bare loop
has the same network (with torch's own convolutions, not `network/board_conv.py`), batch, layout,
precision, threads and optimiser, its tensors are made before the clock starts, and it does nothing
but forward, plain cross-entropies, backward and step. The two take turns; each round gives a ratio,
and the median of the ratios is reported.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.nn import functional

import zermelo
from zermelo import _core
from zermelo.network import NetworkOptions, resnet
from zermelo.network.trained import new_network
from zermelo.replay import Batch, BatchSampler, Samples, merge
from zermelo.search import SearchOptions
from zermelo.train import Trainer, TrainOptions
from zermelo.train.arithmetic import autocast, available_cores
from zermelo.train.loader import to_tensors

CASES = (("connect4", 5, 64), ("chess", 6, 64))  # game, blocks, filters


class Part:
    """The first batches of a sampler's next epoch."""

    def __init__(self, sampler: BatchSampler, steps: int) -> None:
        self.sampler = sampler
        self.steps = steps

    def __len__(self) -> int:
        return self.steps

    def __iter__(self) -> Iterator[Batch]:
        for _, batch in zip(range(self.steps), self.sampler, strict=False):
            yield batch


@contextmanager
def torch_convolutions() -> Iterator[None]:
    """Meanwhile networks train without `network/board_conv.py`."""
    usual = resnet.supports
    resnet.supports = lambda *_: False
    try:
        yield
    finally:
        resnet.supports = usual


def make_sampler(game: Any, positions: int, batch: int) -> BatchSampler:
    """Positions of quick self-play, merged as in a run."""
    options = _core.SelfPlayOptions(simulations=8, full_search_probability=1.0, max_plies=120)
    evaluator = _core.UniformEvaluator()
    runner = _core.make_selfplay(game, evaluator, SearchOptions(), options, None)
    columns = runner.play(2 * positions, 0.0, None)
    columns.pop("statistics")
    return BatchSampler(merge(Samples.from_columns(columns)), game, batch)


def bare_step(network: Any, optimiser: Any, ready: tuple[Any, ...], precision: str) -> None:
    """One step of the loop that everybody writes first."""
    planes, policy, wdl = ready
    with autocast(precision, torch.device("cpu")):
        heads = network(planes)
    loss = functional.cross_entropy(heads.policy, policy) + functional.cross_entropy(
        heads.value, wdl
    )
    optimiser.zero_grad(set_to_none=True)
    loss.backward()
    optimiser.step()


def ready_tensors(batch: Batch, num_actions: int) -> tuple[Any, ...]:
    """Planes and dense targets."""
    tensors = to_tensors(batch)
    policy = torch.zeros(len(batch), num_actions)
    policy.scatter_add_(1, tensors.actions, tensors.shares.clamp(min=0))
    return tensors.planes, policy, tensors.result_wdl


def seconds_of(work: Callable[[], object]) -> float:
    """Wall clock."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def measure(case: tuple[str, int, int], arguments: argparse.Namespace) -> dict[str, Any]:
    """Trainer and bare loop in turns."""
    name, blocks, filters = case
    game, steps, batch = zermelo.game(name), arguments.steps, arguments.batch
    sampler = make_sampler(game, (steps + 1) * batch, batch)
    options = TrainOptions(
        batch=batch, threads=arguments.threads, precision=arguments.precision, device="cpu"
    )
    trainer = Trainer(new_network(game, NetworkOptions(blocks=blocks, filters=filters)), options)
    network = new_network(game, NetworkOptions(blocks=blocks, filters=filters)).train()
    network.to(memory_format=torch.channels_last)
    optimiser = torch.optim.AdamW(network.parameters(), lr=1e-3, fused=True)
    tensors = [ready_tensors(each, game.num_actions) for each in Part(sampler, steps)]

    def bare() -> None:
        with torch_convolutions():
            for ready in tensors:
                bare_step(network, optimiser, ready, trainer.precision)

    def ours() -> None:
        trainer.train_iteration(Part(sampler, steps), 0, 1)

    torch.set_num_threads(arguments.threads or available_cores())
    bare()
    trainer.train_iteration(Part(sampler, 1), 0, 1)
    bare_times, our_times = [], []
    for turn in range(arguments.rounds):
        order = ((bare, bare_times), (ours, our_times))
        for work, times in order if turn % 2 else order[::-1]:
            times.append(seconds_of(work))
    samples = sum(len(ready[0]) for ready in tensors)
    return {
        "game": name,
        "network": f"{blocks}x{filters}",
        "batch": batch,
        "threads": torch.get_num_threads(),
        "precision": trainer.precision,
        "samples_per_second": round(samples / statistics.median(our_times)),
        "bare_samples_per_second": round(samples / statistics.median(bare_times)),
        "of_bare": round(
            statistics.median(b / o for b, o in zip(bare_times, our_times, strict=True)), 3
        ),
        "of_bare_by_round": [round(b / o, 3) for b, o in zip(bare_times, our_times, strict=True)],
    }


def main() -> None:
    """Prints a table, or one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7, help="turns of each")
    parser.add_argument("--steps", type=int, default=12, help="of the optimiser, in each turn")
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--threads", type=int, default=0, help="0: all cores")
    parser.add_argument("--precision", default="auto", choices=("auto", "f32", "bf16"))
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    rows = [measure(case, arguments) for case in CASES]
    if arguments.json:
        print(json.dumps({"benchmark": "train", "machine": platform.processor(), "rows": rows}))
        return
    for row in rows:
        print(
            f"{row['game']} {row['network']}, batch {row['batch']}, {row['threads']} threads, "
            f"{row['precision']}: {row['samples_per_second']:,} samples/s of "
            f"{row['bare_samples_per_second']:,} bare ({row['of_bare']:.1%})"
        )


if __name__ == "__main__":
    main()
