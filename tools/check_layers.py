"""Checks the includes of the C++ core: they point down the ladder only, and Python stays outside.

Usage: python tools/check_layers.py [FOLDER]   (default: cpp beside this file's folder)

Prints one line per violation and exits with 1 if there is any. Python's own layers are checked by
import-linter; its contracts are in pyproject.toml.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

LADDER = ("base", "games", "network", "search", "selfplay", "bindings")
ANYTHING = {"tests", "fuzz"}  # folders that may include every folder but bindings
BINDINGS = "bindings"
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
PYTHON = re.compile(r"^(Python\.h|nanobind/|pybind11/|numpy/)")


def violations(root: Path) -> Iterator[str]:
    """`file:line: what is wrong`, in the order of the files."""
    for path in sorted(root.rglob("*.[ch]pp")):
        folder = path.relative_to(root).parts[0]
        if folder not in (*LADDER, *ANYTHING):
            yield f"{path}:1: the folder '{folder}' is not on the ladder {' <- '.join(LADDER)}"
            continue
        for number, line in enumerate(path.read_text().splitlines(), start=1):
            found = INCLUDE.match(line)
            reason = found and objection(root, folder, found[1] == '"', found[2])
            if reason:
                yield f"{path}:{number}: {reason}"


def objection(root: Path, folder: str, own: bool, target: str) -> str:
    """Why a file of `folder` may not include `target`; empty if it may."""
    if PYTHON.match(target):
        return "" if folder == BINDINGS else f"'{target}' is for {BINDINGS} only"
    if not own:
        return ""
    other = target.split("/", maxsplit=1)[0]
    if not (root / target).is_file():
        return f"'{target}' is no file below {root.name}: includes are written from there"
    if other in ANYTHING:
        return "" if folder in ANYTHING else f"'{target}' is for tests only"
    if folder in ANYTHING:
        return f"tests do not include '{target}'" if other == BINDINGS else ""
    if LADDER.index(other) > LADDER.index(folder):
        return f"{folder} may not include '{target}': {other} is above it"
    return ""


def main() -> int:
    """0 if the ladder stands."""
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "cpp"
    found = list(violations(root))
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
