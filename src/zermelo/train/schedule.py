"""T10: the learning rate within one iteration, and from iteration to iteration."""

from __future__ import annotations

from zermelo.train.options import TrainOptions


def highest_rate_at(iteration: int, iterations: int, options: TrainOptions) -> float:
    """Of iteration 0 .. iterations - 1: `learning_rate`, from the middle on linearly to its end."""
    last = max(iterations - 1, 1)
    done = min(max(2 * iteration / last - 1, 0.0), 1.0)  # of the second half
    return options.learning_rate * (1 + (options.learning_rate_end - 1) * done)


def learning_rate_at(step: int, steps: int, highest: float, options: TrainOptions) -> float:
    """Of step 0 .. steps - 1: low -> linearly up -> highest -> linearly down to min.

    The first step has the low rate, the last one the min rate; a single step has the highest.
    """
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
