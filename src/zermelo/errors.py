"""What a person did wrong, as opposed to what the program did wrong.

A `UserError` carries exactly one sentence; the command line prints it and nothing else. It is a
`ValueError`, so that callers of the library need not know it.
"""

from __future__ import annotations


class UserError(ValueError):
    """A mistake in what was asked for; the message is one sentence for the person who asked."""
