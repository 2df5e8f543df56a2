"""Levels: from beginner to full strength."""

from __future__ import annotations

import math
import random
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from zermelo import game
from zermelo.errors import UserError
from zermelo.games.protocol import value_for
from zermelo.players import player
from zermelo.players.game_in_progress import GameInProgress
from zermelo.players.levels import (
    HIGHEST,
    LEVELS,
    LOWEST,
    Level,
    chosen_action,
    level,
    rated_level,
)
from zermelo.search import Search, UniformEvaluator

TICTACTOE: Any = game("tictactoe")


def test_levels_search_more_and_err_less_from_step_to_step() -> None:
    assert [each.number for each in LEVELS] == list(range(1, len(LEVELS) + 1))
    for lower, higher in pairwise(LEVELS):
        assert higher.simulations > lower.simulations
        assert higher.temperature <= lower.temperature
        assert higher.slips <= lower.slips
    assert (LEVELS[-1].temperature, LEVELS[-1].slips) == (0.0, 0.0)


def test_a_level_that_there_is_not_is_refused() -> None:
    with pytest.raises(UserError, match="levels are 1 to 10"):
        level(11)


def test_ratings_search_more_and_err_less_from_point_to_point_and_between() -> None:
    found = [rated_level(elo) for elo in range(LOWEST, HIGHEST + 1, 10)]
    for lower, higher in pairwise(found):
        assert higher.simulations >= lower.simulations
        assert higher.temperature <= lower.temperature
        assert higher.slips <= lower.slips
    for elo in (LOWEST - 1, HIGHEST + 1):
        with pytest.raises(UserError, match=f"ratings are {LOWEST} to {HIGHEST}"):
            rated_level(elo)


def test_a_slip_follows_first_sight_where_there_is_one() -> None:
    state = TICTACTOE.initial()

    def sharp(planes: Any) -> tuple[Any, Any]:
        policy = np.zeros((len(planes), 9), np.float32)
        policy[:, 3] = 4.0
        return policy, np.zeros(len(planes), np.float32)

    result = Search(TICTACTOE, sharp).run(state, 30)
    chance = random.Random(1)
    shares = []
    for sight in (1.0, math.inf):
        how = Level(0, "", 30, 1.0, 1.0, sight)
        chosen = [chosen_action(result, how, chance) for _ in range(600)]
        shares.append(chosen.count(3) / 600)
        assert set(chosen[:300]) >= {3}
    assert shares[0] > 0.75
    assert shares[1] < 0.25
    only = [0, 5]
    assert {chosen_action(result, how, chance, only) for _ in range(50)} == {0, 5}


def test_a_rating_is_a_player_of_chess_alone() -> None:
    assert player("level?elo=1200", game("chess")).name == "level?elo=1200"
    for text, rules in (("level?elo=1200", TICTACTOE), ("level?elo=1200&number=3", game("chess"))):
        with pytest.raises(UserError, match="elo is for chess"):
            player(text, rules)


def test_a_beginner_slips_as_often_as_it_says_and_the_best_never() -> None:
    state = TICTACTOE.parse_position("XX./OO./...")
    result = Search(TICTACTOE, UniformEvaluator()).run(state, 100)
    win = TICTACTOE.parse_action(state, "c3")
    chance = random.Random(1)
    beginner = [chosen_action(result, level(1), chance) for _ in range(2000)]
    assert 0.2 < sum(action != win for action in beginner) / 2000 < 0.75
    for number in (5, 10):
        assert {chosen_action(result, level(number), chance) for _ in range(200)} == {win}


def test_a_level_is_a_player_by_its_text() -> None:
    found = player("level?number=2&seed=5", TICTACTOE)
    assert found.name == "level?number=2&seed=5"
    assert found.choose(TICTACTOE, TICTACTOE.initial()) in TICTACTOE.legal_actions(
        TICTACTOE.initial()
    )


@pytest.mark.slow
@pytest.mark.parametrize(("weaker", "stronger"), [(1, 3), (3, 5), (5, 7)])
def test_two_levels_up_wins_most_games_of_connect_four(weaker: int, stronger: int) -> None:
    rules = game("connect4")
    pair = [player(f"level?number={number}&seed={number}", rules) for number in (weaker, stronger)]
    points = 0.0
    for number in range(30):
        seat = number % 2  # of the stronger one
        board = GameInProgress(rules, seats=(pair[1 - seat], pair[seat]))
        while (outcome := board.outcome) is None:
            board.answer()
        points += (1 + value_for(outcome, seat)) / 2
    assert points > 18, points
