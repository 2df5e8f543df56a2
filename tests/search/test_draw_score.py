"""`draw_score`: what a draw is worth to the player to move at the root."""

import pytest
from native_games import native
from small_trees import DRAW, TableEvaluator, TreeGame

from zermelo.search import Search, SearchOptions, UniformEvaluator


@pytest.mark.parametrize("solver", [True, False])
def test_a_draw_is_taken_or_left_by_its_score(solver: bool) -> None:
    # Action 0 is a draw at once; action 1 goes on, a little worse than a draw.
    chosen = {}
    for score in (-0.5, 0.0, 0.5):
        game = TreeGame([DRAW, 3])
        evaluator = TableEvaluator(game, lambda path: 0.2 if len(path) % 2 else -0.2)
        options = SearchOptions(draw_score=score, solver=solver, turn_discount=1.0, cache_mib=0)
        result = Search(game, evaluator, options).run((), simulations=200)
        chosen[score] = result.best_action
        if result.visits[list(result.actions).index(0)]:
            assert result.q[list(result.actions).index(0)] == pytest.approx(score)
    assert chosen == {-0.5: 1, 0.0: 0, 0.5: 0}


def test_the_opponent_sees_the_opposite_of_the_roots_score() -> None:
    # The opponent chooses between a draw and what is even for him.
    game = TreeGame([[DRAW, 3], 3])
    for score, expected in ((-0.6, -0.6), (0.6, 0.0)):
        evaluator = TableEvaluator(game, {(1,): 0.9})
        options = SearchOptions(draw_score=score, turn_discount=1.0, cache_mib=0, c_puct=0.5)
        result = Search(game, evaluator, options).run((), simulations=600)
        assert result.q[list(result.actions).index(0)] == pytest.approx(expected, abs=0.1)


def test_the_networks_draws_count_and_win_draw_loss_do_not_change() -> None:
    game = native("tictactoe")
    state = game.initial()
    for score in (-0.4, 0.3):
        options = SearchOptions(draw_score=score, solver=False, cache_mib=0)
        result = Search(game, UniformEvaluator(), options).run(state, simulations=1)
        assert result.value == pytest.approx(score, abs=0.01)  # all is a draw to this evaluator
        row = max(result.rows(), key=lambda found: found.visits)
        assert row.wdl == pytest.approx((0.0, 1.0, 0.0), abs=0.02)


def test_a_tree_that_was_searched_for_the_other_player_is_not_reused() -> None:
    game = native("connect4")
    for score, kept in ((0.0, True), (0.3, False)):
        options = SearchOptions(draw_score=score, cache_mib=0)
        search = Search(game, UniformEvaluator(), options)
        state = game.initial()
        action = search.run(state, simulations=200).best_action
        search.advance(action)
        state = game.play(state, action)
        assert (search.run(state, simulations=1).root_visits > 2) == kept
