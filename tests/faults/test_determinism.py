"""The same seed, the same games and visits, however often."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np

import zermelo
from zermelo import _core
from zermelo.games.native import native_game
from zermelo.search import Limits, LiveSearch

Record = Callable[[str, object], None]
RUNS = 20


def games_of(seed: int) -> str:
    runner: Any = _core.make_selfplay(
        native_game(zermelo.game("connect4")),
        _core.HashEvaluator(1),
        _core.SearchOptions(),
        _core.SelfPlayOptions(games=4, simulations=16, seed=seed),
        None,
    )
    played = runner.play(150, 0.0, None)
    digest = hashlib.sha256()
    for name, column in sorted(played.items()):
        if isinstance(column, np.ndarray):
            digest.update(name.encode() + np.ascontiguousarray(column).tobytes())
    return digest.hexdigest()


def test_twenty_runs_of_a_seed_are_the_same(record_property: Record) -> None:
    assert len({games_of(7) for _ in range(RUNS)}) == 1
    assert games_of(8) != games_of(7)
    record_property("tried", RUNS)


def test_twenty_budgets_give_the_same_visits_after_a_new_game(record_property: Record) -> None:
    game: Any = zermelo.game("chess")
    live = LiveSearch(game, _core.HashEvaluator(1))
    for nodes in range(50, 50 + 37 * RUNS, 37):
        found = []
        for _ in range(2):
            live.forget()
            live.follow(game.initial(), turns=0)
            found.append(live.run(Limits(simulations=nodes)).visits.tolist())
        assert found[0] == found[1]
    record_property("tried", RUNS)
