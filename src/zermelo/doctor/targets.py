"""Checks of what the network is taught: are results and policies what they should be?"""

from __future__ import annotations

from typing import Any

import numpy as np

from zermelo.doctor.evidence import LEAST_ITERATIONS, Array, Evidence, is_full, root_values
from zermelo.doctor.finding import Finding, more_variety, unknown, verdict
from zermelo.doctor.replay import Rediscovery
from zermelo.replay import Samples
from zermelo.replay.canonical import canonical_actions
from zermelo.replay.dedup import group
from zermelo.replay.figures import policy_entropy
from zermelo.replay.samples import ADJUDICATED, PROVEN, RESIGNED, WHOLE_SHARE
from zermelo.search import Search

LEAST_ROWS = 20  # that a verdict on signs needs
CONTRADICTION = -0.3  # mean product of two signs that should agree
LEAST_CORRELATION = -0.1  # of the network's values with results
LEAST_PAIRS = 30
MOST_PAIRS = 5000
LEAST_AGREEMENT = 0.15
MOST_SEARCHED = 128
SIMULATIONS = 200  # of the new search
SECONDS = 20.0
CLEAR = 0.3  # 1 - entropy / log(legal actions) of targets that mean something
COLLAPSED = 0.02  # mean entropy of early targets and predictions per log(legal actions)
EARLY = 0.25  # part of a game


def value_sign(evidence: Evidence) -> Finding:
    """Whether results are told from the mover's side, by three signs that cannot all be wrong."""
    name = "value sign"
    samples = evidence.samples
    if samples is None:
        return unknown(name, "there are no samples")
    network, games = network_agreement(evidence)
    figures = {
        "proven": proven_agreement(samples),
        "last_mover": last_mover_agreement(evidence.random_games.last_mover, samples),
        "network": network,
    }
    known = {key: value for key, value in figures.items() if value is not None}
    if not known:
        return unknown(name, "there are too few decided games to compare values with results")
    words = {
        "proven": "results agree with what the search had proved: {:+.2f}",
        "last_mover": "the last mover fares as in random games: {:+.2f}",
        "network": "the network's values go with results: {:+.2f}",
    }
    worst = min(known, key=lambda key: known[key])
    # Chance makes correlations of so many games as large as that.
    limits = {"network": LEAST_CORRELATION - 2 / np.sqrt(max(1, games))}
    sick = any(value < limits.get(key, CONTRADICTION) for key, value in known.items())
    listing = ", ".join(words[key].format(value) for key, value in known.items())
    return verdict(
        name,
        sick,
        known[worst],
        f"on a scale from -1 (always the opposite) to 1: {listing}",
        "Values have the wrong sign somewhere: `zermelo check GAME` tests outcome and player of a "
        "game of your own; samples must be from the mover's side.",
        **known,
    )


def proven_agreement(samples: Samples) -> float | None:
    """Mean of result * proven value over positions that the search had solved as won or lost."""
    values = root_values(samples)
    solved = ((samples.flags & PROVEN) != 0) & (np.abs(values) > 0.5)
    solved &= (samples.flags & (ADJUDICATED | RESIGNED)) == 0
    if solved.sum() < LEAST_ROWS:
        return None
    return float((np.sign(values[solved]) * samples.results[solved]).mean())


def last_mover_agreement(expected: int, samples: Samples) -> float | None:
    """The last mover's mean result in the samples times its sign in random games.

    In most games whoever moves last has won or drawn; None in those where the rules leave it open.
    """
    last = (samples.plies_left == 1) & (samples.results != 0)
    last &= (samples.flags & (ADJUDICATED | RESIGNED)) == 0
    if not expected or last.sum() < LEAST_ROWS:
        return None
    return float(samples.results[last].mean()) * expected


def network_agreement(evidence: Evidence) -> tuple[float | None, int]:
    """Correlation of the newest network's values with results, and the games that it is over.

    Those are games kept out, if they have enough samples; None before the network knows much.
    """
    samples, found = evidence.samples, evidence.held
    if found is None or len(found.rows) < 10 * LEAST_ROWS:
        found = evidence.trained
    if evidence.iteration < LEAST_ITERATIONS or samples is None:
        return None, 0
    if found is None or len(found.rows) < 10 * LEAST_ROWS:
        return None, 0
    results = samples.results[found.rows].astype(np.float64)
    if found.value.std() < 1e-3 or results.std() < 0.1:
        return None, 0
    games = len(np.unique(samples.games[found.rows]))
    return float(np.corrcoef(found.value, results)[0, 1]), games


