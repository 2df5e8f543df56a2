"""Ratings by results against opponents of known ratings."""

from __future__ import annotations

import random

import pytest

from zermelo.statistics import Score, score_of
from zermelo.statistics.performance import most_telling, performance

LEVELS = (1350.0, 1500.0, 1700.0, 1900.0, 2100.0, 2300.0)


def test_even_results_against_one_level_are_its_rating() -> None:
    found = performance({1500.0: Score(wins=40, losses=40)})
    assert found.elo == 1500 and found.games == 80
    assert found.low == pytest.approx(1500 - 76, abs=6)  # 1.96 * 400 / ln 10 / sqrt(80 / 4)
    assert found.high == pytest.approx(1500 + 76, abs=6)


def test_a_score_moves_the_rating_as_the_logistic_says() -> None:
    found = performance({1500.0: Score(wins=750, losses=250)})
    assert found.elo == pytest.approx(1500 + 191, abs=2)


def test_draws_count_as_half() -> None:
    drawn = performance({1500.0: Score(draws=20), 1700.0: Score()})
    split = performance({1500.0: Score(wins=10, losses=10), 1700.0: Score()})
    assert drawn == split


def test_all_lost_or_won_gives_a_rating_beyond_the_levels_with_a_wide_interval() -> None:
    lost = performance({level: Score(losses=6 if level == 1350 else 0) for level in LEVELS})
    won = performance({level: Score(wins=6 if level == 2300 else 0) for level in LEVELS})
    assert lost.high - lost.low > 500 and lost.elo < 1350
    assert won.high - won.low > 500 and won.elo > 2300


def test_without_games_the_prior_alone_speaks() -> None:
    found = performance(dict.fromkeys(LEVELS, Score()))
    assert found.elo == 1825 and found.games == 0
    assert found.high - found.low == pytest.approx(2 * 1.96 * 500, rel=0.01)


@pytest.mark.parametrize("strength", [1200, 1620, 2050])
def test_pairs_against_the_most_telling_levels_find_the_strength(strength: float) -> None:
    inside = 0
    for seed in range(60):
        chance = random.Random(seed)
        results = dict.fromkeys(LEVELS, Score())
        for _ in range(20):
            level = most_telling(results)
            share = score_of(strength - level)
            results[level] += Score.of([float(chance.random() < share) for _ in range(2)])
        found = performance(results)
        inside += found.low <= strength <= found.high
        far = [level for level in LEVELS if abs(level - strength) > 500]
        assert sum(results[level].games for level in far) <= 8
    assert inside >= 53  # of 60; 57 are expected


def test_the_first_games_are_near_what_was_found_before() -> None:
    nothing = dict.fromkeys(LEVELS, Score())
    assert most_telling(nothing) == 1900
    assert most_telling(nothing, 1480) == 1500
    assert most_telling(nothing, 3000) == 2300
