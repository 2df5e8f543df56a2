"""Makes an analysis engine for a game and its evaluator, searched as the network's makers do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zermelo.analysis.engine import AnalysisEngine
from zermelo.cores import available_cores
from zermelo.network.open import Opened


def make_engine(
    opened: Opened, given: Mapping[str, Any], simulations: int, threads: int | None = None
) -> AnalysisEngine:
    """The engine with these options of the search, values or texts, over the network's own.

    A thread per core unless a number is given.
    """
    return AnalysisEngine(
        opened.game,
        opened.evaluator,
        opened.searched(given),
        simulations=simulations,
        threads=threads or available_cores(),
    )
