"""The wheel in a clean environment, away from the source: what a newcomer gets."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_wheel_alone_plays_analyses_and_refuses_politely(tmp_path: Path) -> None:
    pytest.importorskip("auditwheel")
    builder = [sys.executable, str(ROOT / "tools" / "build_wheel.py"), "--wheel-only"]
    done = subprocess.run(builder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = (ROOT / "build" / "dist").glob("*.whl")
    assert "manylinux" in wheel.name
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    install = [str(python), "-m", "pip", "install", "-q", "-c", str(ROOT / "constraints.txt")]
    subprocess.run([*install, str(wheel)], check=True)
    tried = subprocess.run(
        [str(python), str(ROOT / "tools" / "try_wheel.py")],
        capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert tried.returncode == 0, tried.stdout + tried.stderr
    assert str(tmp_path) in tried.stdout.splitlines()[0], "the installed package, not the source"
