"""What a command says apart from its answer, which alone is on the standard output."""

from __future__ import annotations

import sys


def tell(text: str) -> None:
    """One line on the error stream, at once."""
    print(text, file=sys.stderr, flush=True)
