"""Tries the faults of `fault_matrix.py` and writes docs/reliability.md: how often, what was lost.

Usage: python tools/faults.py [--rows 1,5,16] [--quick] [--only TEXT] [--page]

`--quick` leaves out slow tests and the programs that take minutes; the page says so. `--only` runs
of the rows only the programs whose command has that text, or with `tests` only their tests; what
else the row has stays as it was. `--page` only writes the page anew from docs/reliability.json, in
which the newest result of every row is kept. The exit code is 1 if something failed.
"""

from __future__ import annotations

import argparse
import datetime
import fcntl
import json
import os
import platform
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as Xml
from pathlib import Path
from typing import Any

from fault_matrix import FAULTS, Fault

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs" / "reliability.json"
PAGE = ROOT / "docs" / "reliability.md"
LOCK = Path(tempfile.gettempdir()) / "zermelo-faults.lock"
HEAD = """\
# Reliability

What was done to Zermelo, how often, and what was lost. `make faults` tries it all and writes this
page; `make faults ROWS=5,16` tries some rows, `make faults QUICK=1` leaves out what takes minutes.
Each row has the day of its own run. "Tried" adds up what tests and programs counted themselves; a
test that counts nothing is one try.

| # | fault | must hold | tests | tried | lost | seconds | run |
|---|---|---|---|---|---|---|---|
"""


def try_row(fault: Fault, quick: bool, only: str) -> dict[str, Any]:
    """Runs the row's tests and programs; the figures of those that were run."""
    found: dict[str, Any] = {"programs": []}
    if fault.tests and only in ("", "tests"):
        began = time.monotonic()
        found |= {"figures": {}} | run_tests(fault.tests, quick)
        found |= {"seconds": round(time.monotonic() - began, 1), "quick": quick}
    for command in () if quick or only == "tests" else fault.programs:
        if only in command:
            found["programs"].append(run_program(command))
    return found | {"machine": machine(), "day": datetime.date.today().isoformat()}


def merged(fault: Fault, before: dict[str, Any], found: dict[str, Any]) -> dict[str, Any]:
    """What is known of a row: what was not run now is as before."""
    run = {one["command"] for one in found["programs"]}
    kept = [
        one
        for one in before.get("programs", [])
        if one["command"] in fault.programs and one["command"] not in run
    ]
    return NOTHING | before | found | {"programs": [*kept, *found["programs"]]}


SPECIAL = {"avx512f": "AVX-512", "avx512_vnni": "VNNI", "avx512_bf16": "bf16"}
NOTHING = {"tests": 0, "tried": 0, "failed": 0, "skipped": 0, "seconds": 0.0, "quick": False}


def faulty(found: dict[str, Any]) -> int:
    """Tests and programs of a row that failed."""
    failed: int = found["failed"] + sum(1 for one in found["programs"] if one["code"])
    return failed


def tries(found: dict[str, Any]) -> int:
    """What a row's tests and programs counted."""
    tried: int = found["tried"] + sum(one["tried"] for one in found["programs"])
    return tried


def run_tests(tests: tuple[str, ...], quick: bool) -> dict[str, Any]:
    """Counts of a run of pytest, and the properties that tests recorded."""
    with tempfile.TemporaryDirectory() as directory:
        report = Path(directory) / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests]
        command += ["-n", "2", "--dist", "loadfile", "--max-worker-restart", "0"]
        command += ["-o", "timeout=3600"]  # others may stop us for minutes
        command += [f"--junitxml={report}", "-m", "not slow" if quick else ""]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if not report.exists():
            print(done.stdout[-3000:], done.stderr[-3000:], file=sys.stderr)
            return {"failed": 1}
        return counts(Xml.parse(report).getroot())


def counts(report: Xml.Element) -> dict[str, Any]:
    """What a report in JUnit's form says."""
    found = {"tests": 0, "tried": 0, "failed": 0, "skipped": 0}
    figures: dict[str, str] = {}
    for case in report.iter("testcase"):
        if case.find("skipped") is not None:
            found["skipped"] += 1
            continue
        found["tests"] += 1
        if case.find("failure") is not None or case.find("error") is not None:
            found["failed"] += 1
            print(f"failed: {case.get('classname')}::{case.get('name')}", file=sys.stderr)
        recorded = {one.get("name", ""): one.get("value", "") for one in case.iter("property")}
        found["tried"] += int(recorded.pop("tried", "1"))
        for name, value in recorded.items():
            figures[name] = larger(figures.get(name, value), value)
    return found | ({"figures": figures} if figures else {})


