"""Checks of what the newest network has learned."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from zermelo.doctor.evidence import (
    LEAST_GAMES,
    LEAST_ITERATIONS,
    Array,
    Evidence,
    Predictions,
    is_full,
)
from zermelo.doctor.finding import Finding, unknown, verdict
from zermelo.replay import Samples

LEAST_CHANGE = 1e-3  # of the weights in an iteration, relative to their size
LEAST_ROWS = 200
LEAST_STEPS = 400  # of the optimiser, before which a policy may well be uniform
LEAST_LEARNED = 0.05  # share of what there is to learn about the policy
BINS = 10
MOST_ERROR = 0.15  # of values, beyond what chance explains
LEAST_GAIN = 0.05  # on games trained on, before what is lost on others is judged
# Share of what was learned that may not hold for other games. Results hang on chance, so values
# lose much of it in healthy runs too.
MOST_POLICY_GAP = 0.4
MOST_VALUE_GAP = 0.85
MOVING = "network."  # the trainer's own arrays; others are the optimiser's
STATISTICS = ("running_mean", "running_var", "num_batches_tracked")  # not moved by the optimiser


def learning(evidence: Evidence) -> Finding:
    """Whether the weights move at all."""
    name = "learning"
    if len(evidence.checkpoints) < 2:
        return unknown(name, "there are no two checkpoints to compare")
    newer, older = evidence.checkpoints
    change = weight_change(newer.training().arrays, older.training().arrays)
    between = newer.iteration - older.iteration
    return verdict(
        name,
        change < LEAST_CHANGE * between,
        change,
        f"from checkpoint {older.name} to {newer.name} the weights changed by {change:.2%}",
        "The network does not learn: train.learning_rate is far too small (0.002 is usual), or "
        "what train.learning_rate_end leaves of it.",
    )


def weight_change(newer: Mapping[str, Array], older: Mapping[str, Array]) -> float:
    """Length of the difference, relative to the length of the older weights."""
    moved = size = 0.0
    for key, array in older.items():
        if not key.startswith(MOVING) or key.endswith(STATISTICS) or key not in newer:
            continue
        before = array.astype(np.float64)
        moved += float(np.square(newer[key] - before).sum())
        size += float(np.square(before).sum())
    return float(np.sqrt(moved / size)) if size else 0.0


def fresh_rows(evidence: Evidence) -> Predictions | None:
    """Of games kept out if there are enough, else of those trained on; None if too few."""
    for found in (evidence.held, evidence.trained):
        if found is not None and len(found.rows) >= LEAST_ROWS:
            return found
    return None


def policy(evidence: Evidence) -> Finding:
    """Whether the network's policy is nearer to its targets than a uniform one."""
    name = "policy"
    samples, found = evidence.samples, fresh_rows(evidence)
    steps = max(evidence.figures("train", "total_steps"), default=0.0)
    if samples is None or found is None or steps < LEAST_STEPS:
        return unknown(
            name, f"there are too few samples, or too few steps ({steps:.0f}) of training"
        )
    full = found.take(is_full(samples)[found.rows])
    if len(full.rows) < LEAST_ROWS:
        return unknown(name, f"only {len(full.rows)} samples have a policy target")
    uniform, own = full.uniform.mean(), full.cross_entropy.mean()
    there_is = uniform - full.target_entropy.mean()
    if there_is < 0.02:
        return unknown(name, "the targets themselves are uniform, so there is nothing to learn")
    learned = float((uniform - own) / there_is)
    return verdict(
        name,
        learned < LEAST_LEARNED,
        learned,
        f"the policy has learned {learned:.1%} of what its targets say beyond a uniform policy",
        "It is still uniform: see the findings above; if there are none, raise "
        "train.learning_rate, the network's size, or the number of iterations.",
        loss=float(own),
        uniform=float(uniform),
        target_entropy=float(full.target_entropy.mean()),
    )


def value(evidence: Evidence) -> Finding:
    """Whether positions that are said to be worth v end so on average, over games kept out."""
    name = "value"
    samples, found = evidence.samples, evidence.held
    if samples is None or found is None or evidence.iteration < LEAST_ITERATIONS:
        return unknown(name, "no games are kept out of training, or too few iterations are done")
    games = len(np.unique(samples.games[found.rows]))
    if len(found.rows) < LEAST_ROWS or games < LEAST_GAMES:
        return unknown(name, f"only {games} games are kept out of training")
    results = samples.results[found.rows].astype(np.float64)
    error, beyond = calibration_error(found.value, results, samples.games[found.rows])
    return verdict(
        name,
        beyond > MOST_ERROR,
        error,
        f"predicted values are off by {error:.2f} on average, {beyond:.2f} more than chance "
        f"explains in {games} games kept out of training",
        "Raise loop.samples_per_iteration or replay.window_max, lower train.learning_rate, or "
        "blend in the search's values with train.value_blend.",
        beyond=beyond,
        games=games,
    )


