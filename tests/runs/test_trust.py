"""A run from somebody else is looked at without running what it names; training it needs a word."""

from __future__ import annotations

from pathlib import Path

import pytest
from watched_runs import watched_config

from zermelo.cli import main
from zermelo.config import RunConfig
from zermelo.doctor.diagnose import diagnose
from zermelo.errors import UserError
from zermelo.runs.directory import Run
from zermelo.runs.opening import open_run
from zermelo.runs.trust import MARK, is_marked
from zermelo.web.training.run_view import RunView

GAME = Path(__file__).parents[2] / "examples" / "my_game.py"
METRICS = '{"iteration": 1, "train": {}, "selfplay": {}}\n'


def spy(directory: Path) -> tuple[Path, Path]:
    """A game's file that leaves a trace when it is run, and the trace."""
    trace, code = directory / "ran", directory / "game.py"
    begin = f"from pathlib import Path\nPath({str(trace)!r}).touch()\n"
    code.write_text(GAME.read_text().replace("import numpy", f"{begin}import numpy"))
    return code, trace


def made_run(path: Path, **tables: dict[str, str]) -> Run:
    run = Run.create(path, RunConfig.from_tables(tables))
    run.metrics.mkdir()
    (run.metrics / "metrics.jsonl").write_text(METRICS)
    run.unlock()
    return run


@pytest.fixture
def received(tmp_path: Path) -> tuple[Path, Path]:
    """A run of a Python game as it comes out of an archive, and the trace of its file."""
    code, trace = spy(tmp_path)
    made_run(tmp_path / "got", game={"name": str(code)})
    (tmp_path / "got" / MARK).write_text("0" * 64)
    trace.unlink()
    return tmp_path / "got", trace


