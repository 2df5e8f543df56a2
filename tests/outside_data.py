"""Data of tests that is too large for the repository: suites, books, networks, tablebases.

The one place of the project that looks outside its own folder: in the folder that the environment
variable ZERMELO_TEST_DATA names, else in `shared/data` beside the checkout. A test that asks for
what is not there is skipped and says so.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"


def outside_data(name: str) -> Path:
    """The file or folder `name`, such as `nets/maia-1500.pb.gz`."""
    path = Path(os.environ.get("ZERMELO_TEST_DATA") or BESIDE) / name
    if not path.exists():
        pytest.skip(f"{name} is not in the folder of ZERMELO_TEST_DATA")
    return path
