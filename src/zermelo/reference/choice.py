"""What is played after a search: the last lines of the reference's page."""

from __future__ import annotations

from zermelo.reference.options import Options
from zermelo.reference.puct import Node
from zermelo.reference.refinements import lower_bound


def best_action(root: Node, options: Options | None = None) -> int:
    """What is played: a certain win by the shortest way, else the most visits (S11, S20).

    S23: or, of the actions with enough visits, the one that is surely the best.
    """
    options = options or Options()

    def rank(child: Node) -> tuple[int, float, int]:
        if child.certain and child.certain.result > 0:
            return (2, -child.certain.distance, child.visits)
        if child.certain and child.certain.result < 0:
            return (0, child.certain.distance, child.visits)
        return (1, child.visits, 0)

    best = max(root.children, key=rank)
    enough = max(options.lcb_visit_share * best.visits, options.lcb_min_visits)
    if options.lcb_z > 0 and best.visits >= enough and rank(best)[0] == 1:
        for child in root.children:
            tried = child.visits >= enough and rank(child)[0] == 1
            if tried and lower_bound(child, options) > lower_bound(best, options):
                best = child
    return best.action
