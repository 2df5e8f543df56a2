"""The guide's list of steps names tests that there are."""

from __future__ import annotations

import re
from pathlib import Path

HERE = Path(__file__).parent
GUIDE = HERE.parents[1] / "docs" / "guide" / "uci.md"


def test_every_step_of_the_guide_has_its_tests() -> None:
    text = GUIDE.read_text()
    rows = text.partition("| step | test in tests/uci |")[2].partition("\n\n")[0].splitlines()[2:]
    known = {
        name
        for file in HERE.glob("test_*.py")
        for name in re.findall(r"^def (test_\w+)", file.read_text(), re.MULTILINE)
    }
    assert len(rows) > 20
    for row in rows:
        named = re.findall(r"`(test_\w+)`", row)
        assert named, row
        assert set(named) <= known, set(named) - known
