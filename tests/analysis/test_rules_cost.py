"""What `check` says that the rules cost, whatever else the machine does meanwhile."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

import zermelo
from zermelo.analysis import rules_cost as room
from zermelo.analysis.rules_cost import rules_cost

EXAMPLE = str(Path(__file__).parents[2] / "examples" / "my_game.py")


def test_waiting_for_a_busy_machine_is_no_methods_cost() -> None:
    game: Any = zermelo.game(EXAMPLE)
    player = game.player
    calls = 0

    def interrupted(state: Any) -> int:
        nonlocal calls
        calls += 1
        if calls % 20 == 0:
            time.sleep(0.002)  # as where another process has the processor
        return int(player(state))

    game.player = interrupted
    found = rules_cost(game, seconds=0.2)
    costs = {method.name: method for method in found.methods}
    assert costs["player"].microseconds < 30
    assert found.share <= 1 + 1e-9
    assert "player() takes" not in found.advice


def test_shares_never_add_up_to_more_than_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    def speeds() -> Any:
        yield from ((4000.0, 0.1), (1000.0, 0.2))  # as if the machine had been busier when timed

    measured, search = speeds(), room._search

    def uneven(game: Any, seconds: float) -> tuple[float, float]:
        search(game, 0.05)
        return next(measured)  # type: ignore[no-any-return]

    monkeypatch.setattr(room, "_search", uneven)
    monkeypatch.setattr(room, "_overhead", lambda: -1e-3)  # seconds: every method is dear
    found = rules_cost(zermelo.game(EXAMPLE))
    assert sum(method.share for method in found.methods) == pytest.approx(1)
