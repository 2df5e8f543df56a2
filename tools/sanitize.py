"""Runs the core's tests under the sanitizers; `make sanitize` builds them. Prints what was found.

Usage: python tools/sanitize.py [--storm 60] [--json]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
SIDES = {"asan": (), "tsan": ("threads",)}  # what each is asked for; nothing is everything
REPORT = re.compile(r"ERROR: \w+Sanitizer|WARNING: \w+Sanitizer|runtime error:")


def run(side: str, storm: float) -> dict[str, Any]:
    """The tests of one build: passed, failed, reports."""
    program = ROOT / "build" / side / "core_tests"
    if not program.exists():
        return {"passed": 0, "failed": 1, "reports": f"no {program}: run `make sanitize` first"}
    environment = {
        "ASAN_OPTIONS": "detect_leaks=1",
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "ZERMELO_STORM_SECONDS": str(storm),
    }
    done = subprocess.run(
        [str(program), *SIDES[side]],
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
    parser.add_argument("--storm", type=float, default=30.0, help="seconds for each game")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = {side: run(side, options.storm) for side in SIDES}
    if options.json:
        print(json.dumps(found))
    else:
        for side, figures in found.items():
            print(side, *(f"{name} {value}" for name, value in figures.items()))
    return any(figures["failed"] or figures["reports"] for figures in found.values())


if __name__ == "__main__":
    sys.exit(main())
