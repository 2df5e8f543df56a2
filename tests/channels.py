"""Both ends of a channel, for tests of those who talk over one."""

from __future__ import annotations

import os

from zermelo.processes.channel import Channel


def pair() -> tuple[Channel, Channel]:
    """Two ends of a conversation."""
    a_reads, b_writes = os.pipe()
    b_reads, a_writes = os.pipe()
    return Channel(a_reads, a_writes), Channel(b_reads, b_writes)
