"""What the person who started the page chose: `WebSettings`, and the bounds on what visitors use.

Pure values. Requests name things by ids; what an id may mean is decided by these settings alone.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field
from pathlib import Path

PORT = 8080
LOOPBACK = "127.0.0.1"


@dataclass(frozen=True)
class Bounds:
    """How much of the machine all visitors together may have."""

    sockets: int = 512  # connections at a time
    sessions: int = 512  # games that are remembered; the one not used for longest goes first
    session_seconds: float = 3600.0  # without use, after which a game is forgotten
    judgements: int = 2  # short searches at a time: moves of opponents, hints, values
    waiting: int = 64  # short searches that wait for their turn; more are refused
    analyses: int = 4  # live searches at a time; more are told their place in the queue
    analysis_seconds: float = 600.0  # of one live search
    analysis_nodes: int = 20_000_000  # of one live search's tree
    simulations: int = 20_000  # of one short search
    seconds: float = 30.0  # of one short search
    frames_per_second: float = 8.0  # of a live search
    frame_bytes: int = 64 * 1024  # of a message to the server
    body_bytes: int = 256 * 1024  # of a request
    messages_per_second: float = 60.0  # of one connection, on average
    message_burst: int = 240  # that may come at once


@dataclass(frozen=True)
class WebSettings:
    """One server."""

    runs: tuple[Path, ...] = ()  # runs, or directories of runs
    networks: tuple[str, ...] = ()  # references that `open_network` opens
    games: tuple[str, ...] = ()  # Python files; a request can never name one
    host: str = LOOPBACK
    port: int = PORT
    token: str = ""  # that a visitor must bring; "" on this machine only
    allow_train: bool = False
    bounds: Bounds = field(default_factory=Bounds)

    @property
    def local(self) -> bool:
        """Whether only programs of this machine can reach it."""
        return is_loopback(self.host)


def is_loopback(host: str) -> bool:
    """Whether a name or address means this machine itself."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
