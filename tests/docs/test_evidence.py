"""The table of evidence: a row for every technique, each a command that can be run."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from scripts import load_script

from zermelo.config import RunConfig
from zermelo.search import SearchOptions

rows = load_script("benchmarks/evidence_rows.py")
evidence = load_script("benchmarks/evidence.py")
techniques = load_script("tools/techniques.py")


def test_every_technique_has_a_row_and_every_row_a_technique() -> None:
    assert {row.technique for row in rows.ROWS} == set(techniques.TECHNIQUES)
    names = [row.name for row in rows.ROWS]
    assert len(set(names)) == len(names)


def test_the_options_of_every_row_exist() -> None:
    players = {"simulations", "precision"}
    known = {row["name"] for row in SearchOptions.table()}
    for row in rows.ROWS:
        if isinstance(row, rows.Match):
            for own in (row.ours, row.theirs):
                chosen = dict(part.split("=", 1) for part in row.search(own).split("&"))
                assert set(chosen) - players <= known, row.name
                assert dict(part.split("=", 1) for part in own.split("&")).items() <= chosen.items()
            assert row.search(row.ours) != row.search(row.theirs), row.name
        elif isinstance(row, rows.Learning):
            for side in (row.ours, row.theirs):
                tables: dict[str, Any] = {"game": {"name": row.game}}
                for option in side:
                    place, value = option.split("=", 1)
                    section, key = place.split(".")
                    tables.setdefault(section, {})[key] = plain(value)
                RunConfig.from_tables(tables, row.name)
            assert row.ours != row.theirs, row.name


def plain(text: str) -> Any:
    if text in ("on", "off"):
        return text == "on"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def test_no_cell_of_the_table_is_empty_and_what_is_known_is_told(tmp_path: Path) -> None:
    path = tmp_path / "kept.jsonl"
    lines = evidence.table(path).splitlines()
    assert len(lines) == 2 + len(rows.ROWS)
    for line in lines:
        assert all(cell.strip() for cell in line.strip("|").split("|"))
    assert all("not measured yet: `python benchmarks/" in line for line in lines[2:])
    found = {"wins": 3, "draws": 1, "losses": 0, "elo": 12.0, "elo_low": -1.5, "elo_high": 25.0}
    name = rows.ROWS[1].name
    for day in ("2026-01-01", "2026-01-02"):  # the newest counts
        evidence.keep({"row": name, "commit": "abc", "day": day, **found}, path)
    (line,) = [line for line in evidence.table(path).splitlines() if line.startswith(f"| {name} ")]
    assert "+3 -0 =1, +12.0 [-1.5, +25.0] (2026-01-02, abc)" in line


def test_a_row_is_measured_once_and_an_unknown_one_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    quick = rows.Match("S2-c-connect4", "S2", "connect4", "c_puct=1", "c_puct=3", 2, 4)
    monkeypatch.setattr(evidence, "ROWS", (quick,))
    path = tmp_path / "kept.jsonl"
    monkeypatch.setattr(evidence, "kept", lambda: KEPT(path))
    monkeypatch.setattr(evidence, "keep", lambda line: KEEP(line, path))
    asked = ["evidence.py", "--only", "S2", "--work", str(tmp_path / "work")]
    monkeypatch.setattr(sys, "argv", asked)
    assert evidence.main() == 0
    (line,) = path.read_text().splitlines()
    assert json.loads(line)["games"] == 2
    assert evidence.main() == 0
    assert len(path.read_text().splitlines()) == 1
    monkeypatch.setattr(sys, "argv", ["evidence.py", "--only", "S99", "--work", str(tmp_path)])
    with pytest.raises(SystemExit, match="there is no row S99"):
        evidence.main()


KEPT, KEEP = evidence.kept, evidence.keep
