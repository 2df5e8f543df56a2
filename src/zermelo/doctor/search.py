"""Checks whether the search adds anything to the network that it asks."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np

from zermelo.doctor.evidence import Array, Evidence
from zermelo.doctor.finding import Finding, unknown, verdict
from zermelo.network import NetworkEvaluator
from zermelo.search import Search

POSITIONS = 64
JUDGE_FACTOR = 8  # the judge's simulations for each of the search's
MOST_JUDGE = 1600
SECONDS = 20.0  # for each search; a slow network is judged with what it managed
LEAST_DECIDED = 8  # disagreements of search and raw policy in which the judge sides with one
LEAST_WON = 0.6  # share of those that the search should win; healthy runs have far more
GOOD_POLICY = 0.9  # agreement with the judge of a policy that hardly needs a search
LONGEST = 400  # plies of a game that positions are taken from


def search_helps(evidence: Evidence) -> Finding:
    """Where search and raw policy differ, a far longer search should side with the search."""
    name = "search"
    if not evidence.checkpoints or not evidence.newest_headers:
        return unknown(name, "there is no checkpoint or no shard")
    budget = evidence.newest_headers[-1].statistics.get("budget")
    if not isinstance(budget, int | float) or budget < 1:
        return unknown(name, "no shard says how many simulations its searches had")
    states, priors = played_positions(evidence.game, evidence.evaluator)
    if len(states) < POSITIONS // 2:
        return unknown(name, f"only {len(states)} positions could be reached")
    options = evidence.config.search.replace(threads=1, cache_mib=32)
    search = Search(evidence.game, evidence.evaluator, options)
    raw = [max(prior, key=lambda action: prior[action]) for prior in priors]
    own = search.run_many(states, int(budget), seconds=SECONDS)
    if own[0].stop == "time":
        return unknown(name, f"{budget:.0f} simulations take too long in {len(states)} positions")
    most = max(min(MOST_JUDGE, JUDGE_FACTOR * int(budget)), 2 * int(budget))
    long = search.run_many(states, most, seconds=SECONDS)
    if long[0].stop == "time":  # all positions went on side by side
        most = max(result.root_visits for result in long) - 1
        if most < 2 * budget:
            return unknown(name, f"in {SECONDS:.0f} s a longer search gets only {most} simulations")
    chosen = [result.best_action for result in own]
    judged = [result.best_action for result in long]
    wins, losses = sided(judged, chosen, raw)
    decided = wins + losses
    if decided < LEAST_DECIDED:
        return unknown(
            name,
            f"in only {decided} of {len(states)} positions search and raw policy differ and a "
            "longer search sides with one of them",
        )
    agree_raw = float(np.mean([a == b for a, b in zip(judged, raw, strict=True)]))
    return verdict(
        name,
        adds_nothing(wins, losses) and agree_raw < GOOD_POLICY,
        wins / decided,
        f"where the run's search of {budget:.0f} simulations and the raw policy differ, a search "
        f"of up to {most} sides {wins} times with the search and {losses} times with the policy",
        "The search adds nothing to the policy: raise selfplay.simulations, and see whether "
        "search.c_puct (1.5) or search.policy_temperature (1) were changed.",
        raw=agree_raw,
    )


def sided(judged: list[int], chosen: list[int], raw: list[int]) -> tuple[int, int]:
    """How often the judge plays as the search and as the raw policy, where those two differ."""
    differ = [(j, c, r) for j, c, r in zip(judged, chosen, raw, strict=True) if c != r]
    return sum(j == c for j, c, _ in differ), sum(j == r for j, _, r in differ)


def adds_nothing(wins: int, losses: int) -> bool:
    """Whether the search wins clearly less than LEAST_WON: two standard errors are for chance."""
    decided = wins + losses
    return wins + 2 * math.sqrt(decided) / 2 < LEAST_WON * decided


def played_positions(
    game: Any, evaluator: NetworkEvaluator
) -> tuple[list[Any], list[dict[int, float]]]:
    """Positions of games that the raw policy plays, one of each, and its priors there."""
    chance = random.Random(0)
    states = [game.initial() for _ in range(POSITIONS)]
    lines: list[list[tuple[Any, dict[int, float]]]] = [[] for _ in states]
    going = list(range(POSITIONS))
    for _ in range(LONGEST):
        if not going:
            break
        planes = np.stack([np.asarray(game.observe(states[i]), np.float32) for i in going])
        logits, _ = evaluator(planes.reshape(len(going), *evaluator.architecture.observation_shape))
        still = []
        for i, row in zip(going, logits, strict=True):
            prior = legal_prior(row, list(game.legal_actions(states[i])))
            if len(prior) > 1:
                lines[i].append((states[i], prior))
            action = chance.choices(list(prior), list(prior.values()))[0]
            states[i] = game.play(states[i], action)
            if game.outcome(states[i]) is None:
                still.append(i)
        going = still
    picked = [chance.choice(line) for line in lines if line]
    return [state for state, _ in picked], [prior for _, prior in picked]


def legal_prior(logits: Array, actions: list[int]) -> dict[int, float]:
    """Softmax over the legal actions."""
    values = np.asarray(logits[actions], np.float64)
    shares = np.exp(values - values.max())
    return dict(zip(actions, (shares / shares.sum()).tolist(), strict=True))
