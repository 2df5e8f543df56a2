"""Checks of the games that a run plays with itself."""

from __future__ import annotations

import math

import numpy as np

from zermelo.doctor.evidence import LEAST_GAMES, Evidence
from zermelo.doctor.finding import Finding, more_variety, unknown, verdict
from zermelo.doctor.random_games import OPENING_PLIES, effective_number
from zermelo.replay.dedup import hash_words
from zermelo.runs.status import number
from zermelo.selfplay.resign import OFF, audits

LEAST_SIMULATIONS = 8  # of any search
LEAST_GUMBEL = 4  # sequential halving does with fewer
LEAST_PER_ACTION = 0.5  # simulations for each legal action
LEAST_UNIQUE = 0.2  # different lines of a shard, as a share of those that random games have
FEW_LINES = 0.5  # random games with fewer different lines leave nothing to compare
LEAST_OPENINGS = 6.0  # different positions, weighed by how often they come
RANDOM_PART = 4  # of random games' positions, so large a part is enough
MOST_ADJUDICATED = 0.2
MOST_DRAWS = 0.98
CUT_OFF = 0.5  # share of games; if more are cut off, draws come from that
DECISIVE = 0.9  # share of draws below which an iteration had winners
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
    other = "" if gumbel else ", or set search.gumbel, which learns from few"
    return verdict(
        name,
        budget < least,
        budget,
        f"a full search has {budget:.0f} simulations for {legal:.1f} legal actions",
        f"Set selfplay.simulations to {max(32, round(4 * legal))} or more{other}.",
        per_action=budget / legal,
    )


def resignation(evidence: Evidence) -> Finding:
    """Whether players give up games that they would not lose, at the threshold in force."""
    name = "resignation"
    newest = evidence.newest_headers
    if not newest:
        return unknown(name, "there are no shards")
    latest = max(newest, key=lambda header: header.iterations[1])  # by the newest network
    threshold = float(latest.statistics.get("resign_threshold", OFF))
    if threshold <= OFF:
        return verdict(name, False, 0.0, "nobody resigns", "")
    on = [h for h in evidence.headers if h.statistics.get("resign_threshold", OFF) > OFF]
    values, results = audits(header.statistics for header in on)
    low = values < threshold
    noted = int(low.sum())
    wrong = float((results[low] >= 0).mean()) if noted else 0.0
    share = evidence.total("resigned", newest) / max(1.0, evidence.total("games", newest))
    sentence = (
        f"{share:.1%} of the newest games end by resignation below {threshold:+.2f}, and of "
        f"{noted} players below it who played on, {wrong:.1%} did not lose"
    )
    # A calibrated threshold had its noted games when it was set; a high one of one's own had none,
    # so chance is no excuse for it.
    calibrated = evidence.config.pool.resign_calibrated
    reckless = not calibrated and threshold > SAFE_THRESHOLD and share > 0
    if noted < LEAST_NOTED:
        if not reckless:
            return unknown(name, f"only {noted} players below the threshold played on")
        sick = True
    else:
        limit = max(MOST_FALSE, 2 * evidence.config.pool.resign_false_share)
        chance = 0.0 if reckless else 2 * math.sqrt(max(0.0, limit * (1 - limit)) / noted)
        sick = wrong > limit + chance
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
    share, per_shard = unique / games, games / len(headers)
    usual = evidence.random_games.unique_share(per_shard)
    if usual < FEW_LINES:
        return unknown(
            name,
            f"the game is small: of {per_shard:.0f} random games about {usual:.0%} have different "
            "lines",
        )
    return verdict(
        name,
        share < LEAST_UNIQUE * usual,
        share,
        f"the newest {games:.0f} games have {unique:.0f} different lines ({share:.1%}), counted "
        "within each shard",
        more_variety(evidence.config),
        random=usual,
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
            counts[ply] = effective_number(hash_words(samples.observations[rows]).tolist())
            most = max(most, len(rows))
    if not counts:
        return unknown(name, "the newest iteration has too few positions of its openings")
    ply = max(counts, key=lambda ply: counts[ply])
    usual = max(evidence.random_games.positions.values(), default=math.inf)
    return verdict(
        name,
        counts[ply] < min(LEAST_OPENINGS, most / 6, usual / RANDOM_PART),
        counts[ply],
        f"after {ply} plies the newest games stand in as many different positions as if "
        f"{counts[ply]:.1f} came equally often",
        more_variety(evidence.config),
        random=usual,
    )


def endings(evidence: Evidence) -> Finding:
    """Whether games come to an end by their rules."""
    name = "endings"
    headers = evidence.judged_headers
    games = evidence.total("games", headers)
    if games < LEAST_GAMES:
        return unknown(name, f"the window has only {games:.0f} games")
    share = evidence.total("adjudicated", headers) / games
    plies = evidence.total("plies", headers) / games
    longest = evidence.config.selfplay.max_plies
    return verdict(
        name,
        share > MOST_ADJUDICATED,
        share,
        f"{share:.1%} of the newest {games:.0f} games are cut off after {longest} plies; the mean "
        f"is {plies:.0f}",
        "Raise selfplay.max_plies, or let the rules end games that repeat themselves; "
        "search.turn_discount below 1 makes quick wins worth more.",
        plies=plies,
    )


def draws(evidence: Evidence) -> Finding:
    """Whether anybody ever wins; a game that good players draw is well once somebody did."""
    name = "draws"
    headers = evidence.judged_headers
    games = evidence.total("games", headers)
    if games < LEAST_GAMES:
        return unknown(name, f"the window has only {games:.0f} games")
    share = evidence.total("draws", headers) / games
    cut_off = evidence.total("adjudicated", headers) / games
    before = (number(entry, "selfplay", "draw_share") for entry in evidence.metrics)
    decisive = any(drawn is not None and drawn < DECISIVE for drawn in before)
    sentence = f"{share:.1%} of the newest {games:.0f} games are drawn"
    if share > MOST_DRAWS and cut_off > CUT_OFF:
        sentence += f", {cut_off:.1%} because they are cut off"
    elif share > MOST_DRAWS and decisive:
        sentence += ", but earlier ones were not: good play may be a draw in this game"
    elif share > MOST_DRAWS:
        sentence += f", and no iteration had fewer than {DECISIVE:.0%}"
    return verdict(
        name,
        share > MOST_DRAWS and (cut_off > CUT_OFF or not decisive),
        share,
        sentence,
        f"Nothing is learned from draws alone. {more_variety(evidence.config)} If games are cut "
        "off, raise selfplay.max_plies or set selfplay.adjudicate to material.",
        cut_off=cut_off,
    )
