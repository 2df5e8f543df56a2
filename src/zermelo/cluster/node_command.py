"""How a node is started: the command of Ray, with all that our clusters need of it.

`python -m zermelo.cluster.node_command ray-arguments` is Ray's own `start` command, for which
127.0.0.1 is the loopback.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

from zermelo.cluster.addresses import answers, split_address
from zermelo.cluster.health import SYSTEM
from zermelo.cluster.loopback import keep_loopback

PORT = 6379
MIB = 2**20


def head_arguments(
    host: str, port: int, cpus: int | None, memory_mib: int, dashboard: bool = False
) -> list[str]:
    """Of the first node; runs until it is ended."""
    return [
        "--head", f"--port={port}", f"--include-dashboard={str(dashboard).lower()}",
        f"--ray-client-server-port={port + 1}",  # which cannot be left out
        f"--system-config={json.dumps(SYSTEM)}", *_node(host, cpus, memory_mib),
    ]  # fmt: skip


def join_arguments(head: str, host: str, cpus: int | None, memory_mib: int) -> list[str]:
    """Of another node."""
    return [f"--address={head}", *_node(host, cpus, memory_mib)]


def _node(host: str, cpus: int | None, memory_mib: int) -> list[str]:
    found = ["--block", "--disable-usage-stats", f"--object-store-memory={memory_mib * MIB}"]
    found += [f"--node-ip-address={host}"] if host else []
    return found + ([] if cpus is None else [f"--num-cpus={cpus}"])


def command(arguments: Sequence[str]) -> list[str]:
    """For a process of its own."""
    return [sys.executable, "-m", "zermelo.cluster.node_command", *arguments]


def forget_dead_heads(services: Any) -> None:
    """For Ray's module `services`, which takes any process that names a head for that head.

    So does a node that outlived it. Then a head that died could not be started again at its port,
    so its list is looked through.
    """
    named = services.find_gcs_addresses
    services.find_gcs_addresses = lambda: {
        head for head in named() if answers(split_address(head), 1.0)
    }


def main() -> None:
    """Ray's command."""
    from ray._private import services
    from ray.scripts.scripts import start

    keep_loopback()
    forget_dead_heads(services)
    start.main(args=sys.argv[1:], prog_name="zermelo cluster")


if __name__ == "__main__":
    main()
