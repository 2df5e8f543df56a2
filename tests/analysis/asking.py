"""An engine is asked, and its answers are collected."""

from __future__ import annotations

from typing import Any

from native_games import native

from zermelo.analysis.engine import AnalysisEngine
from zermelo.search import SearchOptions
from zermelo.testing import HashEvaluator

CONNECT4 = native("connect4")
Answer = dict[str, Any]


def plain(**options: Any) -> SearchOptions:
    return SearchOptions(**{"cache_mib": 0, **options})


def ask(
    *requests: Any, game: Any = CONNECT4, evaluator: Any = None, **settings: Any
) -> list[Answer]:
    settings = {"simulations": 60, "options": plain(), **settings}
    with AnalysisEngine(game, evaluator or HashEvaluator(), **settings) as engine:
        for request in requests:
            engine.submit(request)
        engine.finish()
        return list(engine.answers())
