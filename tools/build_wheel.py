"""Builds the source archive and the wheel into build/dist, and makes the wheel a manylinux one.

Usage: python tools/build_wheel.py [--wheel-only]

The wheel is built from this tree, with what is compiled already, and repaired by auditwheel: its
tag then says which systems it runs on. Prints names and sizes.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST = ROOT / "build" / "dist"


def main(arguments: list[str]) -> int:
    """Exit code 1 if a step fails."""
    DIST.mkdir(parents=True, exist_ok=True)
    for old in DIST.glob("zermelo-*"):
        old.unlink()
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir"]
    if "--wheel-only" not in arguments:
        subprocess.run([*build, str(DIST), "--sdist"], cwd=ROOT, check=True)
    with tempfile.TemporaryDirectory() as aside:
        subprocess.run([*build, aside, "--wheel"], cwd=ROOT, check=True)
        wheel = next(Path(aside).glob("*.whl"))
        if sys.platform != "linux":
            shutil.copy(wheel, DIST)
        else:
            paths = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
            repair = [sys.executable, "-m", "auditwheel", "repair", str(wheel), "-w", str(DIST)]
            subprocess.run(repair, check=True, env=os.environ | {"PATH": paths})  # finds patchelf
    for path in sorted(DIST.iterdir()):
        print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
