"""The benchmark of the processor network runs, every row of it; its figures are not judged here."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from scripts import ROOT

MATES = ROOT / "src" / "zermelo" / "data" / "chess_mates.epd"
BENCHMARK = ROOT / "benchmarks" / "processor_network.py"


def quick(*more: str) -> str:
    command = [sys.executable, str(BENCHMARK), "--quick", *more]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.mark.parametrize(
    ("row", "side", "figures"),
    [
        ("bare", "chess sparse 512 attacks", {"evaluations", "legal_actions"}),
        ("selfplay", "my_game.py sparse 256, timed", {"simulations", "share_in_rules"}),
        pytest.param(
            "search",
            "sparse 256, 2 threads",
            {"nodes", "of_bare", "times_the_faster_tower"},
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "trainer",
            "sparse 512 attacks, 1 threads",
            {"samples", "training_share"},
            marks=pytest.mark.slow,
        ),
    ],
)
def test_every_row_runs_and_names_the_machine(row: str, side: str, figures: set[str]) -> None:
    for package in ("openvino", "torch"):
        pytest.importorskip(package, reason=f"{package} is not installed")
    found = json.loads(quick("--only", row, "--json", "--positions", str(MATES)))
    assert found["processor"] and found["instruction_set"] in ("portable", "avx2", "avx512")
    assert set(found["rows"]) == {row}
    measured = found["rows"][row][side]
    assert figures <= set(measured) and all(value > 0 for value in measured.values())
