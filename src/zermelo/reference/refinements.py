"""What newer engines added to the formulas of `puct.py`, one function each; all are off by default.

Owns what an option makes of a node's numbers: priors of the root, exploration, first play, backup,
final choice. Knows no game and no simulation. As in `puct.py`, the order of additions counts.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING

from zermelo.reference.options import Options

if TYPE_CHECKING:
    from zermelo.reference.puct import Node

LEAST_PRIOR = 2.0**-32  # below every prior that the tree keeps


def tempered(priors: Sequence[float], options: Options) -> list[float]:
    """S27: the root's priors with a policy temperature of its own, best first."""
    if not options.policy_temperature_root:
        return list(priors)
    power = options.policy_temperature / options.policy_temperature_root
    if power == 1.0 or priors[0] == 0.0:
        return list(priors)
    weights = [(prior / priors[0]) ** power for prior in priors]
    total = added(weights)
    return [stored_prior(weight / total) for weight in weights]


def impurity_factor(node: Node, options: Options) -> float:
    """S28: more exploration where the prior is sure of itself."""
    if options.impurity_slope == 0:
        return 1.0
    impurity = 1.0 - added([child.prior * child.prior for child in node.children])
    grown = options.impurity_base - options.impurity_slope * math.log(impurity + 0.001)
    return min(options.impurity_most, grown)


def value_variance(node: Node, options: Options) -> float:
    """S23, S24: of the values backed up, with some visits of the expected deviation added."""
    expected = options.spread_prior * options.spread_prior
    weight = node.visits + options.spread_prior_visits
    if weight == 0:
        return expected
    q = node.value_sum / node.visits if node.visits else 0.0
    seen = max(0.0, node.squares - node.visits * q * q)
    return (seen + options.spread_prior_visits * expected) / weight


def spread_factor(node: Node, options: Options) -> float:
    """S24: more exploration where values differ."""
    if options.spread_weight == 0:
        return 1.0
    sigma = math.sqrt(value_variance(node, options))
    return 1.0 + options.spread_weight * (sigma / options.spread_prior - 1.0)


def lower_bound(child: Node, options: Options) -> float:
    """S23: Q less some deviations of the mean; a certain value is what it is."""
    q = child.q(options.turn_discount, options.draw_score)
    if child.certain:
        return q
    return q - options.lcb_z * math.sqrt(value_variance(child, options) / child.visits)


def regularised_sum(node: Node, flips: bool, options: Options, draw: float) -> float:
    """S25: the value sum of a node that is visited once more, from its actions' values.

    They are those of the policy pi = lambda p / (alpha - q), which lies between the prior and the
    best action; alpha makes it sum to 1. An action's value is drawn towards what S26 imputes.
    """
    sign = -1.0 if flips else 1.0
    visits = node.visits + 1
    parent = sign * node.value_sum / node.visits if node.visits else 0.0
    middle = added([c.network_prior * log_prior(c.network_prior) for c in node.children])
    actions: list[tuple[float, float]] = []  # prior and value for the player to move here
    for child in node.children:
        q = imputed(child.network_prior, middle, parent, options)
        if child.certain:
            q = options.turn_discount * child.q(options.turn_discount, draw)
        elif child.visits:
            weight = child.visits + options.backup_shrinkage
            q = (options.turn_discount * child.value_sum + options.backup_shrinkage * q) / weight
        if child.network_prior > 0:
            actions.append((child.network_prior, q))
    below = sum(child.visits for child in node.children)
    value = 0.0
    if below:
        scale = max(options.c_puct * math.sqrt(visits) / (visits + 1.0), 1e-6)
        value = regularised_value(actions, scale)
    mean = min(max((below * value + node.own_sum) / visits, -1.0), 1.0)
    return sign * mean * visits


def regularised_value(actions: list[tuple[float, float]], scale: float) -> float:
    """What pi is worth; Newton's steps begin where its sum is 1 or more, left of alpha."""
    alpha = max(q + scale * prior for prior, q in actions)
    for _ in range(12):
        gaps = [max(alpha - q, 1e-12) for _, q in actions]
        total = added([scale * prior / gap for (prior, _), gap in zip(actions, gaps, strict=True)])
        slope = added(
            [scale * prior / (gap * gap) for (prior, _), gap in zip(actions, gaps, strict=True)]
        )
        alpha += (total - 1.0) / slope
        if abs(total - 1.0) < 1e-9:
            break
    policy = [scale * prior / max(alpha - q, 1e-12) for prior, q in actions]
    worth = added([pi * q for pi, (_, q) in zip(policy, actions, strict=True)])
    return worth / added(policy)


def imputed_value(node: Node, child: Node, parent: float, options: Options) -> float:
    """S26: an action that was never tried is worth more than its parent if its prior says so."""
    middle = added([c.prior * log_prior(c.prior) for c in node.children])
    return imputed(child.prior, middle, parent, options)


def imputed(prior: float, middle: float, parent: float, options: Options) -> float:
    """A parent's value moved by how far ln p is from its mean."""
    if options.fpu_slope == 0:
        return parent
    value = parent + options.fpu_slope * (log_prior(prior) - middle)
    return min(max(value, -1.0), 1.0)


def log_prior(prior: float) -> float:
    """Ln p, also where p is 0."""
    return math.log(max(prior, LEAST_PRIOR))


def added(numbers: Sequence[float]) -> float:
    """Their sum from left to right; newer Pythons' `sum` rounds otherwise."""
    total = 0.0
    for number in numbers:
        total += number
    return total


def stored_prior(probability: float) -> float:
    """A prior as the tree keeps it, in 13 bits: an exponent of 5 bits and a mantissa of 8.

    The range is 2**-31 to 1, rounded to nearest; anything smaller is 0.
    """
    (bits,) = struct.unpack("<I", struct.pack("<f", probability))
    code = max(0, bits + (1 << 14) - (96 << 23)) >> 15
    if code == 0:
        return 0.0
    (value,) = struct.unpack("<f", struct.pack("<I", (code << 15) + (96 << 23)))
    return float(value)
