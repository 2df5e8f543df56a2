"""What atheris found in Python's parsers, tests/data/fuzz_python/<target>, is tried every time."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from scripts import load_script

TESTS = Path(__file__).parents[1]
sys.path.append(str(TESTS / "network"))  # where the small networks of lc0 are
TARGETS = load_script("tools/fuzz.py").PYTHON
fuzz_python = load_script("tools/fuzz_python.py")


@pytest.mark.parametrize("target", TARGETS)
def test_what_was_found_is_read_or_refused(tmp_path: Path, target: str) -> None:
    attempt, seed = fuzz_python.attempts(target, tmp_path)
    attempt(seed)
    attempt(seed[: len(seed) // 2])
    for path in sorted((TESTS / "data" / "fuzz_python" / target).glob("*")):
        attempt(path.read_bytes())
