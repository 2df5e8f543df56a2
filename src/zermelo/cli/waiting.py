"""Long calls into the core that Ctrl-C can still stop."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def interruptible(work: Callable[[], T]) -> T:
    """Runs `work` in a thread of its own, so that the main thread hears signals meanwhile.

    After an interrupt the thread is left behind; the command line then ends the whole process.
    """
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(0.05)
    if errors:
        raise errors[0]
    return results[0]
