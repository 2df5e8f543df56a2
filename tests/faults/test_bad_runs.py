"""Runs with hostile or odd files: one bad run is one bad row, and a deleted lock admits nobody."""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path

import pytest

from zermelo.cli import main
from zermelo.config import RunConfig
from zermelo.doctor.diagnose import diagnose
from zermelo.errors import UserError
from zermelo.files import read_toml
from zermelo.runs.describe import runs_of
from zermelo.runs.directory import Run
from zermelo.runs.lock import RunLock

OLD_RUN = Path(__file__).parents[1] / "data" / "made_by_902049b" / "run"
GOOD = '{"iteration": 1, "selfplay": {"games": 3, "samples": 30}, "train": {}}\n'
ODD = (
    '{"iteration": 2, "selfplay": 3}',
    '{"iteration": 3, "selfplay": {"games": "many", "samples": NaN}, "train": [1]}',
    '{"iteration": 4, "selfplay": {"games": 1' + "0" * 400 + "}}",
    '{"iteration": 5, "train": {"training": 7}, "seconds": {}, "evaluate": 3}',
    '{"iteration": 1, "evaluate": [1]}',
    "[" * 100_000,
)


def made(path: Path) -> Run:
    run = Run.create(path, RunConfig.from_tables({"game": {"name": "tictactoe"}}))
    run.metrics.mkdir()
    (run.metrics / "metrics.jsonl").write_text(GOOD)
    run.unlock()
    return run


@pytest.mark.parametrize("line", ODD)
def test_an_odd_line_of_metrics_spoils_no_listing(
    tmp_path: Path, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    made(tmp_path / "good")
    with (made(tmp_path / "odd").metrics / "metrics.jsonl").open("a") as file:
        file.write(line + "\n")
    rows = {Path(row["run"]).name: row for row in runs_of(tmp_path)}
    assert rows["good"]["games"] == 3
    assert rows["odd"]["games"] >= 3
    assert main(["runs", str(tmp_path)]) == 0
    assert "good" in capsys.readouterr().out


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "[" * 20_000 + "]" * 20_000,
        "\n".join(["x = ", *["["] * 5_000, *["]"] * 5_000]).replace("x = \n", "x = "),
        ".".join(["a"] * 100_000) + " = 1",
        '[game]\nname = ["x"]\n',
        'begun_from = "x"\nbegun_from_seconds = inf\n[game]\nname = "tictactoe"\n',
        "game = 3",
        "\x00",
    ],
    ids=["nested", "nested lines", "dots", "list", "endless", "no section", "nul"],
)
def test_a_hostile_run_file_is_one_bad_row_at_once(tmp_path: Path, text: str) -> None:
    made(tmp_path / "good")
    (made(tmp_path / "bad").path / "run.toml").write_text(text)
    began = time.monotonic()
    assert len(runs_of(tmp_path)) == 2
    assert main(["runs", str(tmp_path)]) == 0
    with pytest.raises(UserError):
        _ = Run.open(tmp_path / "bad").origin
    assert time.monotonic() - began < 5.0


def test_a_run_file_nested_too_deeply_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "run.toml"
    path.write_text("x = " + "[\n" * 9_000 + "]\n" * 9_000)
    with pytest.raises(UserError, match="nested too deeply"):
        read_toml(path)


def test_a_deleted_lock_admits_no_second_process(tmp_path: Path) -> None:
    first = RunLock(tmp_path / "lock")
    (tmp_path / "lock").unlink()
    with pytest.raises(UserError, match="in use"):
        RunLock(tmp_path / "lock", patience=0.1)
    first.release()
    RunLock(tmp_path / "lock", patience=0.1).release()


def test_the_doctor_needs_no_safetensors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = tmp_path / "run"
    shutil.copytree(OLD_RUN, run)
    for name in [name for name in sys.modules if name.startswith("safetensors")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "safetensors", None)
    found = {finding.check: finding for finding in diagnose(run)}
    assert found["learning"].verdict in ("unknown", "healthy", "ill")
