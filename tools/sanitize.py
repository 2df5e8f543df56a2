"""Runs the core's tests under the sanitizers; `make sanitize` builds them. Prints what was found.

Usage: python tools/sanitize.py [--storm 60] [--simulations 100000] [--schedules 300]
                                [--only asan] [--json]

`checked` is the standard library with its own assertions; `valgrind` runs some tests of that build,
if it is installed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
# The build's folder, what is put before it, and which tests it is asked for; none is all.
SIDES: dict[str, tuple[str, list[str], list[str]]] = {
    "asan": ("asan", [], []),
    "tsan": ("tsan", [], ["threads"]),
    "checked": ("checked", [], []),
    "valgrind": ("checked", ["valgrind", "-q", "--error-exitcode=9"], ["saved"]),
}
REPORT = re.compile(
    r"ERROR: \w+Sanitizer|WARNING: \w+Sanitizer|runtime error:|Assertion .* failed|"
    r"==\d+== (Invalid|Conditional jump|Use of uninit|Mismatched)"
)


def run(side: str, options: argparse.Namespace) -> dict[str, Any]:
    """The tests of one build: passed, failed, reports."""
    folder, before, asked = SIDES[side]
    program = ROOT / "build" / folder / "core_tests"
    if before and not shutil.which(before[0]):
        return {"passed": 0, "failed": 0, "reports": 0, "missing": f"no {before[0]}"}
    if not program.exists():
        return {"passed": 0, "failed": 1, "reports": f"no {program}: run `make sanitize` first"}
    environment = {
        "ASAN_OPTIONS": "detect_leaks=1",
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "ZERMELO_STORM_SECONDS": str(options.storm if side == "tsan" else 1),
        "ZERMELO_SIMULATIONS": str(options.simulations if side == "asan" else 3000),
        "ZERMELO_SCHEDULES": str(options.schedules if side == "tsan" else 20),
    }
    done = subprocess.run(
        [*before, str(program), *asked],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    counted = re.search(r"(\d+) passed, (\d+) failed", done.stdout)
    passed, failed = (int(counted[1]), int(counted[2])) if counted else (0, 1)
    reports = len(REPORT.findall(done.stderr + done.stdout))
    return {"passed": passed, "failed": failed + (done.returncode != 0), "reports": reports}


def main() -> int:
    """Exit code 1 if anything was found."""
    parser = argparse.ArgumentParser(description="Run the core's tests under the sanitizers.")
    parser.add_argument("--storm", type=float, default=60.0, help="seconds for each game")
    parser.add_argument("--simulations", type=int, default=100_000, help="of the long searches")
    parser.add_argument("--schedules", type=int, default=300, help="of four threads")
    parser.add_argument("--only", choices=SIDES, help="one of them")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = {side: run(side, options) for side in SIDES if options.only in (None, side)}
    if options.json:
        tried = sum(figures["passed"] + figures["failed"] for figures in found.values())
        print(json.dumps({"tried": tried, **found}))
    else:
        for side, figures in found.items():
            print(side, *(f"{name} {value}" for name, value in figures.items()))
    return any(figures["failed"] or figures["reports"] for figures in found.values())


if __name__ == "__main__":
    sys.exit(main())
