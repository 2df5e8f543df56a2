"""Checks of how a run spends its samples and its time."""

from __future__ import annotations

from statistics import median

from zermelo.doctor.evidence import Evidence
from zermelo.doctor.finding import Finding, unknown, verdict
from zermelo.replay import window_size
from zermelo.runs.status import number

LEAST_RATE = 1e-6  # a learning rate below it changes nothing in any number of steps of use
MOST_PASSES = 3.0  # of training over the same window in one iteration
MOST_REUSE = 40.0  # times that a sample is trained on in its life; 30 by default, at most
LEAST_WINDOW = 2  # iterations, once there were more
# Training's share of the time, and trained samples per new one. A share alone says little: quick
# games leave the time to training, and neither waits for the other in vain. Ill is a run that is
# outside of both ranges on the same side.
TRAINING_SHARE = (0.005, 0.95)
REUSE = (1.0, 20.0)


def learning_rate(evidence: Evidence) -> Finding:
    """Whether the optimiser may move at all."""
    name = "learning rate"
    rates = evidence.figures("train", "learning_rate")
    if not rates:
        return unknown(name, "the metrics have no learning rate")
    return verdict(
        name,
        rates[-1] < LEAST_RATE,
        rates[-1],
        f"the learning rate is {rates[-1]:g}",
        "Set train.learning_rate to about 0.002, and train.learning_rate_end to 0.1 or more.",
    )


def repetition(evidence: Evidence) -> Finding:
    """How often training goes over the same samples."""
    name = "repetition"
    passes, reuse = [], []
    for entry in evidence.recent:
        trained = number(entry, "train", "training", "samples")
        merged = number(entry, "window", "merged")
        new = number(entry, "selfplay", "samples")
        if trained is None or not merged:
            continue
        passes.append(trained / merged)
        if new:
            reuse.append(trained / new)
    if not passes:
        return unknown(name, "the metrics do not say what was trained on")
    times = sum(passes) / len(passes)
    often = sum(reuse) / len(reuse) if reuse else 0.0
    sentence = (
        f"an iteration trains {times:.1f} times over its window, "
        f"and {often:.1f} times as many samples as are new"
    )
    return verdict(
        name,
        times > MOST_PASSES or often > MOST_REUSE,
        times,
        sentence,
        "Set train.reuse to 2 or so, the times that training sees a sample in all; or set "
        "train.passes to 1, raise loop.samples_per_iteration or lower replay.window_max.",
        reuse=often,
    )


def window(evidence: Evidence) -> Finding:
    """Whether the samples in use are neither too few iterations' nor too old."""
    name = "window"
    if evidence.iteration < 3:
        return unknown(name, f"only {evidence.iteration} iterations are finished")
    last = evidence.iteration - 1
    size = window_size(last, evidence.config.replay)
    oldest = number(evidence.metrics[-1], "window", "oldest_iteration")
    held = size if oldest is None else last - oldest + 1
    newest = max((header.iterations[1] for header in evidence.newest_headers), default=last)
    behind = evidence.iteration - newest
    if behind > max(3, held / 2):
        return verdict(
            name,
            True,
            behind,
            f"the newest samples are by a network {behind:.0f} iterations older than the newest",
            "See log.txt for workers that do not take new networks.",
        )
    return verdict(
        name,
        held < LEAST_WINDOW,
        held,
        f"the window holds the samples of {held:.0f} iterations",
        "Raise replay.window_start and window_max (5 and 30 by default) or, if the memory is "
        "full, replay.max_samples: a network that sees only its newest games forgets the others.",
    )


def balance(evidence: Evidence) -> Finding:
    """Whether the time of games and of training buys something: the median of some iterations."""
    name = "balance"
    shares, reuse = [], []
    for entry in evidence.recent:
        new = number(entry, "selfplay", "samples")
        rate = number(entry, "selfplay", "samples_per_second")  # of all workers together
        training = number(entry, "train", "seconds")
        trained = number(entry, "train", "training", "samples")
        if not new or not rate or not training or trained is None:
            continue
        shares.append(training / (new / rate + training))
        reuse.append(trained / new)
    if not shares or evidence.iteration < 2:
        return unknown(name, "too few iterations are finished to compare times")
    share, often = median(shares), median(reuse)
    starved = share > TRAINING_SHARE[1] and often > REUSE[1]
    idle = share < TRAINING_SHARE[0] and often < REUSE[0]
    if starved:
        advice = (
            "Training starves self-play: raise loop.samples_per_iteration or selfplay.simulations, "
            "or lower train.reuse, replay.window_max and the size of the network."
        )
    else:
        advice = (
            "Self-play starves training: raise train.reuse or replay.window_max, or lower "
            "loop.samples_per_iteration."
        )
    return verdict(
        name,
        starved or idle,
        share,
        f"training takes {share:.1%} of the time of games and training, for {often:.1f} trained "
        "samples per new one",
        advice,
        reuse=often,
    )
