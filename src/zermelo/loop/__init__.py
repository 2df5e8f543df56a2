"""The whole training loop on one machine: run directories, local processes, the cycle."""

from zermelo.loop.cycle import run_loop
from zermelo.loop.stop import Stop, StoppedError
from zermelo.loop.view import PlainView, View, make_view
from zermelo.runs.directory import Run, is_run, new_run_path

__all__ = [
    "PlainView",
    "Run",
    "Stop",
    "StoppedError",
    "View",
    "is_run",
    "make_view",
    "new_run_path",
    "run_loop",
]
