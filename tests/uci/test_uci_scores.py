"""Numbers as chess programs write them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zermelo.search.result import Certain, centipawns
from zermelo.uci.scores import permille, score, wdl_mu


@pytest.mark.parametrize("q", [-0.9, -0.3, 0.0, 0.1, 0.5, 0.99])
def test_centipawns_are_the_tangent_of_the_value(q: float) -> None:
    assert centipawns(q) == round(290.680623072 * math.tan(1.548090806 * q))


@given(st.floats(-1.5, 1.5), st.floats(-1.5, 1.5))
def test_centipawns_are_bounded_odd_and_rise_with_the_value(a: float, b: float) -> None:
    assert abs(centipawns(a)) <= 12_800
    assert centipawns(-a) == -centipawns(a)
    if a <= b:
        assert centipawns(a) <= centipawns(b)


@given(st.floats(0, 1), st.floats(0, 1))
def test_permille_sum_to_a_thousand(a: float, b: float) -> None:
    win, loss = min(a, b), 1 - max(a, b)
    parts = permille((win, 1 - win - loss, loss))
    assert sum(parts) == 1000
    assert min(parts) >= 0
    assert abs(parts[0] - 1000 * win) <= 1


def test_mates_are_counted_in_moves_and_draws_are_none() -> None:
    assert Certain(1, 1).mate == 1
    assert Certain(1, 3).mate == 2
    assert Certain(-1, 2).mate == -1
    assert Certain(-1, 4).mate == -2
    assert Certain(0, 3).mate is None


@given(st.floats(-2, 2), st.floats(0.3, 2))
def test_mu_is_found_again_from_the_probabilities_that_it_gives(mu: float, s: float) -> None:
    def logistic(x: float) -> float:
        return 1 / (1 + math.exp(-x))

    win, loss = logistic((mu - 1) / s), logistic((-mu - 1) / s)
    found = wdl_mu((win, 1 - win - loss, loss))
    if found is not None:
        assert found == pytest.approx(mu, abs=1e-6)


def test_other_scales_can_be_asked_for() -> None:
    wdl = (0.5, 0.2, 0.3)
    assert score("centipawn", 0.2, wdl) == centipawns(0.2)
    assert score("Q", 0.2, wdl) == 2000
    assert score("W-L", 0.7, wdl) == 2000
    assert score("win_percentage", 0.2, wdl) == 6000
    assert score("WDL_mu", 0.2, wdl) == round(100 * (wdl_mu(wdl) or 0))
    assert score("WDL_mu", 1.0, (1.0, 0.0, 0.0)) == centipawns(1.0)
