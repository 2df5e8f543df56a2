"""The one `openvino.Core` of this process; knows no network.

A core gives the thread in which it first compiles a stack for signal handlers. When the core goes,
it frees that stack and puts back the one that it had found. So of two cores the later may put back
the stack that the earlier has freed, and the next Ctrl-C is a segmentation fault.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import openvino as ov


@cache
def openvino_core() -> Any:
    """Compiles models for all threads of this process, and lives as long as it."""
    return ov.Core()
