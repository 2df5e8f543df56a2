"""Keeps what Ray says of dead nodes off the standard output, which belongs to our answers.

Ray prints it in a driver whatever `log_to_driver` is. The pool says the same in a line of its own.
"""

from __future__ import annotations

import logging
from typing import Any

_log = logging.getLogger(__name__)


def keep_silent() -> None:
    """In this process, before it connects. Who wants to hear Ray listens to this logger."""
    from ray._private import worker

    def note(data: dict[str, Any], **_: Any) -> None:
        _log.info("%s: %s", data.get("pid"), "\n".join(map(str, data.get("lines", ()))))

    worker.print_to_stdstream = note
