"""A run keeps its Python game: a moved file is no obstacle, a changed one is told."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from zermelo.config import RunConfig
from zermelo.errors import UserError
from zermelo.runs.directory import Run
from zermelo.runs.opening import open_run
from zermelo.runs.trust import is_marked, strange_code

GAME = Path(__file__).parents[2] / "examples" / "my_game.py"


@pytest.fixture
def made(tmp_path: Path) -> tuple[Path, Path]:
    """A run of a game's file, and the file."""
    file = tmp_path / "somewhere" / "my_game.py"
    file.parent.mkdir()
    shutil.copy(GAME, file)
    Run.create(
        tmp_path / "run", RunConfig.from_tables({"game": {"name": f"{file}?size=6"}})
    ).unlock()
    return tmp_path / "run", file


def test_the_copy_is_played_when_the_file_is_gone(made: tuple[Path, Path]) -> None:
    run, file = made
    assert (run / "game" / "my_game.py").read_text() == GAME.read_text()
    file.unlink()
    told: list[str] = []
    opened = open_run(str(run), None, ["loop.iterations=7"], told.append)
    opened.unlock()
    assert opened.config.game().name == "breakthrough-6"
    assert any("copy is played" in sentence for sentence in told)
    open_run(str(run), None, []).unlock()  # what was written down opens again


def test_a_run_that_was_moved_too_finds_its_copy(made: tuple[Path, Path], tmp_path: Path) -> None:
    run, file = made
    file.unlink()
    open_run(str(run), None, ["loop.iterations=7"]).unlock()
    there = tmp_path / "elsewhere"
    run.rename(there)
    assert Run.open(there).config.game().name == "breakthrough-6"
    opened = open_run(str(there), None, [])
    opened.unlock()
    assert str(there) in opened.config.game_name


def test_a_file_that_comes_back_is_played_again_and_its_changes_are_told(
    made: tuple[Path, Path],
) -> None:
    run, file = made
    text = file.read_text()
    file.unlink()
    open_run(str(run), None, ["loop.iterations=7"]).unlock()  # plays the copy, writes the run file
    file.write_text(text)
    assert Run.open(run).config.game_name == f"{file}?size=6"
    file.write_text(text.replace("3 * size**2", "4 * size**2"))
    with pytest.raises(UserError, match="num_actions was 108 and is now 144"):
        open_run(str(run), None, [])


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("3 * size**2", "4 * size**2", "num_actions was 108 and is now 144"),
        ("(2, size, size)", "(3, size, size)", "observation_shape was 2x6x6 and is now 3x6x6"),
    ],
)
def test_a_changed_game_is_refused_by_what_has_changed(
    made: tuple[Path, Path], old: str, new: str, words: str
) -> None:
    run, file = made
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))
    with pytest.raises(UserError, match=words):
        open_run(str(run), None, [])


def test_everything_that_has_changed_is_named(made: tuple[Path, Path]) -> None:
    run, file = made
    text = file.read_text().replace("3 * size**2", "4 * size**2")
    file.write_text(text.replace("(2, size, size)", "(3, size, size)"))
    both = "num_actions was 108 and is now 144, observation_shape was 2x6x6 and is now 3x6x6; the"
    with pytest.raises(UserError, match=both):
        open_run(str(run), None, [])


def test_other_changes_of_the_file_are_told(made: tuple[Path, Path]) -> None:
    run, file = made
    file.write_text(file.read_text() + "\n# other rules\n")
    told: list[str] = []
    open_run(str(run), None, [], told.append).unlock()
    assert any("has changed since the run began" in sentence for sentence in told)


def test_a_copy_that_somebody_changed_is_not_run(made: tuple[Path, Path], tmp_path: Path) -> None:
    run, file = made
    copied = run / "game" / "my_game.py"
    trace = tmp_path / "ran"
    copied.write_text(f"open({str(trace)!r}, 'w').close()\n{copied.read_text()}")
    file.unlink()
    assert strange_code(Run.open(run).config, run)
    with pytest.raises(UserError, match="--trust"):
        open_run(str(run), None, [])
    assert not trace.exists()


def test_a_copy_that_was_put_in_or_taken_out_ends_the_trust(made: tuple[Path, Path]) -> None:
    run, _ = made
    config = Run.open(run).config
    assert is_marked(run, config)
    os.rename(run / "game", run / "aside")
    assert not is_marked(run, config)
    os.rename(run / "aside", run / "game")
    assert is_marked(run, config)


def test_another_path_in_the_run_file_ends_the_trust(made: tuple[Path, Path]) -> None:
    run, file = made
    other = file.with_name("other.py")
    shutil.copy(file, other)
    text = (run / "run.toml").read_text()
    (run / "run.toml").write_text(text.replace("my_game.py", "other.py"))
    with pytest.raises(UserError, match="--trust"):
        open_run(str(run), None, [])
