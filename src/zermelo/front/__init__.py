"""The front door for programs: what `import zermelo` offers, opened when it is first asked for.

A thin room on top of the others: puts them together, decides nothing about search or training.
"""

from zermelo.front.loading import load
from zermelo.front.picture import Picture, draw
from zermelo.front.player import Evaluation, LoadedPlayer, Played
from zermelo.front.run import SelfPlayGame, TrainingRun
from zermelo.front.table import MetricsTable
from zermelo.front.training import train
from zermelo.search import (
    RolloutEvaluator,
    Search,
    SearchOptions,
    SearchResult,
    UniformEvaluator,
)
from zermelo.testing import check_game

__all__ = [
    "Evaluation",
    "LoadedPlayer",
    "MetricsTable",
    "Picture",
    "Played",
    "RolloutEvaluator",
    "Search",
    "SearchOptions",
    "SearchResult",
    "SelfPlayGame",
    "TrainingRun",
    "UniformEvaluator",
    "check_game",
    "draw",
    "load",
    "train",
]
