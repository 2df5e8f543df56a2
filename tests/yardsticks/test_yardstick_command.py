"""`zermelo yardstick`: what it prints, how it searches, what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer
from exact_player import position_file
from made_checkpoints import made_checkpoints
from typer.testing import CliRunner

from zermelo.cli import yardstick as command
from zermelo.config import RunConfig
from zermelo.errors import UserError
from zermelo.options import option_table
from zermelo.yardsticks.measure import (
    EvaluateOptions,
)

ROOT = Path(__file__).parents[2]


def ask(*arguments: str) -> Any:
    app = typer.Typer()
    command.add_to(app)
    return CliRunner().invoke(app, list(arguments))


def test_the_command_prints_json_with_stable_keys() -> None:
    done = ask("connect4", "--evaluator", "uniform", "--simulations", "8", "--limit", "40",
               "--positions", "generated", "--perfect", "3", "--json")  # fmt: skip
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert set(found) == {"game", "evaluator", "simulations", "search", "metrics", "mistakes"}
    assert found["metrics"]["connect4.positions"] == 40
    assert found["metrics"]["connect4.judged"] == 27
    assert found["metrics"]["perfect.games"] == 3
    assert found["mistakes"][0]["games"] == 3


def test_the_command_searches_as_the_run_does_unless_told_otherwise(tmp_path: Path) -> None:
    made_checkpoints(tmp_path, 1)
    tables = {"game": {"name": "tictactoe"}, "search": {"gumbel": True, "c_puct": 2.0}}
    (tmp_path / "run.toml").write_text(RunConfig.from_tables(tables).to_toml({"format": 1}))
    asked = ("tictactoe", "--simulations", "2", "--opponents", "random", "--games", "2",
             "--backend", "onnx", "--json")  # fmt: skip
    for place in (tmp_path, tmp_path / "checkpoints" / "000000"):
        done = ask(*asked, "--weights", str(place), "--set", "c_puct=3")
        assert done.exit_code == 0, done.output
        assert json.loads(done.stdout)["search"] == {"c_puct": 3.0, "gumbel": True}
    (tmp_path / "run.toml").unlink()
    done = ask(*asked, "--weights", str(tmp_path))
    assert json.loads(done.stdout)["search"] == {}


def test_the_command_measures_files_with_its_own_cache(tmp_path: Path) -> None:
    file, cache = position_file(tmp_path, count=6), tmp_path / "results.txt"
    done = ask("connect4", "--evaluator", "uniform", "--simulations", "20",
               "--positions", str(file), "--cache", str(cache))  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "connect4.Test_L9_R9.keeps_value" in done.stdout
    assert cache.read_text().strip()


def test_the_limit_of_the_command_holds_for_suites_too(tmp_path: Path) -> None:
    path = tmp_path / "many.epd"
    path.write_text("6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - bm Rd8#;\n" * 5)
    done = ask("chess", "--evaluator", "uniform", "--simulations", "1",
               "--suite", str(path), "--limit", "2", "--json")  # fmt: skip
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["metrics"]["many.positions"] == 2


def test_the_command_shows_a_table_for_any_game() -> None:
    done = ask("tictactoe", "--evaluator", "uniform", "--simulations", "500", "--games", "2")
    assert done.exit_code == 0, done.output
    assert "tictactoe.never_loses" in done.stdout and "random.score" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["connect4"], "which network"),
        (
            ["connect4", "--evaluator", "uniform", "--positions", "nowhere"],
            "no positions 'nowhere'",
        ),
        (["tictactoe", "--evaluator", "uniform", "--positions", "generated"], "is for connect4"),
        (["tictactoe", "--evaluator", "uniform", "--set", "foo"], "--set 'foo' should look like"),
        (["tictactoe", "--evaluator", "uniform", "--perfect", "3"], "is for connect4"),
        (["connect4", "--weights", "nowhere.onnx"], "there is no network"),
        (
            ["connect4", "--evaluator", "uniform", "--perfect", "1", "--games", "2"],
            "--games counts games against --opponents, and none is named",
        ),
        (
            ["chess", "--evaluator", "uniform", "--opponents", "uci:no-such-engine"],
            "--opponents: 'uci:no-such-engine' is not installed",
        ),
        (
            ["chess", "--evaluator", "uniform", "--opponents", "uci:/bin/cat?start=0.5"],
            "cannot play: no start: no answer to uci",
        ),
        (
            ["connect4", "--evaluator", "uniform", *["--positions", "generated"] * 2],
            "2 yardsticks are called 'connect4'",
        ),
    ],
)
def test_mistakes_are_told_in_one_sentence(arguments: list[str], sentence: str) -> None:
    done = ask(*arguments)
    assert isinstance(done.exception, UserError)
    assert sentence in str(done.exception)


def test_the_guide_names_every_option_with_its_default() -> None:
    guide = (ROOT / "docs" / "guide" / "yardsticks.md").read_text()
    rows = [line.split("|")[1:3] for line in guide.splitlines() if line.startswith("| `")]
    shown = {
        name.strip(" `"): default.strip(" `")
        for names, defaults in rows
        for name, default in zip(names.split(", "), defaults.split(", "), strict=False)
    }
    for row in option_table(EvaluateOptions):
        default = row["default"]
        text = f"{default:g}" if isinstance(default, float) else str(default)
        if isinstance(default, bool):
            text = "on" if default else "off"
        assert shown[row["name"]] == text
