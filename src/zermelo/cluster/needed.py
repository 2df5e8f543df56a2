"""Whether Ray is there, and what to say if it is not. Imports nothing of it."""

from __future__ import annotations

import importlib.util

from zermelo.errors import UserError

# What Ray's dashboard is made with; plain `ray` brings none of it.
DASHBOARD = ("aiohttp_cors", "opencensus", "prometheus_client")


def need_dashboard() -> None:
    """Before a head is started with it."""
    if any(importlib.util.find_spec(name) is None for name in DASHBOARD):
        raise UserError("--dashboard needs more of Ray: install ray[default]")


def need_ray() -> None:
    """Before anything is made."""
    if importlib.util.find_spec("ray") is None:
        raise UserError("--cluster needs the package 'ray': install zermelo[cluster]")