def calibration_error(predicted: Array, results: Array, games: Array) -> tuple[float, float]:
    """Mean |prediction - result| over bins of predictions, and what is left of it after chance.

    Results within a game hang together, so chance is reckoned by games.
    """
    bins = np.clip((predicted + 1) * (BINS / 2), 0, BINS - 1).astype(np.int64)
    error = beyond = 0.0
    for index in np.unique(bins):
        rows = bins == index
        rest = predicted[rows] - results[rows]
        by_game = np.zeros(int(games.max()) + 1)
        np.add.at(by_game, games[rows], rest)
        spread = float(np.sqrt(np.square(by_game).sum())) / rows.sum()
        off = abs(float(rest.mean()))
        error += off * rows.mean()
        beyond += max(0.0, off - 2 * spread) * rows.mean()
    return float(error), float(beyond)


def overfitting(evidence: Evidence) -> Finding:
    """Whether what the network knows holds for games that it was not trained on."""
    name = "overfitting"
    samples, seen, unseen = evidence.samples, evidence.trained, evidence.held
    if samples is None or seen is None or unseen is None:
        return unknown(name, "no games are kept out of training")
    if evidence.iteration < LEAST_ITERATIONS:
        return unknown(name, f"only {evidence.iteration} iterations are finished")
    games = len(np.unique(samples.games[unseen.rows]))
    if games < LEAST_GAMES or len(unseen.rows) < LEAST_ROWS:
        return unknown(name, f"only {games} games are kept out of training")
    policy_gap = gap(policy_gain(samples, seen), policy_gain(samples, unseen))
    value_gap = gap(value_gain(samples, seen), value_gain(samples, unseen))
    return verdict(
        name,
        policy_gap.least > MOST_POLICY_GAP or value_gap.least > MOST_VALUE_GAP,
        max(policy_gap.share, value_gap.share),
        f"of what the network knows of its training games, {policy_gap.share:.0%} of the policy "
        f"(chance aside {policy_gap.least:.0%}) and {value_gap.share:.0%} of the value "
        f"({value_gap.least:.0%}) do not hold for {games} games kept out",
        "It memorises: set train.passes to 1 or train.reuse to 2 or so, raise "
        "loop.samples_per_iteration and replay.window_max, or make the network smaller.",
        policy=policy_gap.share,
        value=value_gap.share,
        policy_least=policy_gap.least,
        value_least=value_gap.least,
    )


class Gain(NamedTuple):
    """What the network saves against knowing nothing, mean per sample."""

    mean: float
    error: float  # standard error of the mean


class Gap(NamedTuple):
    """Share of a gain on seen games that is lost on others."""

    share: float
    least: float  # two standard errors less


def policy_gain(samples: Samples, found: Predictions) -> Gain:
    """Cross-entropy that the policy saves against a uniform one, in nats."""
    some = found.take(is_full(samples)[found.rows])
    return mean_by_games(some.uniform - some.cross_entropy, samples.games[some.rows])


def value_gain(samples: Samples, found: Predictions) -> Gain:
    """Squared error that the value saves against saying 0 always."""
    results = samples.results[found.rows].astype(np.float64)
    saved = np.square(results) - np.square(results - found.value)
    return mean_by_games(saved, samples.games[found.rows])


def mean_by_games(values: Array, games: Array) -> Gain:
    """The mean with its error; samples of a game hang together, so chance is reckoned by games."""
    if not len(values):
        return Gain(0.0, 0.0)
    mean = float(values.mean())
    _, owner = np.unique(games, return_inverse=True)
    rest = np.bincount(owner, values - mean)  # of each game
    return Gain(mean, float(np.sqrt(np.square(rest).sum())) / len(values))


def gap(seen: Gain, unseen: Gain) -> Gap:
    """What is lost on games kept out; 0 where too little was gained to lose."""
    if seen.mean < LEAST_GAIN:
        return Gap(0.0, 0.0)
    kept = unseen.mean / seen.mean
    error = float(np.hypot(unseen.error, kept * seen.error)) / seen.mean
    return Gap(max(0.0, 1 - kept), max(0.0, 1 - kept - 2 * error))
