"""The `zermelo` command: one module per sub-command, put together in `entry`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns the exit code."""
    if sys.stdout is None:  # closed by whoever started us: nobody listens
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] == ["uci"] and not {"-h", "--help", "--traceback"} & set(given):
        from zermelo.uci.start import main as engine  # without what the other commands import

        return engine(given[1:])
    try:
        from zermelo.cli.entry import main as run
    except KeyboardInterrupt:  # it knows no better than to show where
        return 130

    return run(arguments)