def test_the_doctor_does_not_run_the_file_that_a_received_run_names(
    received: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    run, trace = received
    for more in ([], ["--quick"]):
        assert main(["doctor", str(run), *more]) in (0, 1)
    assert not trace.exists()
    assert "--trust" in " ".join(finding.sentence for finding in diagnose(run))
    capsys.readouterr()


def test_the_doctor_runs_the_file_of_an_own_run_or_of_a_trusted_one(tmp_path: Path) -> None:
    code, trace = spy(tmp_path)
    made_run(tmp_path / "own", game={"name": str(code)})
    assert "--trust" not in " ".join(finding.sentence for finding in diagnose(tmp_path / "own"))
    (tmp_path / "own" / MARK).unlink()
    trace.unlink()
    code.touch()  # a new version, so that it is run and not taken from memory
    diagnose(tmp_path / "own", trust=True)
    assert trace.exists()


def test_pretraining_from_a_received_run_does_not_run_its_file(
    received: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, trace = received
    new = ["--run", str(tmp_path / "new")]
    assert main(["pretrain", "tictactoe", "--from", str(run), *new]) == 2
    assert "is a run of" in capsys.readouterr().err
    assert main(["pretrain", str(GAME), "--from", str(run), *new]) == 2
    assert not trace.exists()


def test_playing_a_received_run_does_not_run_its_file(
    received: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    run, trace = received
    assert main(["play", str(GAME), "--run", str(run)]) == 2
    assert not trace.exists()
    capsys.readouterr()


def test_the_page_and_the_report_do_not_run_the_file_of_a_received_run(
    received: tuple[Path, Path],
) -> None:
    run, trace = received
    with pytest.raises(UserError, match="--trust"):
        assert RunView(run).game
    assert main(["report", str(run), "--output", str(run.parent / "report.html")]) in (0, 2)
    assert not trace.exists()


def test_training_a_received_run_is_refused_with_what_it_would_run(
    received: tuple[Path, Path],
) -> None:
    run, trace = received
    for target, directory in ((str(run), None), (str(GAME), run)):
        with pytest.raises(UserError, match=r"would run '.*game\.py'.*--trust"):
            open_run(target, directory, [])
    assert not trace.exists()


def test_trust_says_what_is_run_and_is_remembered(received: tuple[Path, Path]) -> None:
    run, _ = received
    told: list[str] = []
    open_run(str(run), None, ["evaluate.every=0"], told.append, trust=True).unlock()
    assert any("game.py" in sentence for sentence in told)
    open_run(str(run), None, []).unlock()


def test_a_program_that_a_received_run_names_as_opponent_is_not_started(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path / 'ran'}\n")
    program.chmod(0o755)
    opponents = {"opponents": f"random uci:{program}"}
    made_run(tmp_path / "got", game={"name": "chess"}, evaluate=opponents)
    (tmp_path / "got" / MARK).unlink()
    with pytest.raises(UserError, match=f"would run 'uci:{program}'"):
        open_run(str(tmp_path / "got"), None, [])
    file = tmp_path / "got.toml"
    file.write_text((tmp_path / "got" / "run.toml").read_text())
    with pytest.raises(UserError, match=f"would run 'uci:{program}'"):
        open_run(str(file), tmp_path / "new", [])
    open_run(str(tmp_path / "got"), None, ["evaluate.opponents=random"]).unlock()
    assert not (tmp_path / "ran").exists()


def test_a_mark_is_of_this_user_and_of_the_code_that_was_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = {"game": {"name": "chess"}, "evaluate": {"opponents": "uci:one"}}
    run = Run.create(tmp_path / "run", RunConfig.from_tables(first))
    assert is_marked(run.path, run.config)
    other = run.config.changed({"evaluate": {"opponents": "uci:two"}})
    assert not is_marked(run.path, other)
    run.change({"evaluate": {"opponents": "uci:two"}})
    assert is_marked(run.path, other)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another user"))
    assert not is_marked(run.path, other)


def test_a_run_that_names_no_code_needs_no_mark(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", watched_config())
    assert not (run.path / MARK).exists()
    run.unlock()
    open_run(str(run.path), None, []).unlock()


def test_what_the_presets_name_needs_no_mark(tmp_path: Path) -> None:
    run = open_run("chess", tmp_path / "run", ["evaluate.every=0"])
    run.unlock()
    (run.path / MARK).unlink()
    open_run(str(run.path), None, []).unlock()


def test_selfplay_does_not_run_the_file_that_a_received_run_file_names(
    received: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, trace = received
    alone = tmp_path / "alone.toml"
    alone.write_bytes((run / "run.toml").read_bytes())
    for file in (run / "run.toml", alone):
        line = ["selfplay", str(file), "--samples", "1", "--out", str(tmp_path / "shards")]
        assert main(line) == 2
        said = capsys.readouterr().err
        assert f"'{file}'" in said
        assert "--trust" in said
    assert not trace.exists()
    assert not (tmp_path / "shards").exists()


def test_selfplay_runs_the_file_of_a_run_made_here_or_trusted(tmp_path: Path) -> None:
    code, trace = spy(tmp_path)
    made_run(tmp_path / "own", game={"name": str(code)}, network={"blocks": "1", "filters": "4"})
    play = ["--samples", "1", "--workers", "1", "--set", "selfplay.simulations=2"]
    own = str(tmp_path / "own" / "run.toml")
    assert main(["selfplay", own, "--out", str(tmp_path / "first"), *play]) == 0
    (tmp_path / "own" / MARK).unlink()
    trace.unlink()
    code.touch()
    assert main(["selfplay", own, "--out", str(tmp_path / "second"), "--trust", *play]) == 0
    assert trace.exists()


def test_a_received_run_is_copied_nowhere_without_trust(tmp_path: Path) -> None:
    place = f"file://{tmp_path}/elsewhere"
    run = made_run(tmp_path / "got", game={"name": "tictactoe"}, cluster={"copy_to": place})
    assert is_marked(run.path, run.config)
    (run.path / MARK).unlink()
    with pytest.raises(UserError, match=r"would write to 'file://.*--trust"):
        open_run(str(run.path), None, [])
    open_run(str(run.path), None, ["cluster.copy_to="]).unlock()
    assert not (tmp_path / "elsewhere").exists()
