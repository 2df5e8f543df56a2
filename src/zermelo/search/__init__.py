"""The search: `Search(game, evaluator, SearchOptions(...)).run(state, simulations=800)`."""

from zermelo._core import EvaluationCache, RolloutEvaluator, SearchOptions, UniformEvaluator
from zermelo.evaluator import Evaluator
from zermelo.search.limits import Limits
from zermelo.search.live import LiveSearch
from zermelo.search.result import ActionRow, Certain, SearchResult
from zermelo.search.search import Search

__all__ = [
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
