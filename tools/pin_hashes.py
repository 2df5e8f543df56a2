"""Writes requirements-hashed.txt: the versions of constraints.txt with the sha256 of their files.

Usage: python tools/pin_hashes.py

Asks pip which files it would take here, without installing them. So the file is for this Python
and system, which it names, and for the build of torch that pip finds here: it must be the one
without GPU code, since constraints.txt has none of the packages that the other needs.
"""

from __future__ import annotations

import json
import platform
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
VERSIONS, HASHED = ROOT / "constraints.txt", ROOT / "requirements-hashed.txt"
FIRST = ("setuptools==84.2.1", "wheel==0.48.0")  # which build packages that have no wheel
HEAD = """\
# The packages of constraints.txt with the sha256 of their files, for {where}.
# Written by tools/pin_hashes.py. `make setup HASHES=1` installs these and refuses any other file.
"""


def asked() -> list[tuple[str, str, str]]:
    """Name, version and hash of what pip would install."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [sys.executable, "-m", "pip", "install", "-q", "--dry-run", "--no-deps"]
        command += ["--ignore-installed", "--report", str(report), "-r", str(VERSIONS), *FIRST]
        subprocess.run(command, check=True)
        found = json.loads(report.read_text())["install"]
    return sorted(
        (
            re.sub(r"[-_.]+", "-", one["metadata"]["name"]).lower(),
            one["metadata"]["version"],
            one["download_info"]["archive_info"]["hashes"]["sha256"],
        )
        for one in found
    )


def main() -> None:
    """Writes the file."""
    where = f"CPython {sys.version_info.major}.{sys.version_info.minor} on {platform.system()}"
    lines = [HEAD.format(where=f"{where}, {platform.machine()}")]
    for name, version, sha256 in asked():
        if name == "torch" and not version.endswith("+cpu"):
            sys.exit("pip finds torch with GPU code here: give it the build for processors")
        lines.append(f"{name}=={version} \\\n    --hash=sha256:{sha256}\n")
    HASHED.write_text("".join(lines))
    print(f"{len(lines) - 1} packages")


if __name__ == "__main__":
    main()
