"""T10: the learning rate within one iteration."""

from __future__ import annotations

from zermelo.train.options import TrainOptions


def learning_rate_at(step: int, steps: int, options: TrainOptions) -> float:
    """Of step 0 .. steps - 1: low -> linearly up -> max -> linearly down to min.

    The first step has the low rate, the last one the min rate; a single step has the max rate.
    """
    highest = options.learning_rate
    if not options.one_cycle:
        return highest
    last = max(steps - 1, 0)
    peak = round(options.warm_up * last)
    step = min(step, last)
    if step < peak:
        low = highest * options.learning_rate_low
        return low + (highest - low) * step / peak
    if step == peak:
        return highest
    lowest = highest * options.learning_rate_min
    return highest + (lowest - highest) * (step - peak) / (last - peak)
