"""S11 and S12: certain results against exhaustive search, and chains of forced moves."""

import functools
import random
from typing import Any

import numpy as np
import pytest
from native_games import native
from small_trees import DRAW, LOSS, WIN, TableEvaluator, TreeGame

from zermelo import _core
from zermelo.search import Search, SearchOptions, UniformEvaluator
from zermelo.testing import HashEvaluator

TICTACTOE = native("tictactoe")


def plain(**options: Any) -> SearchOptions:
    return SearchOptions(**{"cache_mib": 0, **options})


@functools.cache
def exact(state: Any) -> tuple[int, int]:
    """(result for the mover, plies until the end): the quickest win, the slowest loss or draw."""
    outcome = TICTACTOE.outcome(state)
    if outcome is not None:
        return (0, 0) if outcome == DRAW else (-1, 0)
    replies = [exact(TICTACTOE.play(state, a)) for a in TICTACTOE.legal_actions(state)]
    best = max(-result for result, _ in replies)
    plies = [distance + 1 for result, distance in replies if -result == best]
    return best, min(plies) if best > 0 else max(plies)


def all_positions() -> list[Any]:
    seen, stack = {}, [TICTACTOE.initial()]
    while stack:
        state = stack.pop()
        text = TICTACTOE.position_text(state)
        if text in seen:
            continue
        seen[text] = state
        if TICTACTOE.outcome(state) is None:
            stack += [TICTACTOE.play(state, a) for a in TICTACTOE.legal_actions(state)]
    return list(seen.values())


@pytest.mark.technique("S11")
def test_every_tictactoe_position_is_proven_as_exhaustive_search_says() -> None:
    positions = all_positions()
    assert len(positions) == 5478
    ongoing = [state for state in positions if TICTACTOE.outcome(state) is None]
    # Much exploration: a drawn position is certain only when every reply is, and a search that
    # exploits would go on visiting the draw it knows.
    search = Search(TICTACTOE, UniformEvaluator(), plain(c_puct=100.0))
    longer = 0
    for state, result in zip(ongoing, search.run_many(ongoing, 1_000_000), strict=True):
        assert result.proven is not None, TICTACTOE.position_text(state)
        value, distance = exact(state)
        assert result.proven.result == value
        # The first win found counts, and a search ends with it: it may not be the shortest.
        assert result.proven.distance >= distance if value > 0 else True
        longer += result.proven.distance != distance
        reply = exact(TICTACTOE.play(state, result.best_action))
        assert -reply[0] == value  # what is played keeps the value
    assert longer < len(ongoing) / 20


@pytest.mark.technique("S11")
def test_late_connect_four_positions_are_proven_as_the_solver_says() -> None:
    game, solver, rng = native("connect4"), _core.Connect4Solver(), random.Random(8)
    states: list[Any] = []
    while len(states) < 200:
        state = game.initial()
        for _ in range(rng.randint(28, 40)):
            if game.outcome(state) is not None:
                break
            state = game.play(state, rng.choice(game.legal_actions(state)))
        if game.outcome(state) is None and game.ply(state) >= 28:
            states.append(state)
    search = Search(game, UniformEvaluator(), plain())
    proven = 0
    for state, result in zip(states, search.run_many(states, 20_000), strict=True):
        if result.proven is None:
            continue
        proven += 1
        assert result.proven.result == solver.solve_weak(state), game.position_text(state)
    assert proven >= 190


def test_without_a_proof_there_is_no_mate() -> None:
    result = Search(TICTACTOE, UniformEvaluator(), plain()).run(TICTACTOE.initial(), simulations=5)
    assert (result.proven, result.mate) == (None, None)


