"""P4: the budget grows from half to full over the first part of the iterations."""

from __future__ import annotations

import pytest

from zermelo.selfplay.progressive import simulations_at


@pytest.mark.technique("P4")
def test_the_budget_grows_linearly_from_half_to_full() -> None:
    budgets = [simulations_at(i, 100, 200, 0.05) for i in range(8)]
    assert budgets == [100, 120, 140, 160, 180, 200, 200, 200]


def test_without_a_fraction_the_budget_is_full_at_once() -> None:
    assert [simulations_at(i, 100, 200, 0.0) for i in range(3)] == [200] * 3


def test_a_budget_of_one_stays_one() -> None:
    assert simulations_at(0, 100, 1, 1.0) == 1
