"""The simulations of `benchmarks/match_statistics.py`, for tests."""

import importlib.util
from pathlib import Path
from types import ModuleType


def load() -> ModuleType:
    path = Path(__file__).parents[2] / "benchmarks" / "match_statistics.py"
    spec = importlib.util.spec_from_file_location("match_statistics", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
