"""How far the processor network's integers are from the real numbers that were trained.

    python benchmarks/rounding.py RUN|CHECKPOINT [--positions 2000] [--json]

A checkpoint keeps the numbers as they are trained; the network that plays has each of them rounded
to its layer's unit, and rounds every activation. Both judge positions of games whose moves are
drawn from the network's own policy. Training already sees the rounding, so what is shown is not a
loss of strength: it says how coarse the units are.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

from zermelo.errors import UserError
from zermelo.games.registry import named_game
from zermelo.network import NetworkEvaluator, load_network
from zermelo.network.accuracy import difference
from zermelo.network.places import network_path
from zermelo.network.positions import sample_positions
from zermelo.network.sparse.module import SparseModule
from zermelo.network.sparse.unrounded import Unrounded
from zermelo.train.origin import Origin


def measure(reference: str, count: int, seed: int = 0) -> dict[str, Any]:
    """Policy, value and first choice of the integers against the numbers as trained."""
    weights = load_network(network_path(reference))
    game = named_game(weights.architecture.game)
    origin, weights = Origin.find(reference, game)
    network = origin.network(game)
    if not isinstance(network, SparseModule):
        raise UserError(f"{origin.title}: it is a tower, which has no integers")
    evaluator = NetworkEvaluator(weights, game=game)
    positions = sample_positions(game, count, seed, evaluator)
    found = difference(Unrounded(network), evaluator, game, positions)
    return {"network": origin.title, "sha256": origin.sha256, **found.to_dict(), "text": str(found)}


def main() -> None:
    """Prints a sentence, or one JSON object."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("network", help="a run or a checkpoint")
    parser.add_argument("--positions", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    given = parser.parse_args()
    found = measure(given.network, given.positions, given.seed)
    print(json.dumps(found) if given.json else f"{found['network']}: {found['text']}")


if __name__ == "__main__":
    main()
