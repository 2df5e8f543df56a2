"""The notebooks in examples/ run from top to bottom, show pictures, and are stored bare."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

nbformat = pytest.importorskip("nbformat")

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))


def read(path: Path) -> Any:
    return nbformat.read(path, as_version=4)


def test_there_are_three_of_them_and_none_has_stored_output() -> None:
    assert len(NOTEBOOKS) == 3
    for path in NOTEBOOKS:
        for cell in read(path).cells:
            assert not cell.get("outputs"), (path.name, cell.source)


# What makes a notebook quick enough for every run of the tests.
BRIEF = (
    ('"loop.samples_per_iteration": 600', '"loop.samples_per_iteration": 60'),
    ("iterations=3", "iterations=1"),
    ("simulations=20000", "simulations=300"),
    ("geomspace(10, 5000, 12)", "geomspace(10, 100, 3)"),
    ("simulations=400", "simulations=20"),
)


@pytest.mark.timeout(300)
@pytest.mark.filterwarnings("ignore")  # of the kernel's own packages
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_cell_of_a_notebook_runs_with_small_numbers(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notebook = read(path)
    shorter = 0
    for cell in notebook.cells:
        for long, short in BRIEF:
            shorter += cell.source.count(long)
            cell.source = cell.source.replace(long, short)
    assert shorter >= 2  # else the notebook has other numbers now
    execute(notebook, tmp_path, monkeypatch)


def execute(notebook: Any, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cell that raises ends it."""
    client = pytest.importorskip("nbclient")
    monkeypatch.setenv("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    monkeypatch.setenv("MPLCONFIGDIR", str(place))
    monkeypatch.setenv("PYTHONPATH", os.environ.get("PYTHONPATH", ""))
    client.NotebookClient(
        notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": place}}
    ).execute()


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.filterwarnings("ignore")  # of the kernel's own packages
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_pictures(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notebook = read(path)
    execute(notebook, tmp_path, monkeypatch)
    kinds = {
        kind
        for cell in notebook.cells
        for output in cell.get("outputs", ())
        for kind in output.get("data", {})
    }
    assert "image/png" in kinds, "a curve"
    if path.stem != "your_own_game":
        assert {"image/svg+xml", "text/html"} & kinds, "a board"
