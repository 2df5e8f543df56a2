"""The table of changes that break techniques: true to the code, and whole."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path

import pytest
from scripts import load_script

# Each imports those before it by name.
for name in ("techniques", "technique_index", "mutant_rows"):
    load_script(f"tools/{name}.py")
mutants = load_script("tools/mutants.py")


def test_each_change_fits_the_code_as_it_is() -> None:
    assert not mutants.faults(), "\n".join(mutants.faults())


def test_each_technique_can_be_broken() -> None:
    names = ", ".join(mutants.missing())
    assert not names, f"add a row for {names} to tools/mutant_rows.py: a change that breaks it"


def test_a_row_that_the_code_left_behind_is_told_with_what_to_do(tmp_path: Path) -> None:
    row = mutants.MUTANTS[0]
    stale = dataclasses.replace(row, before="no such text")
    (fault,) = mutants.faults(rows=[stale])
    assert "occurs 0 times" in fault
    assert "tools/mutant_rows.py" in fault
    gone = mutants.faults(root=tmp_path, rows=[row])
    assert row.file in gone[0]
    assert mutants.missing(rows=[row])[0] != row.technique


@pytest.mark.slow
@pytest.mark.timeout(4 * 3600)
def test_no_mutant_survives() -> None:
    done = subprocess.run(
        [sys.executable, "tools/mutants.py"],
        cwd=Path(__file__).parents[2], check=False, text=True, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