@pytest.mark.technique("S11")
def test_a_certain_win_ends_the_search_and_is_played_at_once() -> None:
    state = TICTACTOE.parse_position("XX./OO./...")
    search = Search(TICTACTOE, UniformEvaluator(), plain())
    result = search.run(state, simulations=10_000)
    assert result.root_visits < 20
    assert result.best.text == "c3"
    assert (result.proven, result.mate, result.stop) == ((1, 1), 1, "")
    assert search.run(state, simulations=10_000).root_visits == result.root_visits
    off = Search(TICTACTOE, UniformEvaluator(), plain(solver=False)).run(state, simulations=10_000)
    assert off.root_visits == 10_001
    assert off.proven is None and off.best.text == "c3"


@pytest.mark.technique("S11")
def test_a_certain_loss_is_not_searched_again() -> None:
    # X threatens c3; whatever else O plays loses.
    state = TICTACTOE.parse_position("XX./O../...")
    lost = {}
    for solver in (True, False):
        search = Search(TICTACTOE, UniformEvaluator(), plain(solver=solver))
        before = search.run(state, simulations=100)
        after = search.run(state, simulations=60)
        losing = [
            i
            for i, action in enumerate(before.actions)
            if TICTACTOE.action_text(state, int(action)) != "c3"
        ]
        if solver:
            assert all(before.row(i).certain.result == -1 for i in losing)  # type: ignore[union-attr]
        lost[solver] = int((after.visits - before.visits)[losing].sum())
    assert lost[True] == 0 < lost[False]


@pytest.mark.technique("S11")
def test_another_move_is_played_instead_of_a_most_visited_certain_loss() -> None:
    # Action 0 looks good and gets most visits, until the reply that mates is tried.
    game = TreeGame([[3, 3, 3, 3, LOSS], 3])
    favourite = (0.24, 0.24, 0.24, 0.24, 0.04)

    def values(path: tuple[int, ...]) -> float:
        good = 0.6 if path[:1] == (0,) else -0.2  # for the first player
        return good if len(path) % 2 == 0 else -good

    played = {}
    for solver in (True, False):
        evaluator = TableEvaluator(game, values, {(): (0.9, 0.1), (0,): favourite})
        search = Search(game, evaluator, plain(solver=solver, auto_extend=False, c_puct=3.0))
        for _ in range(400):
            result = search.run((), simulations=1)
            if (0, 4) in search_paths(search):
                break
        played[solver] = (result.best_action, int(result.visits.argmax()))
    assert played[True] == (1, 0)
    assert played[False] == (0, 0)


def search_paths(search: Search) -> set[tuple[int, ...]]:
    """The paths of a TreeGame's tree to depth 2."""
    paths: dict[int, tuple[int, ...]] = {}
    for node in search.tree(max_depth=2).nodes:
        parent = () if node["parent"] is None else paths[node["parent"]]
        own = () if node["parent"] is None else (int(node["action"]),)
        paths[node["id"]] = parent + own
    return set(paths.values())


@pytest.mark.technique("S11")
def test_the_shortest_win_and_the_longest_loss_are_preferred_and_reported() -> None:
    long_win = [[[[[WIN]]]]]  # in 5 plies, all forced
    for order in ([long_win, WIN], [WIN, long_win]):
        game = TreeGame([[[[LOSS], *order[:1]], [DRAW, DRAW]], *order])
        result = Search(game, TableEvaluator(game), plain()).run((), simulations=500)
        assert result.proven is not None and result.proven.result == 1
        assert result.best_action in (1, 2)
    # Both moves lose: 0 in two plies, 1 in four.
    game = TreeGame([[LOSS, 2], [[[LOSS]]]])
    result = Search(game, TableEvaluator(game), plain()).run((), simulations=500)
    assert result.proven == (-1, 4)
    assert (result.best_action, result.mate) == (1, -2)
    # A draw is better than any loss.
    game = TreeGame([[LOSS, 2], [[[LOSS]]], [DRAW]])
    result = Search(game, TableEvaluator(game), plain()).run((), simulations=500)
    assert result.proven == (0, 2)
    assert (result.best_action, result.mate) == (2, None)


