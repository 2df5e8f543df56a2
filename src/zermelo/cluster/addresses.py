"""Addresses of heads: how they are written, whether somebody is there, what Ray's errors mean."""

from __future__ import annotations

import socket

from zermelo.errors import UserError

ANSWER_SECONDS = 5.0  # for a head to be there when we come


def reason_of(error: Exception) -> str:
    """The first line, or what it means for those that everybody meets."""
    text = str(error)
    if "auth" in text.lower() and "token" in text.lower():
        return "its token is another one than here"
    if "ersion mismatch" in text:
        return " ".join(line.strip() for line in text.splitlines() if line.strip())
    if "node_ip_address" in text or "raylet" in text.lower():
        return "this machine is not part of it; `zermelo cluster join` makes it so"
    return (text.strip() or type(error).__name__).splitlines()[0]


def split_address(where: str) -> tuple[str, int]:
    """Host and port. An address of IPv6 may stand in brackets."""
    host, colon, port = where.rpartition(":")
    host = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    known = colon and port.isdecimal() and 0 < int(port) < 2**16
    if not (known and _is_name(host)):
        raise UserError(f"a cluster is local, auto or HOST:PORT, not '{where}'")
    return host, int(port)


def _is_name(host: str) -> bool:
    """Whether a name can be looked up at all; Python raises for others instead of not finding."""
    try:
        return bool(host.encode("idna"))
    except UnicodeError:
        return False


def answers(place: tuple[str, int], seconds: float) -> bool:
    """Whether somebody listens there."""
    try:
        socket.create_connection(place, seconds).close()
    except OSError:
        return False
    return True
