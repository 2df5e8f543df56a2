"""Keeps a cluster of one machine on the loopback.

Ray takes 127.0.0.1 for the machine's outer address and then listens on every interface. Where the
loopback is what is wanted, its function that does so is replaced; then Ray listens there only, as a
test sees. With another version of Ray the worst is what Ray does by itself, behind the token.
"""

from __future__ import annotations

import ipaddress

LOOPBACK = "127.0.0.1"


def is_loopback(host: str) -> bool:
    """Of a host's name or address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def keep_loopback() -> None:
    """In this process, from now on: 127.0.0.1 means itself."""
    from ray._private import services

    services.resolve_ip_for_localhost = lambda host: LOOPBACK if is_loopback(host) else host
