"""Matches: no two games alike, repeatable, not lost by a kill, and figures that add up."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from small_networks import save_small

import zermelo
from zermelo.cli.match import split_players
from zermelo.games.protocol import Game, State
from zermelo.matches import match as match_module
from zermelo.matches.adjudicate import AdjudicateOptions
from zermelo.matches.contestants import with_budget
from zermelo.matches.game_record import GameRecord, duplicates, equal_pairs
from zermelo.matches.match import MatchOptions, MatchResult, SequentialTest, play_match
from zermelo.matches.openings import Opening
from zermelo.matches.pairing import derived_seed, make_tasks, match_pairs
from zermelo.matches.play_game import Contestants
from zermelo.matches.worker import description
from zermelo.matches.workers import COMMAND, Setup, play_tasks
from zermelo.statistics.sprt import Sprt

PLAYERS = ["rollout?simulations=40", "rollout?simulations=10"]
FORTY = MatchOptions(games=40, seed=3)


def record(number: int, result: str, players: tuple[int, int] = (0, 1)) -> GameRecord:
    names = ("A", "B") if players == (0, 1) else ("B", "A")
    opening = Opening("", (str(number // 2),))
    return GameRecord(number, number // 2, players, names, opening, (), (), result, "rules")


# --- games ----------------------------------------------------------------------------------------


@pytest.mark.technique("E1")
@pytest.mark.parametrize("name", ["connect4", "tictactoe"])
def test_no_two_games_of_a_match_are_the_same(name: str) -> None:
    result = play_match(PLAYERS, name, FORTY)
    assert len(result.records) == 40
    assert len({r.key for r in result.records}) == 40
    assert result.to_dict()["duplicates"] == 0


@pytest.mark.technique("E1")
def test_each_opening_is_played_with_both_colours() -> None:
    result = play_match(PLAYERS, "connect4", FORTY)
    for one, swapped in zip(result.records[0::2], result.records[1::2], strict=True):
        assert one.opening == swapped.opening
        assert (one.players, swapped.players) == ((0, 1), (1, 0))
        assert one.pair == swapped.pair
    assert len({r.opening for r in result.records}) == 20
    split = result.split
    assert split.first.games == split.second.games == 20
    assert split.pairs.games == 40


def test_records_can_be_played_over_by_the_rules() -> None:
    game = zermelo.game("connect4")
    for played in play_match(PLAYERS, "connect4", replace(FORTY, games=6)).records:
        whole = Opening(played.opening.position, played.opening.actions + played.actions)
        outcome = game.outcome(whole.states(game)[-1])
        assert outcome is not None
        assert {"FIRST_WINS": "1-0", "DRAW": "1/2-1/2", "SECOND_WINS": "0-1"}[
            outcome.name
        ] == played.result
        assert played.plies == len(whole.actions)


def test_a_game_does_not_depend_on_the_games_before_it() -> None:
    whole = play_match(PLAYERS, "connect4", FORTY).records
    openings = [r.opening for r in whole[0::2]]
    tasks = make_tasks(match_pairs(40), openings, FORTY.seed)
    contestants = Contestants(tuple(PLAYERS), tuple(PLAYERS))
    setup = Setup("connect4", contestants, FORTY.adjudication)
    alone = [next(play_tasks(setup, [tasks[n]]))[0] for n in (39, 7)]
    assert alone == [whole[39], whole[7]]


def test_chance_differs_from_game_to_game_and_follows_the_seed() -> None:
    options = MatchOptions(games=6, openings="start", seed=1)
    chancy = ["random?seed=5", "random?seed=5"]
    once, again = (play_match(chancy, "connect4", options) for _ in range(2))
    assert once.records == again.records
    assert len({r.actions for r in once.records}) == 6
    other = play_match(chancy, "connect4", replace(options, seed=2))
    assert other.records != once.records
    assert len({derived_seed(0, n) for n in range(1000)}) == 1000


def test_duplicate_games_are_counted() -> None:
    fixed = ["minimax?depth=1", "minimax?depth=2"]
    result = play_match(fixed, "tictactoe", MatchOptions(games=6, openings="start"))
    assert result.to_dict()["duplicates"] == 4  # one game, and one with colours swapped
    assert duplicates(result.records[:2]) == 0


def test_pairs_with_the_same_moves_in_both_games_are_counted() -> None:
    twins = ["minimax?depth=2", "minimax?depth=2"]
    options = MatchOptions(games=5, openings="start")
    result = play_match(twins, "tictactoe", options)
    figures = result.to_dict()
    assert figures["equal_pairs"] == 2  # the fifth game has no partner
    assert figures["duplicates"] == 3
    other = replace(result.records[0], actions=("a1",))
    assert equal_pairs((other, *result.records[1:])) == 1


def test_a_player_that_chooses_an_illegal_action_loses_and_it_is_said() -> None:
    class Cheat:
        name = "cheat"

        def choose(self, game: Game, state: State) -> int:
            return game.num_actions + 5

    result = play_match([Cheat(), "random"], "connect4", MatchOptions(games=4))
    assert result.failures == {"cheat": {"illegal move": 4}, "random": {}}
    assert result.split.total.losses == 4


def test_a_network_against_itself_and_the_game_is_known_from_it(tmp_path: Path) -> None:
    file = save_small(tmp_path / "net.onnx", seed=2)
    specs = [f"{file}?simulations=8", f"policy?weights={file}&temperature=1"]
    result = play_match(specs, options=MatchOptions(games=4))
    assert result.game == "connect4"
    assert len({r.key for r in result.records}) == 4
    assert play_match(specs, options=MatchOptions(games=4)).records == result.records
    with pytest.raises(ValueError, match=r"net\.onnx: "):
        play_match(specs, "tictactoe", MatchOptions(games=4))


def test_games_of_a_python_file_are_played_in_other_processes_too() -> None:
    example = str(Path(__file__).parents[2] / "examples" / "my_game.py")
    players = ["rollout?simulations=8", "random"]
    here = play_match(players, example, MatchOptions(games=4))
    there = play_match(players, example, MatchOptions(games=4, concurrency=2))
    assert here.records == there.records


@pytest.mark.parametrize(
    ("players", "game", "sentence"),
    [
        (["random", "random"], None, "which game"),
        (["human", "random"], "hex", "a match is played without people"),
        (["no.onnx", "random"], None, r"there is no network 'no\.onnx'"),
        (["minmax", "random"], "hex", "did you mean 'minimax'"),
        (["search?solvr=on", "random"], "hex", "no parameter 'solvr'; did you mean 'solver'"),
    ],
)
def test_a_match_that_cannot_be_is_refused(
    players: list[str], game: str | None, sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence):
        play_match(players, game, MatchOptions(games=2))


# --- processes ------------------------------------------------------------------------------------


def test_a_process_ends_in_the_middle_of_a_search_when_its_input_ends() -> None:
    endless = "rollout?simulations=2000000000"
    contestants = Contestants((endless, endless), ("a", "b"))
    process = subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None and process.stdout is not None
    tasks = make_tasks(match_pairs(2), [Opening()], 0)
    for message in (
        description("chess", contestants, AdjudicateOptions()),
        tasks[0].to_dict(),
    ):
        process.stdin.write(json.dumps(message).encode() + b"\n")
        process.stdin.flush()
    assert json.loads(process.stdout.readline()) == {"ready": process.pid}
    process.stdin.close()
    assert process.wait(timeout=60) == 0
    process.stdout.close()


def test_a_process_that_dies_is_replaced_and_its_game_played_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = tmp_path / "died"
    script = (
        "import os, sys, pathlib\n"
        "from zermelo.matches import worker\n"
        "from zermelo.matches.play_game import Table\n"
        "play = Table.play\n"
        "def dying(self, task):\n"
        f"    mark = pathlib.Path({str(mark)!r})\n"
        "    if task.number == 3 and (ALWAYS or not mark.exists()):\n"
        "        mark.touch()\n"
        "        os._exit(9)\n"
        "    return play(self, task)\n"
        "Table.play = dying\n"
        "worker.main()\n"
    )
    options = replace(FORTY, games=6, concurrency=2)
    command = (sys.executable, "-c", "ALWAYS = False\n" + script)
    monkeypatch.setattr("zermelo.matches.workers.COMMAND", command)
    result = play_match(PLAYERS, "connect4", options)
    assert mark.exists()
    assert (
        result.records == play_match(PLAYERS, "connect4", replace(options, concurrency=1)).records
    )
    command = (sys.executable, "-c", "ALWAYS = True\n" + script)
    monkeypatch.setattr("zermelo.matches.workers.COMMAND", command)
    with pytest.raises(RuntimeError, match="game 3: its process died twice"):
        play_match(PLAYERS, "connect4", options)


def test_a_mistake_that_only_another_process_sees_is_still_one_sentence() -> None:
    engine = f"uci:{sys.executable} {Path(__file__).with_name('bad_engine.py')}?Hashh=3"
    with pytest.raises(ValueError, match="Bad Engine has no option 'Hashh'"):
        play_match([engine, "random"], "chess", MatchOptions(games=4, concurrency=2))


def test_a_fault_in_a_game_file_is_one_sentence_from_another_process_too(tmp_path: Path) -> None:
    example = Path(__file__).parents[2] / "examples" / "my_game.py"
    faulty = example.read_text().replace(
        "    def play(self, state, action):\n",
        "    def play(self, state, action):\n        1 // 0\n",
    )
    path = tmp_path / "faulty.py"
    path.write_text(faulty)
    options = MatchOptions(games=4, openings="start", concurrency=2)
    with pytest.raises(ValueError, match=r"faulty\.py line \d+: game \d: ZeroDivisionError"):
        play_match(["random", "random"], str(path), options)


def test_objects_play_here_only() -> None:
    class Firstling:
        name = "firstling"

        def choose(self, game: Game, state: State) -> int:
            return game.legal_actions(state)[0]

    players: list[Any] = [Firstling(), "random"]
    assert len(play_match(players, "connect4", MatchOptions(games=2)).records) == 2
    with pytest.raises(ValueError, match="cannot go to other processes"):
        play_match(players, "connect4", MatchOptions(games=2, concurrency=2))


# --- figures --------------------------------------------------------------------------------------


@pytest.mark.technique("E1")
def test_figures_are_those_of_the_first_player_by_colour_and_by_pair() -> None:
    records = (
        record(0, "1-0"),
        record(1, "1/2-1/2", (1, 0)),
        record(2, "0-1"),
        record(3, "0-1", (1, 0)),
        record(4, "1-0"),
    )
    result = MatchResult("connect4", ("A", "B"), records)
    split = result.split
    assert (str(split.total), str(split.first), str(split.second)) == (
        "+3 -1 =1",
        "+2 -1 =0",
        "+1 -0 =1",
    )
    assert split.pairs.pairs == (0, 0, 1, 1, 0)  # the fifth game has no partner
    assert str(result).startswith("P1: +3 -1 =1  Win: 70.00%  Elo: ")
    assert "4 games in whole pairs" in str(result)
    assert "P1-W: +2 -1 =0  P1-B: +1 -0 =1" in str(result)


@pytest.mark.technique("E1")
def test_a_sequential_test_stops_at_the_same_pair_in_whatever_order_games_end() -> None:
    won = {n: record(n, "1-0" if n % 2 == 0 else "0-1", ((0, 1), (1, 0))[n % 2]) for n in range(40)}
    in_order = SequentialTest(Sprt(0, 100))
    for last in range(40):
        if in_order.decided({n: won[n] for n in range(last + 1)}):
            break
    assert in_order.games is not None
    assert in_order.games == last + 1 < 40
    out_of_order = SequentialTest(Sprt(0, 100))
    assert not out_of_order.decided({n: won[n] for n in range(1, 40)})  # the first is missing
    assert out_of_order.decided(won)
    assert out_of_order.games == in_order.games


def test_a_match_ends_when_its_test_is_decided(tmp_path: Path) -> None:
    options = MatchOptions(games=400, sprt=Sprt(0, 200), out=tmp_path)
    players = ["rollout?simulations=50", "random"]
    result = play_match(players, "connect4", options)
    assert len(result.records) < 400
    assert result.to_dict()["sprt"]["decision"] == "H1"
    two = play_match(players, "connect4", replace(options, concurrency=2, out=tmp_path / "two"))
    assert two.records == result.records
    # Killed after the decision, before the games beyond it were dropped.
    games = tmp_path / "games.jsonl"
    kept = games.read_text()
    last = result.records[-1]
    later = replace(last, number=last.number + 5, pair=(last.number + 5) // 2)
    games.write_text(kept + later.to_json() + "\n")
    assert play_match(players, "connect4", options).records == result.records
    assert games.read_text() == kept


def test_progress_is_reported_and_ends_with_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match_module, "SHOW_SECONDS", 0.0)
    seen: list[int] = []
    play_match(
        ["random", "random"],
        "connect4",
        MatchOptions(games=4),
        lambda result: seen.append(len(result.records)),
    )
    assert seen == [1, 2, 3, 4, 4]


# --- command line ---------------------------------------------------------------------------------


def test_options_of_one_side_go_into_its_text() -> None:
    words = ["x.onnx", "--a.solver=off", "random", "--b.seed", "4", "--a.fpu=loss"]
    assert split_players(words) == ["x.onnx?solver=off&fpu=loss", "random?seed=4"]
    for wrong, sentence in (
        (["a", "b", "--c.x=1"], "there is no option '--c.x=1'"),
        (["a", "b", "--a.x"], "--a.x needs a value"),
        (["a"], "a match has two players, not 1"),
    ):
        with pytest.raises(ValueError, match=sentence):
            split_players(wrong)


def test_visits_are_for_those_who_search_and_have_no_budget() -> None:
    specs = ["x.onnx", "rollout?simulations=5", "search?seconds=1", "random", "uci:stockfish"]
    assert with_budget(specs, 70) == ["x.onnx?simulations=70", *specs[1:]]
