"""Says in one line why a machine cannot join a cluster, before Ray says it in many."""

from __future__ import annotations

import json
from typing import Any

from zermelo.cluster.connection import ANSWER_SECONDS, answers, reason_of, split_address
from zermelo.cluster.token import show
from zermelo.cluster.versions import difference, versions_here
from zermelo.errors import UserError


def refuse_misfit(address: str, token: str) -> None:
    """Another token, Ray or Python than the head's. The pool compares zermelo's version."""
    place = split_address(address)
    if not answers(place, ANSWER_SECONDS):
        raise UserError(f"nothing answers at {address}: start the head with `zermelo cluster head`")
    show(token)
    try:
        there = _metadata(address)
    except Exception as error:
        raise UserError(f"the cluster at {address} cannot be joined: {reason_of(error)}") from error
    here = versions_here() | {"zermelo": ""}
    found = {"ray": there.get("ray_version", ""), "python": there.get("python_version", "")}
    if reason := difference(here, found):
        raise UserError(f"the cluster at {address} cannot be joined: {reason}")


def _metadata(address: str) -> dict[str, Any]:
    """What the head wrote about itself."""
    from ray._common.usage import usage_constants
    from ray._private import ray_constants
    from ray._raylet import GcsClient  # type: ignore[attr-defined]  # a compiled module

    client = GcsClient(address=address)
    space = ray_constants.KV_NAMESPACE_CLUSTER
    found = client.internal_kv_get(usage_constants.CLUSTER_METADATA_KEY, namespace=space)
    return dict(json.loads(found or b"{}"))
