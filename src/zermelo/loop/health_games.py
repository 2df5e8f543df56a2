"""Checks of the games that a run plays with itself."""

from __future__ import annotations

import numpy as np

from zermelo.loop.health_evidence import Array, Evidence
from zermelo.loop.health_finding import Finding, unknown, verdict
from zermelo.replay.dedup import hash_words
from zermelo.selfplay.resign import OFF, audits

LEAST_GAMES = 20
LEAST_SIMULATIONS = 8  # of any search
LEAST_GUMBEL = 4  # sequential halving does with fewer
LEAST_PER_ACTION = 0.5  # simulations for each legal action
LEAST_UNIQUE = 0.2  # different lines of a shard, as a share of its games
LEAST_OPENINGS = 6.0  # different positions, weighed by how often they come
OPENING_PLIES = range(2, 9)
MOST_ADJUDICATED = 0.2
MOST_DRAWS = 0.98
MOST_FALSE = 0.15  # share of noted resignations that would have been wrong
LEAST_NOTED = 10
SAFE_THRESHOLD = -0.5


def simulations(evidence: Evidence) -> Finding:
    """Whether a search is large enough to say more than its prior."""
    name = "simulations"
    headers = evidence.newest_headers
    budgets = [header.statistics.get("budget") for header in headers]
    known = [float(budget) for budget in budgets if isinstance(budget, int | float)]
    if not known:
        return unknown(name, "no shard says how many simulations its searches had")
    budget = known[-1]
    legal = sum(h.entries for h in headers) / sum(h.samples for h in headers)
    gumbel = bool(evidence.config.search.gumbel)
    least = LEAST_GUMBEL if gumbel else max(LEAST_SIMULATIONS, LEAST_PER_ACTION * legal)
    return verdict(
        name,
        budget < least,
        budget,
        f"a full search has {budget:.0f} simulations for {legal:.1f} legal actions",
        f"Set selfplay.simulations to {max(32, round(4 * legal))} or more, or set search.gumbel, "
        "which learns from few.",
        per_action=budget / legal,
    )


def resignation(evidence: Evidence) -> Finding:
    """Whether players give up games that they would not lose."""
    name = "resignation"
    thresholds = [header.statistics.get("resign_threshold", OFF) for header in evidence.headers]
    threshold = max((float(t) for t in thresholds), default=OFF)
    games, resigned = evidence.total("games"), evidence.total("resigned")
    if threshold <= OFF or not games:
        return verdict(name, False, 0.0, "nobody resigns", "")
    noted = [h for h in evidence.headers if h.statistics.get("resign_threshold", OFF) > OFF]
    values, results = audits(header.statistics for header in noted)
    low = values < threshold
    wrong = float((results[low] >= 0).mean()) if low.any() else 0.0
    share = resigned / games
    sentence = (
        f"{share:.1%} of the games end by resignation below {threshold:+.2f}, and of "
        f"{int(low.sum())} players below it who played on, {wrong:.1%} did not lose"
    )
    if low.sum() < LEAST_NOTED:
        sick = threshold > SAFE_THRESHOLD and share > 0
        if not sick:
            return unknown(name, f"only {int(low.sum())} players below the threshold played on")
    else:
        sick = wrong > max(MOST_FALSE, 2 * evidence.config.workers.resign_false_share)
    return verdict(
        name,
        sick,
        wrong,
        sentence,
        "Set selfplay.resign_calibrated on, or lower selfplay.resign_threshold to -0.9 or less "
        "(-1 is never).",
        threshold=threshold,
        resigned=share,
    )


def unique_games(evidence: Evidence) -> Finding:
    """Whether games differ from each other as a whole.

    A shard counts its different lines; the same line in two shards counts in both.
    """
    name = "unique games"
    headers = evidence.newest_headers
    games, unique = evidence.total("games", headers), evidence.total("unique_games", headers)
    if games < LEAST_GAMES:
        return unknown(name, f"the newest iteration has only {games:.0f} games")
    share = unique / games
    return verdict(
        name,
        share < LEAST_UNIQUE,
        share,
        f"the newest {games:.0f} games have {unique:.0f} different lines ({share:.1%}), counted "
        "within each shard",
        "Raise selfplay.temperature_start (1.3) and temperature_plies, search.dirichlet_epsilon "
        "(0.25), or selfplay.opening_share.",
    )


def diversity(evidence: Evidence) -> Finding:
    """Whether games leave the beaten track: how many positions stand for the openings."""
    name = "diversity"
    samples = evidence.samples
    if samples is None:
        return unknown(name, "there are no samples")
    newest = evidence.shard_iterations == evidence.shard_iterations.max()
    counts: dict[int, float] = {}
    most = 0
    for ply in OPENING_PLIES:
        rows = np.flatnonzero(newest & (samples.plies == ply))
        if len(rows) >= LEAST_GAMES:
            counts[ply] = effective_number(hash_words(samples.observations[rows]))
            most = max(most, len(rows))
    if not counts:
        return unknown(name, "the newest iteration has too few positions of its openings")
    ply = max(counts, key=lambda ply: counts[ply])
    return verdict(
        name,
        counts[ply] < min(LEAST_OPENINGS, most / 6),
        counts[ply],
        f"after {ply} plies the newest games stand in as many different positions as if "
        f"{counts[ply]:.1f} came equally often",
        "Raise selfplay.temperature_start (1.3) and temperature_plies, search.dirichlet_epsilon "
        "(0.25), or selfplay.opening_share with opening_plies.",
    )


def effective_number(keys: Array) -> float:
    """exp(entropy): how many kinds there are, were they equally frequent."""
    _, counts = np.unique(keys, return_counts=True)
    shares = counts / counts.sum()
    return float(np.exp(-(shares * np.log(shares)).sum()))


def endings(evidence: Evidence) -> Finding:
    """Whether games come to an end by their rules."""
    name = "endings"
    games = evidence.total("games")
    if games < LEAST_GAMES:
        return unknown(name, f"the window has only {games:.0f} games")
    share = evidence.total("adjudicated") / games
    plies = evidence.total("plies") / games
    longest = evidence.config.selfplay.max_plies
    return verdict(
        name,
        share > MOST_ADJUDICATED,
        share,
        f"{share:.1%} of the games are cut off after {longest} plies; the mean is {plies:.0f}",
        "Raise selfplay.max_plies, or let the rules end games that repeat themselves; "
        "search.turn_discount below 1 makes quick wins worth more.",
        plies=plies,
    )


def draws(evidence: Evidence) -> Finding:
    """Whether anybody ever wins."""
    name = "draws"
    games = evidence.total("games")
    if games < LEAST_GAMES:
        return unknown(name, f"the window has only {games:.0f} games")
    share = evidence.total("draws") / games
    return verdict(
        name,
        share > MOST_DRAWS,
        share,
        f"{share:.1%} of the games are drawn",
        "Nothing is learned from draws alone: raise the temperature and the noise; if games are "
        "cut off, raise selfplay.max_plies or set selfplay.adjudicate to material.",
    )
