"""Makes an analysis engine for a game and its evaluator, with a search that suits them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zermelo.analysis.engine import AnalysisEngine
from zermelo.cores import available_cores
from zermelo.games.protocol import Game
from zermelo.search import LOOSE_CACHE, SearchOptions

# With a network: mini-batches, and transpositions whatever came before them.
NETWORK_OPTIONS: dict[str, Any] = {"leaves_per_tree": 8, "batch": 64, **LOOSE_CACHE}
FILL = 8  # leaves in a batch of a network, if the boards have that many


def make_engine(
    rules: Game,
    evaluator: Any,
    given: Mapping[str, Any],
    simulations: int,
    threads: int | None = None,
) -> AnalysisEngine:
    """The engine with these options of the search, values or texts; a thread per core."""
    network = hasattr(evaluator, "architecture")
    options = SearchOptions(**(NETWORK_OPTIONS if network else {}) | dict(given))
    return AnalysisEngine(
        rules,
        evaluator,
        options,
        simulations=simulations,
        workers=threads or available_cores(),
        fill=FILL if network and "leaves_per_tree" not in given else 0,
    )
