"""The clock: never exceeded, shared out sensibly, given up early or stretched when it pays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zermelo.search.time_management import (
    LEAST,
    Budget,
    Clock,
    Look,
    Manager,
    cannot_catch_up,
    fixed_seconds,
    plan,
    side_clock,
    stretch,
)

clocks = st.builds(
    Clock,
    remaining=st.floats(0, 20_000),
    increment=st.floats(0, 60),
    moves_to_go=st.integers(0, 200),
    overhead=st.floats(0, 2),
)


@pytest.mark.technique("E4")
@given(clocks, st.integers(0, 600))
def test_no_move_is_given_more_than_the_clock_has(clock: Clock, ply: int) -> None:
    budget = plan(clock, ply)
    assert LEAST <= budget.share <= budget.most
    assert budget.most <= max(LEAST, clock.remaining - clock.overhead)


@given(
    st.floats(0.5, 600), st.floats(0, 5), st.integers(0, 60), st.floats(0, 0.2), st.integers(0, 1)
)
def test_a_game_in_which_every_move_takes_the_most_never_runs_out_of_time(
    start: float, increment: float, moves_to_go: int, overhead: float, always_most: int
) -> None:
    remaining = start
    for move in range(300):
        to_go = moves_to_go - move % moves_to_go if moves_to_go else 0
        budget = plan(Clock(remaining, increment, to_go, overhead), 2 * move)
        spent = budget.most if always_most else budget.share
        # What is lost on the way is the overhead; with less than that left nothing can help.
        if remaining > overhead + LEAST:
            assert spent + overhead <= remaining + 1e-9
        remaining = max(remaining - spent - overhead, 0.0) + increment
        if to_go == 1:
            remaining += start


def test_more_time_an_increment_or_fewer_moves_give_a_move_more() -> None:
    usual = plan(Clock(60, 0, 0, 0.05)).share
    assert plan(Clock(120, 0, 0, 0.05)).share > usual
    assert plan(Clock(60, 2, 0, 0.05)).share > usual + 1.5
    assert plan(Clock(60, 0, 5, 0.05)).share > 4 * usual
    assert plan(Clock(60, 0, 0, 5.0)).share < usual
    assert plan(Clock(60, 0, 0, 0.05), ply=80).share > usual
    assert 1.0 < usual < 2.5


def test_the_last_move_before_the_control_may_take_most_of_the_time() -> None:
    budget = plan(Clock(10, 0, 1, 0.05))
    assert 8 < budget.most < 9.96


def test_a_clock_that_is_over_gives_the_least() -> None:
    assert plan(Clock(0, 5, 0, 0.05)) == Budget(LEAST, LEAST)
    assert plan(Clock(0.04, 0, 0, 0.05)) == Budget(LEAST, LEAST)


def look(elapsed: float, best: int = 1, lead: int = 0, value: float = 0.0) -> Look:
    """1,000 simulations a second, the best move ahead by `lead` visits."""
    simulations = int(1000 * elapsed)
    runner_up = max(0, (simulations - lead) // 2)
    return Look(elapsed, best, runner_up + lead, runner_up, simulations, value)


def test_a_runner_up_that_cannot_catch_up_ends_the_search() -> None:
    assert cannot_catch_up(look(1.0, lead=800), 0.5, 1.0)
    assert not cannot_catch_up(look(1.0, lead=400), 0.5, 1.0)
    assert cannot_catch_up(look(1.0, lead=400), 0.5, 2.0)
    assert not cannot_catch_up(look(1.0, lead=1000), 0.5, 0.0)


def first_stop(manager: Manager, looks: list[Look]) -> float | None:
    return next((found.elapsed for found in looks if manager.enough(found)), None)


def at_every_moment(**figures: object) -> list[Look]:
    return [look(0.02 * i, **figures) for i in range(1, 500)]  # type: ignore[arg-type]


def test_a_settled_move_takes_less_than_its_share_and_a_clear_one_much_less() -> None:
    budget = Budget(1.0, 3.5)
    settled = first_stop(Manager(budget, 0.0), at_every_moment())
    clear = first_stop(Manager(budget, 1.33), at_every_moment(lead=10_000))
    assert settled is not None and 0.8 < settled < 0.95
    assert clear is not None and clear < 0.2


def test_a_best_move_that_has_just_changed_gets_more_time() -> None:
    budget = Budget(1.0, 3.5)
    looks = [look(0.02 * i, best=1 if i < 30 else 2) for i in range(1, 500)]
    stopped = first_stop(Manager(budget, 0.0), looks)
    assert stopped is not None and stopped > 1.0


def test_a_falling_value_gets_more_time_than_a_rising_one() -> None:
    budget = Budget(1.0, 3.5)
    falling = first_stop(Manager(budget, 0.0, expected=0.3), at_every_moment(value=0.0))
    rising = first_stop(Manager(budget, 0.0, expected=-0.3), at_every_moment(value=0.0))
    assert falling is not None and rising is not None
    assert falling > 1.5 * rising


def test_the_hard_limit_holds_whatever_the_search_shows() -> None:
    worried = [look(0.02 * i, best=i, value=-0.01 * i) for i in range(1, 500)]
    stopped = first_stop(Manager(Budget(1.0, 1.2), 1.33, expected=0.9), worried)
    assert stopped is not None and stopped <= 1.22


def test_nothing_is_believed_before_a_few_simulations() -> None:
    manager = Manager(Budget(1.0, 3.5), 1.33)
    assert not manager.enough(Look(0.9, 1, 5, 0, 5, 0.0))


@given(st.floats(0, 10), st.floats(0.001, 10), st.floats(-2, 2))
def test_the_stretch_stays_within_the_hard_limits_factor(
    changed: float, elapsed: float, drop: float
) -> None:
    assert 0.9 <= stretch(changed, elapsed, drop) <= 3.5


def test_clocks_are_read_from_milliseconds_and_negative_ones_are_empty() -> None:
    assert side_clock(None, 100, 5, 50) is None
    assert side_clock(5000, 100, 5, 50) == Clock(5.0, 0.1, 5, 0.05)
    assert side_clock(-5000, -100, -5, 50) == Clock(0.0, 0.0, 0, 0.05)
    assert side_clock(5000, None, None, 0) == Clock(5.0)


def test_a_fixed_time_ends_a_little_before_it_is_over() -> None:
    assert 0.98 < fixed_seconds(1000) < 1.0
    assert fixed_seconds(0) == fixed_seconds(-5) == LEAST
