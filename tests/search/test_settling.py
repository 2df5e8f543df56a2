"""P9: a search ends when its visits no longer shift, and says what it saved."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from native_games import native

from zermelo import _core
from zermelo.search import Search, SearchOptions
from zermelo.testing import HashEvaluator

pytestmark = pytest.mark.technique("P9")
GAME: Any = native("connect4")
BUDGET = 600


def made(**options: Any) -> Search:
    given = {"cache_mib": 0, "solver": False, **options}
    return Search(GAME, HashEvaluator(3), SearchOptions(**given))


def gains(interval: int) -> list[float]:
    """Of every look at one search without an early end, by the definition."""
    shares = []
    for done in range(interval, BUDGET + 1, interval):
        visits = np.array(made().run(GAME.initial(), simulations=done).visits, float)
        shares.append(visits / visits.sum())
    return [
        float(np.sum(old[old > 0] * np.log(old[old > 0] / new[old > 0]))) / interval
        for old, new in itertools.pairwise(shares)
    ]


@pytest.mark.parametrize("interval", [10, 40])
def test_a_search_ends_at_the_first_look_at_which_it_gained_less(interval: int) -> None:
    found = gains(interval)
    for bound in (found[1] * 1.01, found[4] * 1.01, found[8] * 1.01):
        looks = 2 + next(i for i, gain in enumerate(found) if gain < bound)
        result = made(stop_gain=bound, stop_interval=interval, stop_minimum=1).run(
            GAME.initial(), simulations=BUDGET
        )
        assert result.counters["simulations"] == looks * interval
        assert result.counters["saved"] == BUDGET - looks * interval
        assert result.stop == "settled"


def test_no_search_ends_before_the_minimum_and_none_without_a_bound() -> None:
    eager = made(stop_gain=1.0, stop_interval=10, stop_minimum=95)
    result = eager.run(GAME.initial(), simulations=BUDGET)
    assert (result.counters["simulations"], result.counters["saved"]) == (100, BUDGET - 100)
    patient = made(stop_interval=10, stop_minimum=1).run(GAME.initial(), simulations=BUDGET)
    assert (patient.counters["simulations"], patient.counters["saved"]) == (BUDGET, 0)
    assert patient.stop == ""


def test_a_kept_tree_is_known_but_its_visits_do_not_count_for_the_minimum() -> None:
    search = made(stop_gain=1.0, stop_interval=10, stop_minimum=30)
    search.run(GAME.initial(), simulations=BUDGET)
    again = search.run(GAME.initial(), simulations=BUDGET)
    assert again.counters["simulations"] == 30
    first_look = made(stop_gain=1.0, stop_interval=10, stop_minimum=1)
    first_look.run(GAME.initial(), simulations=BUDGET)
    assert first_look.run(GAME.initial(), simulations=BUDGET).counters["simulations"] == 10


def test_an_unlimited_search_ends_too_and_counts_nothing_as_saved() -> None:
    result = made(stop_gain=1.0, stop_interval=10).run(GAME.initial(), seconds=60)
    assert (result.stop, result.counters["saved"]) == ("settled", 0)


def test_the_plan_of_a_gumbel_root_is_kept() -> None:
    search = made(stop_gain=1.0, stop_interval=5, stop_minimum=1, gumbel=True)
    assert search.run(GAME.initial(), simulations=64).counters["simulations"] == 64


def test_threads_on_one_board_end_together_and_the_tree_stays_sound() -> None:
    search = made(
        stop_gain=1.0, stop_interval=50, stop_minimum=200, threads=4, leaves_per_tree=4, solver=True
    )
    result = search.run(GAME.initial(), simulations=100_000)
    assert result.stop == "settled"
    assert 200 <= result.counters["simulations"] < 2000
    assert result.counters["saved"] > 90_000
    search.check_invariants()


def test_each_of_many_boards_ends_by_its_own_visits() -> None:
    options = {"stop_gain": 0.0004, "stop_interval": 20, "stop_minimum": 40}
    states = [GAME.initial()]
    for action in (3, 3, 2, 4, 2):
        states.append(GAME.play(states[-1], action))
    together = made(**options).run_many(states, simulations=BUDGET)
    alone = [made(**options).run(state, simulations=BUDGET) for state in states]
    assert [list(r.visits) for r in together] == [list(r.visits) for r in alone]
    assert len({r.root_visits for r in together}) > 1
    assert sum(r.counters["saved"] for r in together) == sum(r.counters["saved"] for r in alone)


def test_self_play_spends_less_and_counts_it() -> None:
    def statistics(**options: Any) -> dict[str, Any]:
        search = SearchOptions(cache_mib=0, solver=False, **options)
        chosen = _core.SelfPlayOptions(
            games=4, simulations=80, full_search_probability=1.0, opening_share=0.0, seed=5
        )
        runner: Any = _core.make_selfplay(GAME, HashEvaluator(3), search, chosen, None)
        found: dict[str, Any] = runner.play(120)["statistics"]
        return found

    usual = statistics()
    assert usual["saved_simulations"] == 0
    settled = statistics(stop_gain=1.0, stop_interval=20, stop_minimum=20)
    searches = settled["full_searches"]
    assert settled["simulations"] < 45 * searches
    # What is saved and what is done are the budgets, but for searches still under way.
    done = settled["simulations"] + settled["saved_simulations"]
    assert math.isclose(done, 80 * searches, abs_tol=4 * 80)
