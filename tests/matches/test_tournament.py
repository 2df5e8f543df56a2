"""Tournaments: who meets whom, ratings, and the command lines of matches."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from zermelo.cli import match as match_command
from zermelo.cli import tournament as tournament_command
from zermelo.cli.match_report import Live, print_notes, print_table
from zermelo.matches import match as match_module
from zermelo.matches.match import MatchOptions
from zermelo.matches.openings import Opening
from zermelo.matches.pairing import gauntlet, make_tasks, round_robin
from zermelo.matches.tournament import game_pairs, meetings, play_tournament
from zermelo.matches.workers import play_tasks
from zermelo.statistics.bradley_terry import bradley_terry
from zermelo.statistics.sprt import Sprt

FIELD = ["random", "rollout?simulations=10", "rollout?simulations=60"]


def run(*arguments: str) -> Any:
    app = typer.Typer()
    match_command.add_to(app)
    tournament_command.add_to(app)
    return typer.main.get_command(app).main(list(arguments), standalone_mode=False)


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


def test_ratings_take_the_pairs_of_games_into_account() -> None:
    result = play_tournament(FIELD[1:], "connect4", MatchOptions(games=10))
    pairs = game_pairs(result.records)
    assert len(pairs) == 5
    assert {(pair.one, pair.other) for pair in pairs} == {(FIELD[1], FIELD[2])}
    assert len(game_pairs(result.records[:-1])) == 4
    expected = bradley_terry(meetings(result.records), pairs=pairs)
    assert result.ratings.covariance.tolist() == expected.covariance.tolist()


def test_equal_players_have_different_names() -> None:
    result = play_tournament(["random"] * 3, "tictactoe", MatchOptions(games=2))
    assert result.names == ("random", "random #2", "random #3")
    assert len(result.ratings.rows) == 3


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
        (FIELD, MatchOptions(games=5), {}, "the number of its games must be even, not 5"),
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
    assert lines[0].split() == [
        "player",
        "Elo",
        "(95",
        "%)",
        "games",
        "score",
        "LOS",
        "over",
        "next",
        "P1-W",
        "P1-B",
    ]
    assert lines[1].split()[:2] == ["1", "rollout?simulations=60"]
    assert lines[1].split()[-7].endswith("%")  # LOS over the next
    assert lines[3].split()[-7] == "-"
    assert sum(int(cell[1:]) for cell in lines[1].split()[-6:]) == 8  # first and second
    assert lines[5].split() == ["player", "1", "2", "3"]
    assert lines[6].split()[-3] == "·"
    assert "connect4, 12 games" in lines


@pytest.mark.parametrize("more", [(), ("--simulations", "10")])
def test_the_anchor_may_be_the_last_to_play_and_is_named_as_it_was_typed(
    more: tuple[str, ...], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zermelo.matches.tournament.SHOW_SECONDS", 0.0)
    field = ["random", "rollout?simulations=5", "rollout" if more else "rollout?simulations=10"]
    given = ("--game", "tictactoe", "--games", "2", "--anchor", field[2], "--anchor-elo", "70")
    run("tournament", *field, *given, *more, "--json")
    found = {row["name"]: row for row in json.loads(capsys.readouterr().out)["ratings"]["players"]}
    assert found["rollout?simulations=10"]["elo"] == 70


def test_names_with_brackets_are_printed_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(["player"], [["net[v2].onnx"], ["uci:x:dash:"], ["[/]"]])
    assert capsys.readouterr().out.split() == ["player", "net[v2].onnx", "uci:x:dash:", "[/]"]
    live = Live()
    live._shown = -1e9
    live.show(1, 2, "net[v2].onnx")
    assert "net[v2].onnx" in capsys.readouterr().err


def test_the_match_command_prints_what_chess_people_know(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run("match", "rollout", "random", "--simulations", "20", "--game", "connect4", "--games", "10")
    out = capsys.readouterr().out
    for part in ("P1: +", "Win: ", "Elo: ", " ± ", "LOS: ", "P1-W: +", "P1-B: +"):
        assert part in out
    assert "rollout?simulations=20" in out
    table = out.splitlines()
    assert table[0].split()[:6] == ["player", "games", "score", "Elo", "95", "%"]
    assert table[1].split()[7] == "to"  # the interval's ends


@pytest.mark.parametrize("command", ["match", "tournament"])
def test_simulations_may_still_be_called_visits(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run(command, "rollout", "random", "--visits", "20", "--game", "tictactoe", "--games", "2")
    assert "rollout?simulations=20" in capsys.readouterr().out
    run(command, "--help")
    shown = capsys.readouterr().out
    assert "--simulations" in shown
    assert "--visits" not in shown


@pytest.mark.parametrize("command", ["match", "tournament"])
@pytest.mark.parametrize("kept", [False, True])
def test_ctrl_c_shows_what_is_finished(
    command: str,
    kept: bool,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    def interrupted(setup: Any, tasks: Any) -> Iterator[Any]:
        for number, played in enumerate(play_tasks(setup, tasks)):
            if number == 3:
                raise KeyboardInterrupt
            yield played

    monkeypatch.setattr(match_module, "play_tasks", interrupted)
    out = ("--out", str(tmp_path)) if kept else ()
    given = (command, "random", "random?seed=1", "--game", "tictactoe", "--games", "8")
    assert run(*given, "--json") == 130
    found = json.loads(capsys.readouterr().out)
    assert (found["interrupted"], found["games"]) == (True, 3)
    assert run(*given, *out) == 130
    said = capsys.readouterr()
    assert "tictactoe, 3 games" in said.out
    assert "3 of 8 games are finished" in said.err
    assert ("; the same command goes on" in said.err) == kept
    monkeypatch.undo()
    assert run(*given, *out, "--json") is None
    assert json.loads(capsys.readouterr().out)["interrupted"] is False


@pytest.mark.parametrize("command", ["match", "tournament"])
def test_too_few_openings_are_told(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    players = ("random", "random?seed=1", "random?seed=2")[: 3 if command == "tournament" else 2]
    given = (command, *players, "--game=tictactoe", "--games=6")
    run(*given, "--openings=random:40")
    assert "3 pairs from 1 opening: " in capsys.readouterr().out
    run(*given, "--openings=random:40", "--json")
    found = json.loads(capsys.readouterr().out)
    assert (found["openings"], found["distinct_openings"]) == (3, 1)
    run(*given)
    assert "3 pairs from" not in capsys.readouterr().out


def test_one_is_not_told_as_many(capsys: pytest.CaptureFixture[str]) -> None:
    figures = {"duplicates": 1, "equal_pairs": 1, "openings": 1, "distinct_openings": 1}
    print_notes(figures | {"failures": {}})
    assert capsys.readouterr().out.splitlines() == [
        "1 game is the same as an earlier one: use more openings",
        "1 pair has the same moves in both games: it says nothing",
    ]


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
        (["--sprt", "0,inf"], "elo1 is inf, which is too far from 0"),
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


def test_a_match_with_a_test_goes_on_until_it_is_decided(
    capsys: pytest.CaptureFixture[str],
) -> None:
    players = ("match", "random", "random?seed=1", "--game", "tictactoe")
    run(*players, "--sprt", "-30,30", "--json")
    found = json.loads(capsys.readouterr().out)
    assert found["sprt"]["decision"]
    assert found["games"] > 100
    run(*players, "--sprt", "-30,30", "--games", "4")
    assert "the test is undecided after 4 games" in capsys.readouterr().out
