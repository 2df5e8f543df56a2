"""What newer engines added to the formulas of `puct.py`, one function each; all are off by default.

Owns what an option makes of a node's numbers: priors of the root, exploration, first play. Knows no
game and no simulation. As in `puct.py`, the order of additions counts.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zermelo.reference.puct import Node, Options

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


def imputed_value(node: Node, child: Node, parent: float, options: Options) -> float:
    """S26: an action that was never tried is worth more than its parent if its prior says so."""
    if options.fpu_slope == 0:
        return parent
    middle = added([c.prior * log_prior(c.prior) for c in node.children])
    value = parent + options.fpu_slope * (log_prior(child.prior) - middle)
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
