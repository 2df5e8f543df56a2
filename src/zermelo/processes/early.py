"""Ctrl-C while a command of ours is still importing: one line instead of where it was.

Imported by the package before anything else, for what it does: in the processes of `zermelo` and
`zermelo-uci` an interruption that nobody caught is told as any other. Other programs are left
alone. NumPy may make an ImportError of it that does not tell, so that it came is noted.
"""

from __future__ import annotations

import signal
import sys
from types import FrameType, TracebackType

COMMANDS = ("zermelo", "zermelo-uci")


def is_command() -> bool:
    """Whether this process is one of our own commands."""
    words = list(getattr(sys, "orig_argv", []))
    program = (getattr(sys, "argv", None) or [""])[0]
    if program == "-m":  # its name is not found out yet
        at = words.index("-m") + 1 if "-m" in words else len(words)
        return any(word.partition(".")[0] == "zermelo" for word in words[at : at + 1])
    return program.replace("\\", "/").rpartition("/")[2].partition(".")[0] in COMMANDS


def note(number: int, frame: FrameType | None) -> None:
    """Python's own answer to Ctrl-C, and a note of it."""
    pressed.append(number)
    signal.default_int_handler(number, frame)


def tell(kind: type[BaseException], error: BaseException, where: TracebackType | None) -> None:
    """In place of Python's own way to show what nobody caught."""
    if isinstance(error, KeyboardInterrupt) or (pressed and isinstance(error, ImportError)):
        print("zermelo: interrupted", file=sys.stderr)
    else:
        sys.__excepthook__(kind, error, where)


pressed: list[int] = []
if is_command() and sys.excepthook is sys.__excepthook__:
    sys.excepthook = tell
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, note)