def policy_targets(evidence: Evidence) -> Finding:
    """Whether targets belong to their positions: a search of them again must agree."""
    name = "policy targets"
    samples = evidence.samples
    if samples is None or not evidence.checkpoints:
        return unknown(name, "there are no samples or no network")
    rows = np.flatnonzero(is_full(samples) & (samples.policy_counts > 1))
    if not len(rows):
        return unknown(name, "no sample has a policy target of two actions or more")
    sharpness = 1 - policy_entropy(samples)[rows] / np.log(samples.policy_counts[rows])
    clear = rows[sharpness > CLEAR]
    pairs = equal_pairs(samples, clear)
    if len(pairs) >= LEAST_PAIRS:
        agreement = pair_agreement(samples, pairs)
        what = f"{len(pairs)} pairs of clear targets of the same position"
    else:
        again = searched_again(evidence, samples, clear)
        if len(again) < LEAST_PAIRS:
            return unknown(
                name, f"of {len(clear)} clear targets too few have a position that is found again"
            )
        agreement = float(np.mean(again))
        what = f"{len(again)} clear targets and a new search of their positions"
    return verdict(
        name,
        agreement < LEAST_AGREEMENT,
        agreement,
        f"{what} agree by {agreement:.2f}, where chance is 0 and full agreement is 1",
        "Targets do not belong to their positions: check legal_actions and transform_action of a "
        "game of your own with `zermelo check GAME`; otherwise the shards were changed.",
    )


def searched_again(evidence: Evidence, samples: Samples, rows: Array) -> list[float]:
    """Of positions found again: the target's share of what a new search plays, beyond chance."""
    found: list[tuple[int, Any]] = []
    for each in Rediscovery(evidence.game, samples, evidence.moves).states(rows):
        found.append(each)
        if len(found) == MOST_SEARCHED:
            break
    if len(found) < LEAST_PAIRS:
        return []
    options = evidence.config.search.replace(threads=1, cache_mib=16)
    search = Search(evidence.game, evidence.evaluator, options)
    results = search.run_many([state for _, state in found], SIMULATIONS, seconds=SECONDS)
    starts, skills = samples.starts(), []
    for (row, state), result in zip(found, results, strict=True):
        actions = canonical_actions(evidence.game, state, result.best_action)
        entries = slice(starts[row], starts[row] + samples.policy_counts[row])
        listed = np.isin(samples.policy_actions[entries], actions)
        share = float(samples.policy_shares[entries][listed].sum()) / WHOLE_SHARE
        chance = len(actions) / int(samples.policy_counts[row])
        if chance < 1:
            skills.append((share - chance) / (1 - chance))
    return skills


def equal_pairs(samples: Samples, rows: Array) -> Array:
    """[n, 2] neighbours among equal positions."""
    if len(rows) < 2:
        return np.zeros((0, 2), np.int64)
    order, first = group(samples, rows, samples.starts())
    begins = np.zeros(len(order), np.bool_)
    begins[first] = True
    second = np.flatnonzero(~begins)
    pairs = np.stack([order[second - 1], order[second]], axis=1)
    if len(pairs) > MOST_PAIRS:
        pairs = pairs[np.random.default_rng(0).choice(len(pairs), MOST_PAIRS, replace=False)]
    return np.asarray(pairs)


def pair_agreement(samples: Samples, pairs: Array) -> float:
    """Overlap of two targets beyond that of one with the other shuffled; chance is 0, equal 1."""
    starts = samples.starts()
    overlap, chance = 0.0, 0.0
    for one, other in pairs:
        count = int(samples.policy_counts[one])
        p = samples.policy_shares[starts[one] : starts[one] + count] / WHOLE_SHARE
        q = samples.policy_shares[starts[other] : starts[other] + count] / WHOLE_SHARE
        overlap += float(np.minimum(p, q).sum())
        # The mean over all ways to shuffle: every action meets every other equally often.
        chance += float(np.minimum.outer(p, q).sum()) / count
    return (overlap - chance) / max(1e-9, len(pairs) - chance)


def collapse(evidence: Evidence) -> Finding:
    """Whether early positions have but one move, for the search and the network."""
    name = "collapse"
    samples, found = evidence.samples, evidence.trained
    if samples is None or found is None:
        return unknown(name, "there are no samples or no network")
    length = np.median(samples.plies.astype(np.int64) + samples.plies_left)
    early = is_full(samples)[found.rows] & (samples.policy_counts[found.rows] > 1)
    early &= samples.plies[found.rows] <= EARLY * length
    if early.sum() < LEAST_ROWS:
        return unknown(name, "there are too few positions of early play")
    some = found.take(early)
    targets = float((some.target_entropy / some.uniform).mean())
    own = float((some.entropy / some.uniform).mean())
    return verdict(
        name,
        max(targets, own) < COLLAPSED,
        own,
        f"early in games the network's policy has {own:.1%} of the entropy of a uniform one, "
        f"the search's targets {targets:.1%}",
        "The games show the network nothing but its own opinion. "
        f"{more_variety(evidence.config)} Raise train.policy_smoothing too.",
        targets=targets,
    )