@pytest.mark.technique("S11")
def test_a_node_whose_replies_all_win_takes_the_shortest_after_all_are_known() -> None:
    # The opponent's two answers let us win in 1 or in 3: the distance is the longer one.
    game = TreeGame([[[WIN, 2], [[[WIN]]]]])
    result = Search(game, TableEvaluator(game), plain()).run((), simulations=500)
    assert result.proven == (1, 5)
    assert result.value == pytest.approx(0.99**5)


@pytest.mark.technique("S12")
@pytest.mark.parametrize("auto_extend", [True, False])
def test_a_chain_of_single_actions_is_not_evaluated_but_shares_its_end(auto_extend: bool) -> None:
    game = TreeGame([[[[2]]], 2])  # action 0 leads to three forced plies and a choice
    end = (0, 0, 0, 0)
    evaluator = TableEvaluator(game, {end: 0.5}, {(): (0.99, 0.01)})
    search = Search(game, evaluator, plain(auto_extend=auto_extend, turn_discount=0.9))
    search.run((), simulations=1)
    assert evaluator.asked == [(), end if auto_extend else (0,)]
    if auto_extend:
        nodes = search.tree(max_depth=8).nodes
        values = {node["depth"]: node["q"] for node in nodes if node["depth"]}
        # For the chooser of each node; the sign changes and a ninth is lost at every ply.
        assert values == pytest.approx({4: -0.5, 3: 0.45, 2: -0.405, 1: 0.3645})
        assert all(node["visits"] == 1 for node in nodes if node["depth"])
    search.check_invariants()


@pytest.mark.technique("S12")
def test_a_chain_may_end_with_the_game() -> None:
    game = TreeGame([[[[[LOSS]]]], 2])
    evaluator = TableEvaluator(game, policies={(): (0.99, 0.01)})
    search = Search(game, evaluator, plain())
    result = search.run((), simulations=1)
    assert evaluator.asked == [()]
    assert result.row(0).certain == (-1, 5)
    search.check_invariants()


@pytest.mark.technique("S12")
def test_a_root_with_one_action_is_searched_behind_it() -> None:
    game = TreeGame([[[2, 2]]])
    evaluator = TableEvaluator(game)
    search = Search(game, evaluator, plain())
    result = search.run((), simulations=5)
    assert evaluator.asked[0] == (0, 0)
    assert list(result.actions) == [0]
    search.check_invariants()


def test_a_mover_who_moves_twice_keeps_the_sign() -> None:
    class Twice(TreeGame):
        def player(self, path: tuple[int, ...]) -> int:
            return [0, 0, 1, 1][len(path) % 4]

    game = Twice([[WIN, 2], 2])
    result = Search(game, TableEvaluator(game), plain()).run((), simulations=100)
    assert result.proven == (1, 2)
    game = Twice([[LOSS, [LOSS, 2]], [LOSS, LOSS]])  # the first player moves twice: 0, 1 hopes
    search = Search(game, TableEvaluator(game, {(0, 1): -0.5}), plain(turn_discount=1.0))
    result = search.run((), simulations=200)
    assert result.row(list(result.actions).index(1)).certain == (-1, 2)
    assert result.best_action == 0
    np.testing.assert_allclose(result.q[list(result.actions).index(1)], -1.0)


def test_proofs_are_right_whatever_the_priors_are() -> None:
    rng = random.Random(2)
    positions = [s for s in all_positions() if TICTACTOE.outcome(s) is None]
    proven = 0
    for seed in range(300):
        state = rng.choice(positions)
        search = Search(TICTACTOE, HashEvaluator(seed), plain())
        result = search.run(state, simulations=2000)
        if result.proven is not None:
            proven += 1
            assert result.proven.result == exact(state)[0]
            assert -exact(TICTACTOE.play(state, result.best_action))[0] == exact(state)[0]
        search.check_invariants()
    assert proven > 200
