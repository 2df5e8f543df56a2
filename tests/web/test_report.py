"""`zermelo report`: one file that needs nothing else, whatever the run says."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from zermelo.cli import main

HOSTILE = "<img src=x onerror=alert(1)>"


class Elements(HTMLParser):
    """What a browser would see."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.data = ""
        self._within = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self._within = dict(attrs).get("id") or ""
        self.addresses += [
            value or "" for name, value in attrs if name in ("src", "href", "xlink:href", "action")
        ]

    def handle_data(self, data: str) -> None:
        if self._within == "data":
            self.data += data


@pytest.fixture(scope="module")
def text(watched: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("report")
    run = folder / HOSTILE
    shutil.copytree(watched, run)
    with (run / "metrics" / "metrics.jsonl").open("a") as file:
        file.write('{"iteration": 9, "evaluate": {"</script><b>.solved": 0.5}}\n{"odd\n')
    assert main(["report", str(run), "--output", str(folder / "out.html")]) == 0
    return (folder / "out.html").read_text()


def test_a_report_has_everything_and_asks_nobody(text: str) -> None:
    found = Elements(text)
    assert all(address.startswith("#") for address in found.addresses), found.addresses
    assert not re.search(r"@import|url\((?!#)", text)
    assert "default-src 'none'" in text.replace("&#x27;", "'")
    for heading in ("Strength", "Learning", "Self-play", "Ladder", "Doctor", "Settings"):
        assert f"<h2>{heading}</h2>" in text
    assert "What it learned to see" in text
    assert "Self-play games" in text
    assert found.tags.count("svg") > 10
    panels = json.loads(found.data)["panels"]
    assert {"loss", "elo"} <= {panel["id"] for panel in panels}


def test_texts_of_the_run_are_texts(text: str) -> None:
    found = Elements(text)
    assert HOSTILE not in text
    assert "&lt;img src=x onerror=alert(1)&gt;" in text
    assert "img" not in found.tags
    assert found.tags.count("script") == 2
    assert "</script><b>" not in text


def test_a_report_of_a_run_that_has_not_begun_says_so(tmp_path: Path) -> None:
    from zermelo.config import RunConfig
    from zermelo.runs.directory import Run

    Run.create(tmp_path / "new", RunConfig.from_tables({"game": {"name": "hex?size=3"}})).unlock()
    assert main(["report", str(tmp_path / "new"), "-o", str(tmp_path / "new.html")]) == 0
    assert "No iteration is finished yet" in (tmp_path / "new.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["nothing"], "nothing"),
        (["FOLDER"], "is not a run"),
        (["RUN", "--output", "FOLDER"], "is a directory"),
        (["RUN", "--output", "FOLDER/none/out.html"], "cannot be written"),
    ],
)
def test_what_cannot_be_reported_is_told(
    watched: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    reason: str,
) -> None:
    named = [
        word.replace("FOLDER", str(tmp_path)).replace("RUN", str(watched)) for word in arguments
    ]
    assert main(["report", *named]) != 0
    said = capsys.readouterr().err
    assert reason in said
    assert len(said.strip().splitlines()) == 1


def test_a_report_needs_none_of_the_pages_packages(watched: Path, tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "for name in ('fastapi', 'starlette', 'uvicorn', 'torch'):\n"
        "    sys.modules[name] = None\n"
        "from zermelo.cli import main\n"
        f"sys.exit(main(['report', {str(watched)!r}, '-o', {str(tmp_path / 'out.html')!r}]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out.html").stat().st_size > 50_000
