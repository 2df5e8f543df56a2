"""What a command says when it fails: a sentence about a mistake of the user, or a fault of ours.

Mistakes are bad usage, what `errors` says is the user's, and files that the user named and that
cannot be used. Everything else is a fault of Zermelo: its traceback is shown, and what to report.
"""

from __future__ import annotations

import errno
import os
import platform
import re
import shlex
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

import typer

from zermelo.cli.exit_codes import BAD_INPUT, FAULT
from zermelo.errors import one_line, users_sentence

# Typer's own class of usage errors; releases differ in where it is defined.
_UsageError = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")

# What the machine refuses, whatever the file: no space, no permission, a broken disk.
_MACHINE = ("EACCES", "EDQUOT", "EFBIG", "EIO", "ENOSPC", "EPERM", "EROFS")
MACHINE = {getattr(errno, name) for name in _MACHINE if hasattr(errno, name)}


def tell(error: Exception, arguments: Sequence[str], show_traceback: bool) -> int:
    """Says on the error stream what went wrong; the exit code."""
    sentence = sentence_for(error, arguments)
    if sentence is None or show_traceback:
        traceback.print_exception(error)
    print(f"zermelo: {sentence or report(arguments)}", file=sys.stderr)
    return FAULT if sentence is None else BAD_INPUT


def sentence_for(error: Exception, arguments: Sequence[str]) -> str | None:
    """One line about a mistake of the user; None if Zermelo is at fault."""
    if isinstance(error, _UsageError):
        return one_line(error.format_message())  # type: ignore[attr-defined]
    if isinstance(error, OSError) and (error.errno in MACHINE or names(arguments, error.filename)):
        place = "" if error.filename is None else f"'{error.filename}': "
        return one_line(f"{place}{error.strerror}")
    return users_sentence(error)


def names(arguments: Sequence[str], file: object) -> bool:
    """Whether the arguments name a file, a folder that it is in, or something inside it.

    A name may be part of an argument, as in `FILE?simulations=8`. The folder of runs counts too.
    """
    if not isinstance(file, str | bytes | os.PathLike):
        return False
    from zermelo.runs.directory import RUNS

    place = Path(os.path.abspath(os.fsdecode(file)))
    parts = {part for word in arguments for part in (word, *re.split("[=?&:, ]", word)) if part}
    named = [Path(os.path.abspath(part)) for part in (*parts, RUNS)]
    return any(place == n or n in place.parents or place in n.parents for n in named)


def report(arguments: Sequence[str]) -> str:
    """What to send us."""
    from zermelo import __version__

    return (
        "this is a fault of Zermelo, not yours; please report the lines above, the command "
        f"'{one_line(shlex.join(['zermelo', *arguments]))}' and the version: {__version__}, "
        f"Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    )
