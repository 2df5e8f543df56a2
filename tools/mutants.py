"""Breaks each technique by a small change and sees that its tests notice.

Usage: python tools/mutants.py [--only ID ...] [--python] [--json]

Every row of tools/mutant_rows.py is made in a scratch copy of the working tree; the core is built
there where the change is in it (with ccache if it is installed). Then the tests that are marked
with the technique run until one fails. A mutant that none of them notices survives: it is named,
and the exit code is 1. `--python` leaves out what takes a build.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mutant_rows import MUTANTS, Mutant
from technique_index import marked_tests
from techniques import TECHNIQUES

ROOT = Path(__file__).parents[1]
KILLED, SURVIVED, BROKEN = "killed", "survived", "broken"


def faults(root: Path = ROOT, rows: Sequence[Mutant] = MUTANTS) -> list[str]:
    """What is wrong with the table, a sentence each."""
    found = []
    for row in rows:
        path = root / row.file
        count = path.read_text().count(row.before) if path.is_file() else 0
        if row.technique not in TECHNIQUES:
            found.append(f"{row.technique} is no technique of tools/techniques.py")
        if count != 1:
            found.append(
                f"{row.technique} ({row.says}): its text occurs {count} times in {row.file}, not "
                f"once; change the row in tools/mutant_rows.py to what the code says now: "
                f"{row.before.strip()!r}"
            )
        if row.before == row.after:
            found.append(f"{row.technique} ({row.says}) changes nothing")
    return found


def missing(rows: Sequence[Mutant] = MUTANTS) -> list[str]:
    """Techniques without a row."""
    return [i for i in TECHNIQUES if i not in {row.technique for row in rows}]


def table() -> str:
    """For docs/techniques.md."""
    lines = ["| id | broken on purpose | file |", "|---|---|---|"]
    lines += [f"| {row.technique} | {row.says} | [{row.file}](../{row.file}) |" for row in MUTANTS]
    if names := missing():
        lines += ["", f"Without a row so far: {', '.join(names)}."]
    return "\n".join(lines)


class Scratch:
    """A copy of the tree with an environment that imports it; `undo` makes it whole again."""

    def __init__(self, place: Path) -> None:
        self.root = place / "copy"
        names = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT, check=True, stdout=subprocess.PIPE,
        ).stdout.decode().split("\0")  # fmt: skip
        for name in filter(None, names):
            if (ROOT / name).is_file():
                (self.root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, self.root / name)
        for built in (ROOT / "src" / "zermelo").glob("_core*"):
            shutil.copy2(built, self.root / "src" / "zermelo")
        self._built = place / "build"
        self._core = self._find_core()

    def _find_core(self) -> Path | None:
        """The core as it is built for this tree."""
        from zermelo import _core

        return Path(str(_core.__file__))

    def run(self, row: Mutant) -> dict[str, Any]:
        """What becomes of the mutant."""
        path = self.root / row.file
        whole = path.read_text()
        path.write_text(whole.replace(row.before, row.after))
        found: dict[str, Any] = {"technique": row.technique, "says": row.says, "file": row.file}
        try:
            core = self._core
            if row.native:
                core, trouble = self._build()
                if core is None:
                    return found | {"verdict": BROKEN, "why": trouble}
            return found | self._test(row.technique, core)
        finally:
            path.write_text(whole)

    def _build(self) -> tuple[Path | None, str]:
        launcher = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
        commands = [
            ["cmake", "-S", str(self.root), "-B", str(self._built), "-G", "Ninja",
             f"-DPython_EXECUTABLE={sys.executable}", "-DCMAKE_BUILD_TYPE=Release",
             "-DCMAKE_INTERPROCEDURAL_OPTIMIZATION=OFF", *launcher],
            ["cmake", "--build", str(self._built), "--target", "_core"],
        ]  # fmt: skip
        bin_ = str(Path(sys.executable).parent)
        environment = {**os.environ, "PATH": f"{bin_}{os.pathsep}{os.environ['PATH']}"}
        for command in commands:
            done = subprocess.run(
                command, check=False, env=environment, text=True, capture_output=True
            )
            if done.returncode:
                return None, (done.stdout + done.stderr)[-2000:]
        return next(self._built.rglob("_core*.so"), None), "the build made no core"

    def _test(self, technique: str, core: Path | None) -> dict[str, Any]:
        if core is not None:
            for old in (self.root / "src" / "zermelo").glob("_core*.so"):
                old.unlink()
            shutil.copy2(core, self.root / "src" / "zermelo")
        tests = [f"tests/{name}" for name in marked_tests(self.root / "tests")[technique]]
        # The editable install's finder comes before the path, so it is told to stay away.
        program = (
            "import sys; sys.meta_path[:] = [f for f in sys.meta_path if 'Editable' not in "
            "type(f).__name__ and 'ScikitBuild' not in type(f).__name__]; "
            f"sys.path.insert(0, {str(self.root / 'src')!r}); import zermelo; "
            f"assert zermelo.__file__.startswith({str(self.root)!r}), zermelo.__file__; "
            "import pytest; sys.exit(pytest.main(sys.argv[1:]))"
        )
        done = subprocess.run(
            [sys.executable, "-c", program, "-q", "-x", "-n", "0", "-p", "no:cacheprovider",
             "-m", "", *dict.fromkeys(tests)],
            cwd=self.root, check=False, text=True, capture_output=True,
        )  # fmt: skip
        lines = done.stdout.splitlines()
        failed = [line.split()[1] for line in lines if line.startswith(("FAILED ", "ERROR "))]
        if done.returncode == 0:
            return {"verdict": SURVIVED, "tests": tests}
        if done.returncode == 1 and failed:
            return {"verdict": KILLED, "by": failed[0]}
        return {"verdict": BROKEN, "why": (done.stdout + done.stderr)[-2000:]}


def main() -> int:
    """Runs the mutants that are asked for."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--only", nargs="+", default=[], metavar="ID", help="these techniques")
    parser.add_argument("--python", action="store_true", help="leave out what takes a build")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    chosen = parser.parse_args()
    if unknown := sorted(set(chosen.only) - {row.technique for row in MUTANTS}):
        parser.error(f"there is no mutant of {', '.join(unknown)}")
    if wrong := faults():
        print("\n".join(wrong), file=sys.stderr)
        return 2
    rows = [row for row in MUTANTS if not chosen.only or row.technique in chosen.only]
    rows = [row for row in rows if not (chosen.python and row.native)]
    found = []
    with tempfile.TemporaryDirectory() as place:
        scratch = Scratch(Path(place))
        for row in rows:
            found.append(scratch.run(row))
            if not chosen.json:
                last = found[-1]
                tail = last.get("by") or last.get("why", "")[-300:] or "no test noticed"
                print(f"{row.technique:4} {last['verdict']:9} {row.says}: {tail}", flush=True)
    bad = [row for row in found if row["verdict"] != KILLED]
    if chosen.json:
        print(json.dumps({"mutants": found, "survivors": len(bad), "without": missing()}))
    else:
        print(f"{len(found)} mutants, {len(bad)} not killed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
