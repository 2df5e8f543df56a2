"""Signs of life: a process tells its owner regularly that it lives and how long it has been stuck.

A thread of its own does it, so that work that takes long is not taken for the end.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from zermelo.processes.channel import Channel, Message

BEAT = 2.0  # seconds between two signs
ALIVE = "alive"  # the message's key; its value are the seconds without progress


def beat(channel: Channel, stuck: Callable[[], float]) -> None:
    """Until the channel closes or the process ends; `stuck` is asked by another thread."""

    def go_on() -> None:
        pause = threading.Event()
        while not channel.closed:
            message: Message = {ALIVE: round(stuck(), 1)}
            channel.send(message)
            pause.wait(BEAT)

    threading.Thread(target=go_on, name="pulse", daemon=True).start()
