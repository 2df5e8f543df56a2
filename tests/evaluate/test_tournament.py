"""Tournaments: who meets whom, ratings, and the command lines of matches."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer

from zermelo.cli import match as match_command
from zermelo.cli import tournament as tournament_command
from zermelo.evaluate.match import MatchOptions
from zermelo.evaluate.openings import Opening
from zermelo.evaluate.pairing import gauntlet, make_tasks, round_robin
from zermelo.evaluate.sprt import Sprt
from zermelo.evaluate.tournament import play_tournament

FIELD = ["random", "rollout?simulations=10", "rollout?simulations=60"]


def run(*arguments: str) -> None:
    app = typer.Typer()
    match_command.add_to(app)
    tournament_command.add_to(app)
    typer.main.get_command(app).main(list(arguments), standalone_mode=False)


def test_everybody_meets_everybody_with_both_colours_from_the_same_openings() -> None:
    openings = [Opening("", ("1",)), Opening("", ("2",))]
    tasks = make_tasks(round_robin(3, 2), openings, seed=0)
    seats = [(task.players, task.opening) for task in tasks]
    assert len(seats) == len(set(seats)) == 12  # 6 ordered pairings from 2 openings
    assert [task.number for task in tasks] == list(range(12))
    assert {task.players for task in make_tasks(gauntlet(3, 2), openings, 0)} == {
        (0, 1),
        (1, 0),
        (0, 2),
        (2, 0),
    }


def test_ratings_order_the_players_and_the_anchor_keeps_its_own() -> None:
    result = play_tournament(FIELD, "connect4", MatchOptions(games=10), anchor="random")
    ratings = result.ratings
    assert [row.name for row in ratings.rows] == FIELD[::-1]
    assert ratings["random"].elo == 0
    figures = result.to_dict()
    assert figures["games"] == 30
    assert figures["duplicates"] == 0
    assert len(figures["crosstable"]) == 6
    points = result.split(2, 0).total.points + result.split(0, 2).total.points
    assert points == 10


def test_a_gauntlet_is_one_against_all() -> None:
    result = play_tournament(FIELD, "connect4", MatchOptions(games=4), kind="gauntlet")
    assert all(0 in record.players for record in result.records)
    assert len(result.records) == 8


def test_a_tournament_goes_on_from_its_directory(tmp_path: Path) -> None:
    options = MatchOptions(games=4, out=tmp_path)
    whole = play_tournament(FIELD, "connect4", options)
    lines = (tmp_path / "games.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "games.jsonl").write_text("".join(lines[:5]))
    assert play_tournament(FIELD, "connect4", options).records == whole.records
    assert (tmp_path / "games.jsonl").read_text() == "".join(lines)


@pytest.mark.parametrize(
    ("players", "options", "more", "sentence"),
    [
        (["random"], MatchOptions(), {}, "needs two players or more"),
        (FIELD, MatchOptions(), {"kind": "swiss"}, "there is no tournament 'swiss'"),
        (FIELD, MatchOptions(sprt=Sprt(0, 5)), {}, "a sequential test is for a match of two"),
        (FIELD, MatchOptions(), {"anchor": "nobody"}, "the anchor 'nobody' is none of the players"),
    ],
)
def test_a_tournament_that_cannot_be_is_refused(
    players: list[str], options: MatchOptions, more: dict[str, str], sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence):
        play_tournament(players, "connect4", options, **more)  # type: ignore[arg-type]


def test_the_command_prints_the_list_and_the_crosstable(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run("tournament", *FIELD, "--game", "connect4", "--games", "4")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:3] == ["player", "Elo", "(95"]
    assert lines[1].split()[:2] == ["1", "rollout?simulations=60"]
    assert lines[1].split()[-3] == "·"
    assert "connect4, 12 games" in lines


def test_the_match_command_prints_what_chess_people_know(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run("match", "rollout", "random", "--visits", "20", "--game", "connect4", "--games", "10")
    out = capsys.readouterr().out
    for part in ("P1: +", "Win: ", "Elo: ", " ± ", "LOS: ", "P1-W: +", "P1-B: +"):
        assert part in out
    assert "rollout?simulations=20" in out


def test_the_match_command_prints_one_object_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    run("match", "random", "random", "--b.seed=2", "--game=tictactoe", "--games=6", "--json")
    found = json.loads(capsys.readouterr().out)
    assert found["players"] == ["random", "random?seed=2"]
    assert found["wins"] + found["draws"] + found["losses"] == found["games"] == 6
    assert {
        "game",
        "score",
        "elo",
        "elo_low",
        "elo_high",
        "los",
        "pairs",
        "first",
        "second",
        "duplicates",
        "failures",
        "reasons",
        "sprt",
        "simulations_per_second",
    } <= set(found)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--sprt", "5"], "--sprt must be 2 to 4 numbers joined by commas, not '5'"),
        (["--sprt", "5,0"], r"elo0 \(5\) must be less than elo1 \(0\)"),
        (["--resign", "much"], "--resign must be 1 to 2 numbers"),
        (["--draw", "0.1,0"], "draw_moves is 0.0, not a whole number of at least 1"),
        (["--openings", "none"], "it is no book that can be read"),
        (["--gamez", "4"], "there is no option '--gamez'"),
    ],
)
def test_a_wrong_option_is_one_sentence(arguments: list[str], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        run("match", "random", "random", "--game", "connect4", *arguments)
