"""The room for short searches: a few at a time, some wait, the rest is told when to come again.

Knows nothing of what is searched. Everything but the work itself happens in the event loop.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TypeVar

from anyio import CapacityLimiter, to_thread

from zermelo.web.refusal import Refusal

T = TypeVar("T")
FIRST_GUESS = 0.5  # seconds of a search


class Room:
    """So many at work, so many waiting."""

    def __init__(self, places: int, waiting: int) -> None:
        self._places = places
        self._most = waiting
        self._waiting = 0
        self._usual = FIRST_GUESS  # seconds, a moving average
        self._slots = asyncio.Semaphore(places)

    async def run(self, do: Callable[[], T]) -> T:
        """In a thread, when there is a place; a Refusal if too many wait already."""
        if self._waiting >= self._most:
            pause = (self._waiting + 1) * self._usual / self._places
            raise Refusal(
                503,
                "too many searches wait already",
                retry_after=round(max(1.0, pause), 1),
                place=self._waiting + 1,
            )
        self._waiting += 1
        try:
            await self._slots.acquire()
        finally:
            self._waiting -= 1
        try:
            began = time.monotonic()
            found = await to_thread.run_sync(do, limiter=CapacityLimiter(1))
            self._usual = 0.9 * self._usual + 0.1 * (time.monotonic() - began)
            return found
        finally:
            self._slots.release()


async def within(seconds: float, future: asyncio.Future[T], reason: str) -> T:
    """What a future brings; a Refusal after so many seconds."""
    try:
        return await asyncio.wait_for(future, seconds)
    except TimeoutError:
        raise Refusal(503, reason, retry_after=2.0) from None
