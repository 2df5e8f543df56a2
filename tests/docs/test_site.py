"""The documentation site: built from the same pages, strictly, and nobody else is asked."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import docs_site  # noqa: E402


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("site")
    command = [sys.executable, str(ROOT / "tools" / "docs_site.py"), str(place)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return place


def test_every_page_is_there_with_search_pictures_and_a_dark_mode(site: Path) -> None:
    for page in sorted((ROOT / "docs").rglob("*.md")):
        assert (site / page.relative_to(ROOT / "docs").with_suffix(".html")).is_file(), page
    start = (site / "index.html").read_text()
    assert 'data-md-color-scheme="slate"' in start
    assert "docs/images" not in start and "images/learning.svg" in start
    assert (site / "images" / "learning.svg").is_file()
    index = (site / "search" / "search_index.json").read_text()
    assert "OpenSpiel" in index


def test_the_reference_has_the_front_door_with_its_explanations(site: Path) -> None:
    page = (site / "api" / "zermelo.html").read_text()
    for name in ("load", "LoadedPlayer", "TrainingRun", "MetricsTable", "train"):
        assert f".{name}" in page, name
    assert "plays with the network that comes with the package" in page
    assert "board_symmetries" in (site / "api" / "games.html").read_text()


def test_no_page_asks_another_host_and_one_that_does_is_found(site: Path, tmp_path: Path) -> None:
    assert list(docs_site.requests(site)) == []
    for bad in (
        '<script src="https://cdn.example/x.js"></script>',
        "<img src=//example.org/x.png>",
        '<link href="https://fonts.example/css" rel="stylesheet">',
        "<style>@import 'https://example.org/x.css'</style>",
        "<style>a { background: url(https://example.org/x.png) }</style>",
    ):
        (tmp_path / "page.html").write_text(bad)
        assert len(list(docs_site.requests(tmp_path))) == 1, bad
    (tmp_path / "page.html").write_text('<a href="https://example.org">a link to follow</a>')
    assert list(docs_site.requests(tmp_path)) == []
