"""What draws a search to the end of the game: proof numbers (S29) and plies left (S10).

Both are off by default and only change what selection compares. As in `puct.py`, the order of
additions counts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from zermelo.reference.options import Options

if TYPE_CHECKING:
    from zermelo.reference.puct import Node

NEVER = 2**32 - 1  # of a win that cannot be


def proof_number(child: Node, mover: int, winner: int) -> int:
    """S29: how many unknown positions must at least be won to prove that `winner` wins.

    `mover` moves at the child's parent.
    """
    if child.certain:
        return 0 if child.certain.result == (1 if winner == mover else -1) else NEVER
    return child.proofs[winner]


def count_proofs(node: Node, mover: int) -> None:
    """S29: both numbers of an expanded node anew.

    The winner needs one of his own actions, but all of the other player's.
    """
    if node.certain or not node.children:
        return
    node.proofs[mover] = min(proof_number(child, mover, mover) for child in node.children)
    others = [proof_number(child, mover, 1 - mover) for child in node.children]
    node.proofs[1 - mover] = NEVER if NEVER in others else min(sum(others), NEVER - 1)


def plies_left(node: Node) -> float:
    """S10: until the end of the game, the mean of what was backed up."""
    return node.certain.distance if node.certain else node.plies / node.visits


def hurry(q: float, later: float, options: Options) -> float:
    """S10: what an action with this Q gains because it ends the game so many plies later."""
    threshold, cap = options.moves_left_threshold, options.moves_left_cap
    weight = max(0.0, (abs(q) - threshold) / (1.0 - threshold))
    effect = weight * min(max(options.moves_left_slope * later, -cap), cap)
    return -effect if q > 0 else effect


def drawn_to_end(
    node: Node, mover: int, mover_is_chooser: bool, options: Options
) -> Callable[[Node, float], float]:
    """What makes of a child's Q that which selection compares; `mover` moves at `node`."""
    value = node.value_sum / node.visits if node.visits else 0.0
    if not mover_is_chooser:
        value = -value
    tried = [c for c in node.children if c.visits and not (c.certain and c.certain.result < 0)]
    nearest = NEVER
    if options.proof_weight > 0 and value > options.proof_threshold:
        nearest = min((proof_number(c, mover, mover) for c in tried), default=NEVER)

    def changed(child: Node, q: float) -> float:
        if not child.visits:
            return q
        if options.moves_left_slope > 0 and node.visits:
            q += hurry(q, 1.0 + plies_left(child) - plies_left(node), options)
        needed = proof_number(child, mover, mover)
        if nearest > 0 and NEVER not in (needed, nearest):
            q += options.proof_weight * (nearest / needed)
        return q

    return changed
