"""Fuzzes every parser, led by coverage: the core's by libFuzzer under ASan and UBSan, Python's by
atheris. `make fuzz SECONDS=60` tries each target for so long.

Usage: python tools/fuzz.py [--seconds 60] [--only TARGET,...] [--jobs 1] [--json] [--seeds]

Needs clang with its runtime (Debian: `clang libclang-rt-14-dev`) and `pip install atheris`, which
is no dependency since it is not there for every system. What is missing is said and counts as a
failure. Inputs that do harm are kept in build/fuzz/found; mended ones belong to tests/data/fuzz
(cpp/tests/test_fuzz_corpus.cpp) or tests/data/fuzz_python (tests/faults/test_fuzz_corpus.py).
`--seeds` writes the valid inputs that fuzzing begins with into tests/data/fuzz.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
BUILD = ROOT / "build" / "fuzz"
KEPT = ROOT / "tests" / "data"
NATIVE = tuple(
    sorted(path.stem for path in (ROOT / "cpp" / "fuzz").glob("*.cpp") if path.stem != "libfuzzer")
)
PYTHON = (
    "texts", "requests", "pgn", "epd", "csv", "run_file", "games", "shard", "safetensors", "onnx",
    "lc0",
)  # fmt: skip
ALL = (*(f"core:{name}" for name in NATIVE), *(f"python:{name}" for name in PYTHON))


def built() -> str:
    """Builds the native targets; why that cannot be."""
    compiler = shutil.which("clang++")
    if compiler is None:
        return "no clang++"
    tool = [shutil.which("cmake") or str(Path(sys.executable).with_name("cmake"))]
    sanitizers = "address,undefined,fuzzer-no-link"
    made = [*tool, "-S", str(ROOT), "-B", str(BUILD), "-G", "Ninja", "-DZERMELO_FUZZ=ON"]
    made += ["-DZERMELO_MODULE=OFF", f"-DZERMELO_SANITIZE={sanitizers}"]
    made += ["-DCMAKE_BUILD_TYPE=RelWithDebInfo", f"-DCMAKE_CXX_COMPILER={compiler}"]
    made += [f"-DCMAKE_MAKE_PROGRAM={Path(sys.executable).with_name('ninja')}"]
    for command in (made, [*tool, "--build", str(BUILD)]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            print(done.stdout[-2000:], done.stderr[-2000:], file=sys.stderr)
            return "the targets cannot be built"
    return ""


def run(target: str, seconds: int, missing: dict[str, str]) -> dict[str, Any]:
    """Executions, coverage and findings of one target."""
    side, _, name = target.partition(":")
    if missing.get(side):
        return {"executions": 0, "found": 0, "missing": missing[side]}
    own, found = BUILD / "corpus" / side / name, BUILD / "found" / side / name
    kept = KEPT / ("fuzz" if side == "core" else "fuzz_python") / name
    for folder in (own, found):
        folder.mkdir(parents=True, exist_ok=True)
    before = set(found.iterdir())
    program = [str(BUILD / f"fuzz_{name}")]
    if side == "python":
        program = [sys.executable, str(ROOT / "tools" / "fuzz_python.py"), name]
    options = [f"-max_total_time={seconds}", "-print_final_stats=1", "-timeout=20"]
    options += ["-rss_limit_mb=4000", f"-artifact_prefix={found}/", "-max_len=20000"]
    folders = [str(folder) for folder in (own, kept) if folder.is_dir()]
    done = subprocess.run(
        [*program, *options, *folders],
        env=os.environ | {"ASAN_OPTIONS": "detect_leaks=0"},
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    counted = re.search(r"number_of_executed_units: *(\d+)", done.stderr)
    covered = re.findall(r"\bcov: (\d+)", done.stderr)
    faults = len(set(found.iterdir()) - before)
    if done.returncode and not faults:
        print(done.stderr[-3000:], file=sys.stderr)
    return {
        "executions": int(counted[1]) if counted else 0,
        "coverage": int(covered[-1]) if covered else 0,
        "found": max(faults, int(done.returncode != 0)),
    }


def main() -> int:
    """Exit code 1 if something was found, or is missing."""
    parser = argparse.ArgumentParser(description="Fuzz every parser.")
    parser.add_argument("--seconds", type=int, default=60, help="for each target")
    parser.add_argument("--only", default="", help=f"some of {', '.join(ALL)}")
    parser.add_argument("--jobs", type=int, default=1, help="targets at a time")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--seeds", action="store_true", help="write what fuzzing begins with")
    options = parser.parse_args()
    if options.seeds:
        from fuzz_seeds import write_seeds

        write_seeds(KEPT / "fuzz")
        return 0
    chosen = [part for part in options.only.split(",") if part] or list(ALL)
    if unknown := set(chosen) - set(ALL):
        parser.error(f"there is no target {', '.join(sorted(unknown))}; there are {', '.join(ALL)}")
    missing = {"core": built() if any(one.startswith("core:") for one in chosen) else ""}
    if importlib.util.find_spec("atheris") is None:
        missing["python"] = "no atheris"
    results = {}
    with ThreadPoolExecutor(options.jobs) as pool:
        made = {one: pool.submit(run, one, options.seconds, missing) for one in chosen}
        for target, future in made.items():
            results[target] = future.result()
            said = " ".join(f"{k} {v}" for k, v in results[target].items())
            print(f"{target:<22} {said}", file=sys.stderr if options.json else None, flush=True)
    if options.json:
        tried = sum(one["executions"] for one in results.values())
        print(json.dumps({"tried": tried, **results}))
    return any(one["found"] or one.get("missing") for one in results.values())


if __name__ == "__main__":
    sys.exit(main())
