"""A test that hangs ends the run of all tests with the stacks of all threads."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
HANGS = """
import threading
import time

def elsewhere():
    time.sleep(600)

def test_it_hangs():
    threading.Thread(target=elsewhere, daemon=True).start()
    time.sleep(600)
"""


def guard() -> list[str]:
    """What `make test` gives to pytest, with less patience."""
    (line,) = re.findall(r"^GUARD = (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    line = re.sub(r"--timeout \d+", "--timeout 3", line)
    return re.sub(r"faulthandler_timeout=\d+", "faulthandler_timeout=20", line).split()


def test_a_hang_in_a_worker_process_shows_the_stacks_of_all_threads(tmp_path: Path) -> None:
    (tmp_path / "test_hang.py").write_text(HANGS)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    command = [sys.executable, "-m", "pytest", "-n", "2", "--max-worker-restart", "0", *guard()]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=100, check=False
    )
    said = done.stdout + done.stderr
    assert done.returncode != 0
    assert "test_it_hangs" in said
    assert "elsewhere" in said, said
