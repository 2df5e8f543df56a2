"""Checks whether the search adds anything to the network that it asks."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from zermelo.loop.health_evidence import Array, Evidence
from zermelo.loop.health_finding import Finding, unknown, verdict
from zermelo.search import Search

POSITIONS = 64
JUDGE_FACTOR = 8  # the judge's simulations for each of the search's
MOST_JUDGE = 1600
SECONDS = 20.0  # for the judge; a slow network is judged with what it managed
LEAST_DISAGREEMENTS = 8  # of search and raw policy; with fewer a judge says little
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
    chosen = [r.best_action for r in search.run_many(states, int(budget), seconds=SECONDS)]
    differ = sum(a != b for a, b in zip(raw, chosen, strict=True))
    if differ < LEAST_DISAGREEMENTS:
        return unknown(
            name, f"search and raw policy differ in only {differ} of {len(states)} positions"
        )
    most = min(MOST_JUDGE, JUDGE_FACTOR * int(budget))
    judged = search.run_many(states, max(most, 2 * int(budget)), seconds=SECONDS)
    agree_raw = float(np.mean([r.best_action == a for r, a in zip(judged, raw, strict=True)]))
    agree = float(np.mean([r.best_action == a for r, a in zip(judged, chosen, strict=True)]))
    return verdict(
        name,
        agree <= agree_raw < 0.9,
        agree - agree_raw,
        f"in {len(states)} positions a search of {most} simulations agrees with the run's search "
        f"of {budget:.0f} in {agree:.0%} and with the raw policy in {agree_raw:.0%}; the two "
        f"differ in {differ}",
        "The search adds nothing to the policy: raise selfplay.simulations, and see whether "
        "search.c_puct (1.5) or search.policy_temperature (1) were changed.",
        search=agree,
        raw=agree_raw,
    )


def played_positions(game: Any, evaluator: Any) -> tuple[list[Any], list[dict[int, float]]]:
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
