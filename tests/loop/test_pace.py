"""Keeping to a time: what is finished whatever happens, and what is cut short."""

from __future__ import annotations

import pytest

from zermelo.loop.pace import LEAST_SAMPLES, Pace
from zermelo.loop.stop import Stop


class Clock:
    """Time as a test wants it."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr("zermelo.loop.stop.time.monotonic", made.monotonic)
    return made


def iteration(pace: Pace, clock: Clock, playing: float, rest: float) -> None:
    pace.begin()
    clock.now += playing
    pace.collected()
    clock.now += rest
    pace.finished()


def test_without_a_time_nothing_is_planned(clock: Clock) -> None:
    pace = Pace(Stop(), 100)
    iteration(pace, clock, 10, 5)
    assert pace.iterations(1) == 100
    assert pace.fits()
    assert not pace.enough(10**6)
    assert not pace.must_finish
    assert not pace.is_last(100)


def test_the_first_iteration_finishes_though_the_time_is_over(clock: Clock) -> None:
    pace = Pace(Stop(5), 100)
    pace.begin()
    clock.now += 60
    goes_on = pace.must_finish
    assert goes_on
    assert not pace.enough(LEAST_SAMPLES - 1)
    assert pace.enough(LEAST_SAMPLES)
    assert pace.is_last(1)  # so it is measured
    pace.collected()
    pace.finished()
    assert not pace.must_finish
    assert not pace.fits()


def test_schedules_run_over_the_iterations_that_fit(clock: Clock) -> None:
    pace = Pace(Stop(300), 100)
    assert pace.iterations(0) == 100  # nothing is known yet
    iteration(pace, clock, 20, 10)
    assert pace.iterations(1) == 10
    for _ in range(3):  # the machine became slower than it seemed
        iteration(pace, clock, 40, 20)
    assert pace.iterations(4) == 4 + 2


def test_a_person_is_told_what_is_planned_once_it_is_known(clock: Clock) -> None:
    assert Pace(Stop(), 100).planned(3) == 100
    pace = Pace(Stop(300), 100)
    assert pace.planned(0) == 0
    iteration(pace, clock, 20, 10)
    assert pace.planned(1) == 10
    clock.now += 255
    assert pace.planned(9) == 9  # no further one will be begun


def test_a_run_never_has_more_iterations_than_it_was_set_to(clock: Clock) -> None:
    pace = Pace(Stop(3600), 12)
    iteration(pace, clock, 1, 1)
    assert pace.iterations(1) == 12


def test_the_last_iteration_plays_less_rather_than_being_lost(clock: Clock) -> None:
    pace = Pace(Stop(100), 100)
    iteration(pace, clock, 30, 15)
    pace.begin()
    clock.now += 30
    assert not pace.enough(1000)  # 25 s are left, of which training takes 15
    clock.now += 10
    assert pace.enough(1000)


def test_no_iteration_is_begun_that_could_not_end(clock: Clock) -> None:
    pace = Pace(Stop(100), 100)
    iteration(pace, clock, 30, 15)
    assert pace.fits()
    clock.now += 35  # 20 s are left: 15 for training and too little to play
    assert not pace.fits()
