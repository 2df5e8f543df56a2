"""Joins a cluster, or starts one on this machine, and leaves it again.

Owns the connection of this process, of which Ray has one at a time. Does not know what is done with
it. Every mistake that a person can make here is one sentence.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass

from zermelo.cluster.addresses import answers, reason_of, split_address
from zermelo.cluster.health import PRIORITY
from zermelo.cluster.joining import find_address, refuse_misfit
from zermelo.cluster.loopback import LOOPBACK, is_loopback, keep_loopback
from zermelo.cluster.needed import need_ray
from zermelo.cluster.silence import keep_silent
from zermelo.cluster.temporary import own_directory
from zermelo.cluster.token import known_token, own_token, show
from zermelo.cores import available_cores
from zermelo.errors import UserError

LOCAL, AUTO = "local", "auto"
HEAD_SECONDS = 3.0  # without an answer of the head: it has gone
MIB = 2**20


@dataclass
class Cluster:
    """A cluster that this process is connected to; used by one thread."""

    where: str  # as it was asked for
    local: bool  # it was started for us, on this machine
    head: tuple[str, int]  # host and port
    dashboard: str = ""  # its address, if there is one
    _silent_since: float | None = None  # its first answer that did not come

    def check_head(self) -> bool:
        """Whether the head answers; raises a UserError once it has not for some seconds.

        Ray itself would end this process later, without a word and without `atexit`. Without an
        answer Ray must not be asked for anything, as that would wait for this end.
        """
        asked = time.monotonic()
        if answers(self.head, 1.0):
            self._silent_since = None
            return True
        if self._silent_since is None:  # we may not have asked for long, so one is not enough
            self._silent_since = asked
            return False
        if time.monotonic() - self._silent_since > HEAD_SECONDS:
            raise HeadGoneError(
                f"the cluster's head at {self.head[0]}:{self.head[1]} has gone: start it again, "
                "then the same command goes on"
            )
        return False


class HeadGoneError(UserError):
    """Nothing of Ray works any more."""


@contextlib.contextmanager
def connect(where: str, object_store_mib: int = 512) -> Iterator[Cluster]:
    """`local` starts a cluster here, `auto` finds the one this machine is part of."""
    need_ray()
    if where == LOCAL:
        with _started_here(object_store_mib) as cluster:
            yield cluster
        return
    if where != AUTO:
        split_address(where)
    show(known_token())
    import ray

    if where == AUTO:
        keep_loopback()
    address = find_address() if where == AUTO else where
    refuse_misfit(address)
    if is_loopback(split_address(address)[0]):
        keep_loopback()
    _begin(where, address=address)
    try:
        yield _joined(where, local=False)
    finally:
        with contextlib.suppress(Exception):
            ray.shutdown()


@contextlib.contextmanager
def _started_here(object_store_mib: int) -> Iterator[Cluster]:
    """With a token of its own, on the loopback, and gone at the end with all its files."""
    show(own_token())
    import ray

    keep_loopback()
    with own_directory() as place:
        try:
            _begin(
                LOCAL,
                address=LOCAL,
                num_cpus=available_cores(),
                include_dashboard=False,
                object_store_memory=object_store_mib * MIB,
                _node_ip_address=LOOPBACK,
                _temp_dir=place,
                _system_config=dict(PRIORITY),
            )
            yield _joined(LOCAL, local=True)
        finally:
            with contextlib.suppress(Exception):
                ray.shutdown()


def _begin(where: str, **arguments: object) -> None:
    import ray

    if ray.is_initialized():
        raise UserError("this process is connected to a cluster already")
    keep_silent()
    try:
        ray.init(log_to_driver=False, logging_level="ERROR", namespace="zermelo", **arguments)
    except Exception as error:
        raise UserError(f"the cluster '{where}' cannot be used: {reason_of(error)}") from error


def _joined(where: str, local: bool) -> Cluster:
    import ray

    context = ray.get_runtime_context()
    url = str(getattr(ray._private.worker.global_worker.node, "webui_url", "") or "")
    page = f"http://{url}" if url else ""
    return Cluster(where, local, split_address(context.gcs_address), page)
