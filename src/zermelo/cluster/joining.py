"""Says in one line why a cluster cannot be joined, before Ray says it in many."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from zermelo.cluster.addresses import ANSWER_SECONDS, answers, reason_of, split_address
from zermelo.cluster.versions import difference, versions_here
from zermelo.errors import UserError


def find_address() -> str:
    """Of the head of the cluster that this machine is part of, as Ray finds it for `auto`."""
    from ray._private import services

    try:
        with _silent():
            return str(services.canonicalize_bootstrap_address_or_die("auto"))
    except Exception as error:
        raise UserError(
            "this machine is part of no cluster: `zermelo cluster head` or `join` makes it so"
        ) from error


def refuse_misfit(address: str) -> None:
    """Another token, Ray or Python than the head's. The pool compares zermelo's version.

    `token.show` comes before.
    """
    place = split_address(address)
    if not answers(place, ANSWER_SECONDS):
        raise UserError(f"nothing answers at {address}: start the head with `zermelo cluster head`")
    try:
        with _silent():
            there = _metadata(address)
    except Exception as error:
        raise UserError(f"the cluster at {address} cannot be joined: {reason_of(error)}") from error
    here = versions_here() | {"zermelo": ""}
    found = {"ray": there.get("ray_version", ""), "python": there.get("python_version", "")}
    if reason := difference(here, found):
        raise UserError(f"the cluster at {address} cannot be joined: {reason}")


@contextmanager
def _silent() -> Iterator[None]:
    """Without what the compiled part of Ray writes to the error stream beside the error itself."""
    sys.stderr.flush()
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def _metadata(address: str) -> dict[str, Any]:
    """What the head wrote about itself."""
    from ray._common.usage import usage_constants
    from ray._private import ray_constants
    from ray._raylet import GcsClient  # type: ignore[attr-defined]  # a compiled module

    client = GcsClient(address=address)
    space = ray_constants.KV_NAMESPACE_CLUSTER
    found = client.internal_kv_get(usage_constants.CLUSTER_METADATA_KEY, namespace=space)
    return dict(json.loads(found or b"{}"))
