"""How a run keeps to the time that it was given: what fits into it, planned anew as it goes on.

Schedules that run over all iterations (learning rate, simulations) run over those that fit. The
first iteration and its measurement always finish; later ones are begun only if they can end in
time, and the last one plays less rather than being lost. Without a time nothing is changed.
Does not know what an iteration consists of. One thread.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zermelo.loop.stop import Stop

RECENT = 3  # iterations whose seconds are expected of the next
FIRST_SHARE = 0.25  # of the time that the first iteration may play, if it has anything by then
LEAST_SAMPLES = 64  # that an iteration which is cut short must have
LEAST_PART = 0.3  # of an iteration's time: if less is left, no further one is begun


class Pace:
    """Of one process's work on a run."""

    def __init__(self, stop: Stop, iterations: int) -> None:
        self._stop = stop
        self._most = iterations  # of the run
        self._whole = stop.seconds_left()  # at the start
        self._began = time.monotonic()
        self._played = 0.0  # seconds of the iteration's self-play
        self._spent: list[tuple[float, float]] = []  # playing, all the rest; of finished iterations
        self._first = True  # until an iteration of this process is finished

    @property
    def timed(self) -> bool:
        """Whether there is a time to keep to."""
        return self._whole is not None

    @property
    def must_finish(self) -> bool:
        """Whether the iteration under way goes on though the time is over."""
        return self.timed and self._first

    def begin(self) -> None:
        """An iteration."""
        self._began, self._played = time.monotonic(), 0.0

    def collected(self) -> None:
        """Its samples are there."""
        self._played = time.monotonic() - self._began

    def finished(self) -> None:
        """It is trained and measured."""
        self._spent.append((self._played, time.monotonic() - self._began - self._played))
        self._first = False

    def enough(self, samples: int) -> bool:
        """Whether to train on so many, though more were wanted: the rest would come too late."""
        left = self._stop.seconds_left()
        if left is None or self._whole is None or samples < LEAST_SAMPLES:
            return False
        if self._first:
            return time.monotonic() - self._began >= FIRST_SHARE * self._whole
        return left <= self._expected(1)

    def fits(self) -> bool:
        """Whether another iteration can be begun."""
        left = self._stop.seconds_left()
        if left is None or self._first:
            return True
        return left >= self._expected(1) + LEAST_PART * self._expected(0)

    def iterations(self, done: int) -> int:
        """Of the run as far as can be told: what schedules run over."""
        left = self._stop.seconds_left()
        if left is None or not self._spent:
            return self._most
        more = left / max(1e-3, self._expected(0) + self._expected(1))
        return min(self._most, done + max(1, round(more)))

    def planned(self, done: int) -> int:
        """What a person is told of that; 0 while only the time is known."""
        if self.timed and not self._spent:
            return 0
        return self.iterations(done) if self.fits() else done

    def is_last(self, done: int) -> bool:
        """Whether no iteration follows the one that is being finished."""
        return self.timed and (self._first or done >= self._most or not self._next_fits())

    def _next_fits(self) -> bool:
        """Whether one more would fit after this one's measurement."""
        left = self._stop.seconds_left()
        return left is None or left >= 2 * self._expected(1) + LEAST_PART * self._expected(0)

    def _expected(self, part: int) -> float:
        """Seconds of an iteration's playing (0) or of all else in it (1)."""
        recent = self._spent[-RECENT:]
        return sum(each[part] for each in recent) / max(1, len(recent))
