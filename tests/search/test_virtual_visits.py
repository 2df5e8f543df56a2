"""S22: descents in flight as visits that do not change Q, and a cap on descents that collide."""

import math

import numpy as np
import pytest
from native_games import native
from small_trees import TableEvaluator, TreeGame

from zermelo.search import Search, SearchOptions
from zermelo.testing import HashEvaluator

PRIORS = np.array([0.4, 0.3, 0.15, 0.1, 0.05])


def first_batch(kind: str, virtual_loss: int, max_collisions: int) -> tuple[list[int], list[int]]:
    """The root actions of the first batch: what was evaluated, and what the definition says."""
    game = TreeGame([2] * 5)
    evaluator = TableEvaluator(game, policies={(): PRIORS.tolist()})
    options = SearchOptions(
        leaves_per_tree=16,
        virtual_loss=virtual_loss,
        virtual_loss_kind=kind,
        max_collisions=max_collisions,
        solver=False,
        cache_mib=0,
    )
    search = Search(game, evaluator, options)
    stored = search.run((), simulations=0).prior
    search.run((), simulations=16)
    search.check_invariants()
    found = [path[0] for path in evaluator.asked[1 : 1 + evaluator.batches[1]]]

    flights = np.zeros(5)
    expected: list[int] = []
    collisions = 0
    while collisions < max_collisions and len(expected) < 16:
        visits = virtual_loss * flights
        q = np.where(flights > 0, -1.0 if kind == "loss" else 0.0, 0.0)  # first play is 0
        u = float(options.c_puct) * stored * math.sqrt(visits.sum()) / (1 + visits)
        index = int(np.argmax(q + u))
        if index in expected:
            collisions += 1
        else:
            expected.append(index)
        flights[index] += 1
    return found, expected


@pytest.mark.technique("S22")
@pytest.mark.parametrize("max_collisions", [1, 2, 6, 40])
@pytest.mark.parametrize("virtual_loss", [1, 3])
@pytest.mark.parametrize("kind", ["loss", "visit"])
def test_the_first_batch_is_what_the_definition_says(
    kind: str, virtual_loss: int, max_collisions: int
) -> None:
    found, expected = first_batch(kind, virtual_loss, max_collisions)
    assert found == expected


@pytest.mark.technique("S22")
def test_virtual_visits_leave_a_good_action_good_while_it_is_in_flight() -> None:
    # Eight descents at once below one good action: seen as losses they drive the search away.
    shares = {}
    for kind in ("loss", "visit"):
        game = TreeGame([6] * 6)
        evaluator = TableEvaluator(game, lambda path: -0.8 if path[:1] == (0,) else 0.0)
        options = SearchOptions(
            leaves_per_tree=8,
            virtual_loss_kind=kind,
            max_collisions=8,
            turn_discount=1.0,
            cache_mib=0,
            c_puct=0.5,
        )
        search = Search(game, evaluator, options)
        result = search.run((), simulations=24)
        shares[kind] = int(result.visits[0])
    assert shares["visit"] > shares["loss"]


@pytest.mark.technique("S22")
def test_more_collisions_fill_a_batch_and_are_counted() -> None:
    game = native("connect4")
    batches = {}
    for most in (1, 8):
        options = SearchOptions(
            leaves_per_tree=16, virtual_loss_kind="visit", max_collisions=most, cache_mib=0
        )
        search = Search(game, HashEvaluator(3), options)
        result = search.run(game.initial(), simulations=200)
        assert int(result.visits.sum()) == 200
        batches[most] = result.counters["batches"]
        assert result.counters["collisions"] > 0
        search.check_invariants()
    assert batches[8] < batches[1]


@pytest.mark.technique("S22")
def test_batches_of_one_tree_grow_with_its_visits() -> None:
    game = TreeGame([6] * 6)
    evaluator = TableEvaluator(game)
    options = SearchOptions(
        leaves_per_tree=8,
        leaves_share=0.1,
        virtual_loss_kind="visit",
        max_collisions=50,
        cache_mib=0,
    )
    Search(game, evaluator, options).run((), simulations=200)
    visits = 1  # the root's own evaluation
    for size in evaluator.batches[1:-1]:
        assert size == min(max(visits // 10, 1), 8)
        visits += size
    assert visits > 150
