"""The search: `Search(game, evaluator, SearchOptions(...)).run(state, simulations=800)`."""

from zermelo._core import EvaluationCache, RolloutEvaluator, SearchOptions, UniformEvaluator
from zermelo.search.evaluator import Evaluator
from zermelo.search.limits import Limits
from zermelo.search.live import LiveSearch
from zermelo.search.result import ActionRow, Certain, SearchResult
from zermelo.search.search import Search

# Transpositions share an evaluation whatever came before them, as in lc0: the network would see
# another past, but almost always judge the same.
LOOSE_CACHE = {"cache_history": False, "cache_clock": False}

__all__ = [
    "LOOSE_CACHE",
    "ActionRow",
    "Certain",
    "EvaluationCache",
    "Evaluator",
    "Limits",
    "LiveSearch",
    "RolloutEvaluator",
    "Search",
    "SearchOptions",
    "SearchResult",
    "UniformEvaluator",
]