def larger(one: str, other: str) -> str:
    """Of a figure that several tests record: the worst, or what came last if it is no number."""
    try:
        return max(one, other, key=float)
    except ValueError:
        return other


def run_program(command: str) -> dict[str, Any]:
    """A program's exit code and the plain figures of what it printed."""
    words = [sys.executable, *shlex.split(command)]
    began = time.monotonic()
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    seconds = round(time.monotonic() - began, 1)
    try:
        said = json.loads(done.stdout[done.stdout.index("{") :])
    except ValueError:
        said = {}
    if done.returncode:
        print(command, done.stdout[-2000:], done.stderr[-2000:], sep="\n", file=sys.stderr)
    tried = said.pop("tried", 0)
    plain = {key: value for key, value in said.items() if isinstance(value, int | float | str)}
    plain |= {
        f"{key} {inner}": value
        for key, table in said.items()
        if isinstance(table, dict)
        for inner, value in table.items()
        if isinstance(value, int | float | str)
    }
    return {
        "command": command,
        "code": done.returncode,
        "figures": plain,
        "tried": tried,
        "seconds": seconds,
    }


def machine() -> str:
    """In a few words."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    said = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    flags = said.get("flags", "").split()
    able = [word for flag, word in SPECIAL.items() if flag in flags]
    words = [f"{len(os.sched_getaffinity(0))} cores", said.get("model name", platform.machine())]
    return ", ".join([*words, *able, platform.system()])


def page(results: dict[str, Any]) -> str:
    """The whole document."""
    lines = [row(fault, results.get(str(fault.number))) for fault in FAULTS]
    return HEAD + "\n".join(lines) + "\n" + details(results)


def row(fault: Fault, found: dict[str, Any] | None) -> str:
    """A line of the table."""
    begin = f"| {fault.number} | {fault.title} | {fault.wanted} |"
    if found is None:
        return f"{begin} | | | | not run: {fault.short or 'not yet'} |"
    failed = faulty(found)
    lost = f"**{failed} failed**" if failed else "nothing"
    notes = [found["day"]]
    missing = set(fault.programs) - {one["command"] for one in found["programs"]}
    if found["quick"] or missing or (fault.tests and not found["tests"]):
        notes.append("not all of it")
    if found["skipped"]:
        notes.append(f"{found['skipped']} tests skipped")
    if fault.short:
        notes.append(fault.short)
    seconds = found["seconds"] + sum(one["seconds"] for one in found["programs"])
    counted = f"{found['tests']} | {tries(found):,} | {lost} | {seconds:,.0f}"
    return f"{begin} {counted} | {'; '.join(notes)} |"


def details(results: dict[str, Any]) -> str:
    """Figures of programs and tests, and the machines."""
    text = "\n## Figures\n\n"
    for fault in FAULTS:
        found = results.get(str(fault.number))
        if found is None:
            continue
        shown = [f"{name} {value}" for name, value in found.get("figures", {}).items()]
        for one in found["programs"]:
            figures = ", ".join(f"{name} {value}" for name, value in one["figures"].items())
            ended = f"ended with {one['code']}"
            shown.append(f"`{one['command']}`: {figures or ended}")
        if shown:
            text += f"- {fault.number}, {fault.title}: {'; '.join(shown)}\n"
    machines = sorted({found["machine"] for found in results.values()})
    return text + "\nMachines: " + "; ".join(machines) + ".\n"


def main() -> int:
    """Exit code 1 if a row failed."""
    parser = argparse.ArgumentParser(description="Try the faults.")
    parser.add_argument("--rows", default="", help="numbers, with commas between them")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="", help="a part of a program's command, or `tests`")
    parser.add_argument("--page", action="store_true", help="only write the page")
    options = parser.parse_args()
    # A shell's job in the background ignores Ctrl-C, and so would all that we start.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    results: dict[str, Any] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    chosen = [int(part) for part in options.rows.split(",") if part]
    failed = False
    for fault in () if options.page else FAULTS:
        if (chosen and fault.number not in chosen) or not (fault.tests or fault.programs):
            continue
        if options.quick and not fault.tests:
            continue
        fresh = try_row(fault, options.quick, options.only)
        # Rows, and parts of a row, may be tried side by side.
        with LOCK.open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
            found = merged(fault, results.get(str(fault.number), {}), fresh)
            results[str(fault.number)] = found
            RESULTS.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")
            PAGE.write_text(page(results))
        bad = faulty(found)
        failed |= bool(bad)
        print(f"{fault.number:>2} {fault.title}: {tries(found)} tried, {bad} failed", flush=True)
    if options.page:
        PAGE.write_text(page(results))
    return failed


if __name__ == "__main__":
    sys.exit(main())
