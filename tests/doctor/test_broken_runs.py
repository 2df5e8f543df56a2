"""The runs, broken on purpose, that the doctor is held to, and the tool that makes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scripts import load_script

from zermelo.doctor.diagnose import HEALTHY, ILL, Finding, diagnose, one_line
from zermelo.doctor.network import calibration_error
from zermelo.doctor.random_games import effective_number

broken_runs = load_script("tools/broken_runs.py")


def test_calibration_counts_by_games_what_chance_explains() -> None:
    rng = np.random.default_rng(0)
    games = np.repeat(np.arange(300), 10)
    predicted = rng.uniform(-1, 1, 300).repeat(10)
    results = np.where(rng.random(300) < (predicted[::10] + 1) / 2, 1.0, -1.0).repeat(10)
    assert calibration_error(predicted, results, games)[1] < 0.03
    assert calibration_error(-predicted, results, games)[1] > 0.5


def test_the_effective_number_weighs_by_frequency() -> None:
    assert effective_number(np.arange(8)) == pytest.approx(8)
    assert effective_number(np.zeros(8)) == pytest.approx(1)
    assert 1 < effective_number(np.array([0] * 97 + [1, 2, 3])) < 1.3


def test_one_line_says_the_first_fault_and_how_many_more() -> None:
    findings = [
        Finding("window", ILL, 1.0, "the window holds the samples of 1 iterations", "Raise it."),
        Finding("search", ILL, 0.0, "the search adds nothing", "Raise it."),
        Finding("draws", HEALTHY, 0.1, "10% of the games are drawn"),
    ]
    line = one_line(findings)
    assert line.startswith("window: the window holds")
    assert "1 more" in line


def test_the_presets_are_among_the_runs_that_the_doctor_is_held_to() -> None:
    cases = [case for case in broken_runs.CASES if case.preset]
    assert {case.preset for case in cases} == {"tictactoe", "connect4"}
    for case in cases:
        assert not case.fault
        tables = broken_runs.base_tables(case, quick=True)
        preset = broken_runs.read_run_file(broken_runs.find_preset(case.preset))[1]
        assert {name for name in preset if preset[name] != tables[name]} == {"loop"}


def test_a_broken_run_is_held_to_the_first_thing_that_is_found() -> None:
    case = broken_runs.Case("shuffled", "policy targets", ("value sign",))
    window, targets, sign = (
        Finding(check, ILL, 0.0, "") for check in ("window", "policy targets", "value sign")
    )
    assert not broken_runs.complaint(case, [targets, window])
    assert not broken_runs.complaint(case, [sign, targets])
    assert broken_runs.complaint(case, [window, targets])
    assert broken_runs.complaint(case, [sign])
    assert broken_runs.complaint(case, [])


def test_a_healthy_run_of_which_nothing_is_known_is_no_proof() -> None:
    case = broken_runs.Case("healthy")
    well = [Finding(check, HEALTHY, 0.0, "") for check in broken_runs.JUDGED]
    assert not broken_runs.complaint(case, well)
    assert "not judged" in broken_runs.complaint(case, well[1:])
    assert broken_runs.complaint(case, [*well, Finding("window", ILL, 0.0, "")])


def test_a_misspelt_case_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["broken_runs.py", str(tmp_path / "runs"), "--only", "windov-1"]
    monkeypatch.setattr("sys.argv", words)
    with pytest.raises(SystemExit):
        broken_runs.main()
    assert "there is no case 'windov-1'" in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


@pytest.mark.slow
@pytest.mark.parametrize("case", broken_runs.CASES, ids=lambda case: case.name)
def test_the_fault_of_a_real_run_is_named(case: Any, tmp_path: Path) -> None:
    found = diagnose(broken_runs.make_run(tmp_path / "run", case, quick=True))
    assert broken_runs.complaint(case, found) == "", found
