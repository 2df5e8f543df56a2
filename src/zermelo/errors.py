"""What a person did wrong, as opposed to what the program did wrong, and what was probably meant.

A `UserError` carries exactly one sentence; the command line prints it and nothing else. It is a
`ValueError`, so that callers of the library need not know it.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class UserError(ValueError):
    """A mistake in what was asked for; the message is one sentence for the person who asked."""


def nearest(name: str, names: Iterable[str]) -> str:
    """The end of a sentence about an unknown name: the one that was probably meant, or all."""
    known = {each.lower(): each for each in sorted(names)}
    close = difflib.get_close_matches(name.lower(), known, 1, 0.5)
    if close:
        return f"did you mean '{known[close[0]]}'?"
    return f"there are {', '.join(known.values()) or 'none'}"
