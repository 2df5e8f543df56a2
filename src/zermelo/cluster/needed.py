"""Whether Ray is there, and what to say if it is not. Imports nothing of it."""

from __future__ import annotations

import importlib.util

from zermelo.errors import UserError


def need_ray() -> None:
    """Before anything is made."""
    if importlib.util.find_spec("ray") is None:
        raise UserError("--cluster needs the package 'ray': install zermelo[cluster]")
