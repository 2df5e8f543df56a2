"""Looking into a tree: the actions of a node as selection sees them."""

from __future__ import annotations

import pytest

from zermelo import game
from zermelo.search import Search, SearchOptions, SearchResult
from zermelo.testing import HashEvaluator

CONNECT4 = game("connect4")


def searched(simulations: int = 200) -> tuple[Search, SearchResult]:
    search = Search(CONNECT4, HashEvaluator(7).native, SearchOptions(fpu="reduced"))
    return search, search.run(CONNECT4.initial(), simulations)


def test_the_root_has_the_figures_of_the_result() -> None:
    search, result = searched()
    place = search.look()
    assert place is not None
    found = {child.action: child for child in place.children}
    for action, visits, q, prior in zip(
        result.actions, result.visits, result.q, result.prior, strict=True
    ):
        assert found[action].visits == visits
        assert found[action].q == pytest.approx(q)
        assert found[action].prior == pytest.approx(prior)
    assert place.visits == result.root_visits


def test_the_chosen_action_is_the_one_that_the_next_simulation_visits() -> None:
    search, _ = searched()
    for _ in range(50):
        before = search.look()
        assert before is not None
        chosen = before.children[before.chosen]
        assert chosen.q + chosen.u == max(child.q + child.u for child in before.children)
        search.run(CONNECT4.initial(), 1)
        after = search.look()
        assert after is not None
        assert after.children[before.chosen].visits == chosen.visits + 1


def test_a_path_leads_down_and_ends_where_the_tree_does() -> None:
    search, _ = searched()
    root = search.look()
    assert root is not None
    path: list[int] = []
    place = root
    while place.children:
        best = max(place.children, key=lambda child: child.visits)
        path.append(best.action)
        below = search.look(path)
        if best.visits == 0:
            assert below is None or below.visits == 0
            break
        assert below is not None
        assert below.visits == best.visits
        place = below
    assert len(path) > 2


def test_a_listener_may_look_while_the_search_runs_and_nobody_else() -> None:
    search = Search(CONNECT4, HashEvaluator(7).native)
    seen: list[int] = []

    def progress(_: SearchResult) -> None:
        place = search.look()
        if place is not None:
            seen.append(place.visits)
            search.stop()

    search.run(CONNECT4.initial(), seconds=20.0, progress=progress)
    assert seen
