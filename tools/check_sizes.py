"""Checks that files of code stay small: none above 400 lines, the sources' median below 130.

Usage: python tools/check_sizes.py

Prints one line per violation and exits with 1 if there is any. Looks at what git knows.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
CODE = (
    "src/*.py",
    "cpp/*.hpp",
    "cpp/*.cpp",
    "tests/*.py",
    "tools/*.py",
    "tools/*.cpp",
    "benchmarks/*.py",
)
SOURCES = ("src/", "cpp/")  # whose median counts
MOST, MEDIAN = 400, 130  # lines


def violations(lines: Mapping[str, int]) -> Iterator[str]:
    """What is wrong with these numbers of lines by file; the largest file first."""
    for name, count in sorted(lines.items(), key=lambda item: -item[1]):
        if count > MOST:
            yield f"{name} has {count} lines, more than {MOST}: split it by subject"
    median = statistics.median(count for name, count in lines.items() if name.startswith(SOURCES))
    if median >= MEDIAN:
        yield f"the median of the sources is {median:g} lines, not below {MEDIAN}"


def sizes() -> dict[str, int]:
    """Lines of each file of code, by its path from the root."""
    listed = subprocess.run(
        ["git", "ls-files", *CODE], cwd=ROOT, capture_output=True, text=True, check=True
    )
    paths = [path for name in listed.stdout.split() if (path := ROOT / name).exists()]
    return {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in paths}


if __name__ == "__main__":
    found = list(violations(sizes()))
    print("\n".join(found) or "no file of code is too long")
    sys.exit(bool(found))
