"""`zermelo cluster head` and `join`: a machine becomes a node that plays for runs elsewhere."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from zermelo.cli.telling import tell
from zermelo.errors import UserError

HostOption = Annotated[
    str,
    typer.Option(help="Address of this machine that the others reach; 127.0.0.1 keeps it here."),
]
CpusOption = Annotated[
    int | None, typer.Option(min=0, help="Cores that may be used; all without it.")
]
MemoryOption = Annotated[
    int, typer.Option(min=80, help="MiB for networks and samples on their way.")
]


def add_to(app: typer.Typer) -> None:
    """Adds the commands."""
    group = typer.Typer(help="Make this machine a node of a cluster.", no_args_is_help=True)
    group.command()(head)
    group.command()(join)
    app.add_typer(group, name="cluster")


def head(
    host: HostOption = "",
    # The port after it is taken too.
    port: Annotated[int, typer.Option(min=1024, max=65534, help="For the others.")] = 6379,
    cpus: CpusOption = None,
    memory_mib: MemoryOption = 512,
    dashboard: Annotated[
        bool, typer.Option("--dashboard", help="Ray's own page, at 127.0.0.1:8265.")
    ] = False,
) -> None:
    """Start a cluster with this machine as its first node, until Ctrl-C.

    Then: zermelo train GAME --cluster auto, on this machine.
    """
    from zermelo.cluster.addresses import answers
    from zermelo.cluster.needed import need_dashboard, need_ray
    from zermelo.cluster.node_command import head_arguments
    from zermelo.cluster.token import known_or_new_token

    need_ray()
    if dashboard:
        need_dashboard()
    if answers((host or "127.0.0.1", port), 1.0):
        raise UserError(f"port {port} is taken, perhaps by a head: choose another with --port")
    token, written = known_or_new_token()
    if written is not None:
        tell(f"a new token is in '{written}': copy it to every node")
    _become(head_arguments(host, port, cpus, memory_mib, dashboard), token)


def join(
    address: Annotated[str, typer.Argument(metavar="HOST:PORT", help="Of the head.")],
    host: HostOption = "",
    cpus: CpusOption = None,
    memory_mib: MemoryOption = 512,
) -> None:
    """Let this machine play for a cluster, until Ctrl-C."""
    from zermelo.cluster.joining import refuse_misfit
    from zermelo.cluster.needed import need_ray
    from zermelo.cluster.node_command import join_arguments
    from zermelo.cluster.token import known_token, show

    need_ray()
    token = known_token()
    show(token)
    refuse_misfit(address)
    _become(join_arguments(address, host, cpus, memory_mib), token)


def _become(arguments: list[str], token: str) -> None:
    """Makes this process the node, so that whoever started it can end it."""
    from zermelo.cluster.node_command import command
    from zermelo.cluster.token import settings

    words = command(arguments)
    sys.stdout.flush()
    try:
        os.execve(words[0], words, os.environ | settings(token))
    except OSError as error:
        raise UserError(f"'{words[0]}' cannot be started: {error.strerror}") from None
