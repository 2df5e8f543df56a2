"""Ablation: which searches are compared, and the table."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import typer

from zermelo.cli import ablate as ablate_command
from zermelo.cli import match as match_command
from zermelo.errors import UserError
from zermelo.matches import ablate as ablate_module
from zermelo.matches.ablate import Comparison, ablate, comparisons
from zermelo.matches.match import MatchOptions, MatchResult, play_match
from zermelo.search import SearchOptions


def run(*arguments: str) -> None:
    app = typer.Typer()
    ablate_command.add_to(app)
    match_command.add_to(app)  # one command alone would need no name
    typer.main.get_command(app).main(["ablate", *arguments], standalone_mode=False)


def test_switches_choices_numbers_and_groups_become_comparisons() -> None:
    found = comparisons("solver,fpu,turn_discount,c_puct=1:2, solver+auto_extend")
    assert [(c.option, c.values) for c in found] == [
        ("solver", ("on", "off")),
        ("fpu", ("zero", "parent")),
        ("fpu", ("zero", "reduced")),
        ("fpu", ("zero", "loss")),
        ("fpu", ("zero", "imputed")),
        ("turn_discount", ("0.99", "1")),
        ("c_puct", ("1.5", "1")),
        ("c_puct", ("1.5", "2")),
        ("solver+auto_extend", ("on", "off")),
    ]
    assert found[-1].second == {"solver": "off", "auto_extend": "off"}
    for pair in found:  # all are options that the search takes
        for side in (pair.first, pair.second):
            assert set(side) <= set(SearchOptions().to_dict())


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("solvr", "the search has no option 'solvr'; did you mean 'solver'"),
        ("averaging_power", "averaging_power is a number: say what its 1 is to be compared with"),
        ("solver+fpu", "only switches can be joined by \\+, and fpu is none"),
        (" , ", "which options"),
    ],
)
def test_a_wrong_list_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        comparisons(text)


def test_each_comparison_is_a_match_of_its_own_that_can_be_taken_up_again(tmp_path: Path) -> None:
    options = MatchOptions(games=4, out=tmp_path)
    pairs = comparisons("solver,cache_symmetry")
    rows = list(ablate("rollout?simulations=20", "connect4", pairs, options))
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "cache_symmetry-on-off",
        "solver-on-off",
    ]
    assert rows[0].result.names == (
        "rollout?simulations=20&solver=on",
        "rollout?simulations=20&solver=off",
    )
    again = ablate("rollout?simulations=20", "connect4", pairs, options)
    assert [row.result.records for row in again] == [row.result.records for row in rows]


def test_mistakes_show_before_the_first_match(tmp_path: Path) -> None:
    pairs = comparisons("solver,c_puct=nonsense")
    with pytest.raises(ValueError, match="c_puct must be a number, not 'nonsense'"):
        next(ablate("rollout?simulations=5", "tictactoe", pairs, MatchOptions(2, out=tmp_path)))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("error", [KeyboardInterrupt, UserError])
def test_what_was_played_is_shown_though_the_rest_fails(
    error: type[BaseException], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    played: list[Any] = []

    def failing(*arguments: Any) -> MatchResult:
        if played:
            raise error
        played.append(arguments)
        return play_match(*arguments)

    given = ("tictactoe", "--options", "solver,fpu=loss", "--simulations", "5", "--games", "2")
    monkeypatch.setattr(ablate_module, "play_match", failing)
    with suppress(error):
        run(*given)
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split()[:4] == ["solver", "on", ":", "off"]
    assert not any(line.startswith("fpu") for line in lines)
    played.clear()
    with suppress(error):
        run(*given, "--json")
    found = json.loads(capsys.readouterr().out)
    assert found["interrupted"] and len(found["rows"]) == 1


def test_an_option_that_matters_is_found() -> None:
    """With a hash for a network nothing is worth anything but what is proven."""
    pairs = [Comparison("solver", {"solver": "on"}, {"solver": "off"})]
    base = "search?evaluator=hash&simulations=100"
    (row,) = ablate(base, "connect4", pairs, MatchOptions(games=60))
    low, _ = row.result.split.best.interval()
    assert low > 20
    assert row.speed_ratio is not None
    assert row.speed_ratio > 0


def test_notes_name_the_option_that_they_are_about(capsys: pytest.CaptureFixture[str]) -> None:
    base, options = "search?evaluator=hash&simulations=30", MatchOptions(games=4, openings="start")
    rows = list(ablate(base, "tictactoe", comparisons("cache_clock"), options))
    ablate_command.show(rows, base)
    out = capsys.readouterr().out
    assert "cache_clock: 2 games are the same as an earlier one" in out
    assert "cache_clock: 2 pairs have the same moves in both games" in out


def test_the_command_prints_a_table_and_json(capsys: pytest.CaptureFixture[str]) -> None:
    given = ("connect4", "--options", "solver,fpu=loss", "--simulations", "10", "--games", "4")
    run(*given)
    lines = capsys.readouterr().out.splitlines()
    heads = ["option", "values", "games", "score", "Elo", "95", "%", "LOS", "speed"]
    assert lines[0].split() == heads
    assert lines[1].split()[:4] == ["solver", "on", ":", "off"]
    assert lines[2].split()[:4] == ["fpu", "zero", ":", "loss"]
    assert lines[1].split()[-1].endswith("x")
    run(*given, "--json")
    found = json.loads(capsys.readouterr().out)
    assert found["base"] == "rollout?simulations=10"
    assert [row["option"] for row in found["rows"]] == ["solver", "fpu"]
    assert {"elo", "elo_low", "elo_high", "los", "speed_ratio", "first_value", "second_value"} <= (
        set(found["rows"][0])
    )


def test_the_command_compares_at_equal_time_and_until_a_test_is_decided(
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments = ("--options", "solver", "--seconds", "0.002", "--sprt", "200,600", "--json")
    run("connect4", *arguments)
    found = json.loads(capsys.readouterr().out)
    assert found["rows"][0]["sprt"]["decision"] == "H0"
    with pytest.raises(ValueError, match="two ways to be fair"):
        run("tictactoe", "--seconds", "1", "--simulations", "1")
    with pytest.raises(ValueError, match="--seconds must be above 0, not 0"):
        run("tictactoe", "--seconds", "0")
