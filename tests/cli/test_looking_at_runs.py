"""`runs`, `replay inspect` and `replay show` on a real run, and what is meant by a wrong name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from terminal import Captured, fails, run
from tiny_runs import train

from zermelo.cli import main
from zermelo.errors import nearest
from zermelo.yardsticks.measure import headline


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("runs") / f"a-run-with-a-{'very-' * 12}long-name"
    train(path, loop={"iterations": 1})
    return path


def test_a_self_play_game_is_shown_move_by_move(capsys: Captured, made: Path) -> None:
    shown = run(capsys, "replay", "show", str(made), "--game", "2")
    assert shown.startswith("game 2, the newest being 1 (number ")
    assert "   1. player 1: " in shown
    assert "value " in shown
    assert "%" in shown
    found = json.loads(run(capsys, "replay", "show", str(made), "--json"))
    assert found["iteration"] == 0
    assert 5 <= len(found["moves"]) <= 9
    assert {move["player"] for move in found["moves"]} == {0, 1}
    policies = [move["policy"] for move in found["moves"] if move["policy"]]
    assert policies  # of full searches
    assert all(sum(each.values()) == pytest.approx(1, abs=0.01) for each in policies)
    boards = run(capsys, "replay", "show", str(made), "--boards")
    assert boards.count("a b c") == len(found["moves"]) + 1


def test_a_game_that_is_not_there_is_said(capsys: Captured, made: Path) -> None:
    assert "whole games to show" in fails(capsys, "replay", "show", str(made), "--game", "9999")


def test_rows_and_games_of_a_run_are_those_of_its_newest_shard(
    capsys: Captured, made: Path
) -> None:
    shown = run(capsys, "replay", "inspect", str(made), "--rows", "3", "--games", "1")
    assert shown.count(" legal; ") == 3
    assert "bytes a sample" not in shown.splitlines()[-1]
    found = json.loads(run(capsys, "replay", "inspect", str(made), "--rows", "2", "--json"))
    assert len(found["rows"]) == 2


def test_the_names_of_runs_are_never_cut(capsys: Captured, made: Path) -> None:
    assert made.name in run(capsys, "runs", str(made.parent))


def test_the_doctor_looks_at_the_run_without_torch(
    capsys: Captured, made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import importlib.util
    import sys

    found = importlib.util.find_spec
    heavy = ("torch", "safetensors", "openvino", "onnxruntime")
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name, *more: None if name in heavy else found(name, *more),
    )
    for name in heavy:
        monkeypatch.setitem(sys.modules, name, None)  # importing it fails
    code = main(["doctor", str(made)])
    shown = capsys.readouterr()
    assert code in (0, 1)
    assert "Traceback" not in shown.err
    assert len(shown.out.splitlines()) > 3


@pytest.mark.parametrize(
    ("name", "known", "meant"),
    [
        ("lr", ("learning_rate", "loss"), "learning_rate"),
        ("sims", ("seed", "simulations"), "simulations"),
        ("reversi", ("hex", "othello"), "othello"),
        ("lr", ("blur", "hex"), "blur"),
    ],
)
def test_names_are_suggested_by_what_they_mean(
    name: str, known: tuple[str, ...], meant: str
) -> None:
    assert nearest(name, known) == f"did you mean '{meant}'?"


def test_of_very_many_names_only_the_nearest_are_listed() -> None:
    few = nearest("x", [f"option_{number}" for number in range(100)])
    assert few.startswith("of 100 the nearest are option_")
    assert few.count(",") == 4


def test_a_rating_of_equals_is_no_figure() -> None:
    figures = {"ladder.elo": 0.2, "ladder.margin": 136.0, "ladder.gain": 0.2}
    assert "±" not in headline(figures | {"ladder.gain_margin": 136.0})
    later = figures | {"ladder.elo": 90.0, "ladder.gain": 30.0, "ladder.gain_margin": 50.0}
    assert headline(later) == "Elo +90 ± 136, +30 ± 50 since the last rating"


def test_completion_knows_commands_and_options(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("_ZERMELO_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "zermelo tr")
    monkeypatch.setenv("COMP_CWORD", "1")
    with pytest.raises(SystemExit):
        main([])
    assert capsys.readouterr().out.split() == ["train"]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("zermelo play conn", ["connect4"]),
        ("zermelo train chess-", ["chess-tower"]),
        ("zermelo doctor runs/mi", ["runs/mine"]),
        ("zermelo play runs/mi", ["runs/mine"]),
        ("zermelo train connect4 --set loop.iter", ["loop.iterations="]),
        ("zermelo train connect4 --set learning_rate_e", ["learning_rate_end="]),
        ("zermelo analyse connect4 --set c_puct_fact", ["c_puct_factor=", "c_puct_factor_root="]),
    ],
)
def test_completion_knows_games_presets_runs_and_options(
    words: str,
    found: list[str],
    capsys: Captured,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    (tmp_path / "runs" / "mine").mkdir(parents=True)
    (tmp_path / "runs" / "mine" / "run.toml").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("_ZERMELO_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))
    with pytest.raises(SystemExit):
        main([])
    assert capsys.readouterr().out.split() == found
