"""Boards with searches that last, and patience for them."""

from __future__ import annotations

from typing import Any

from native_games import native

from zermelo.search import (
    LiveSearch,
    SearchOptions,
    UniformEvaluator,
)

CHESS = native("chess")


def chess_board(**options: Any) -> LiveSearch:
    settings = {"cache_mib": 0, "solver": False, "max_nodes": 300_000, **options}
    live = LiveSearch(CHESS, UniformEvaluator(), SearchOptions(**settings))
    live.follow(CHESS.initial())
    return live
