"""`zermelo analyse`: the table, the JSON, the tree, and Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from zermelo.cli import main

EXAMPLE = str(Path(__file__).parents[2] / "examples" / "my_game.py")
WIN_IN_ONE = "XX./OO./..."
Captured = pytest.CaptureFixture[str]


def run(capsys: Captured, *arguments: str) -> str:
    assert main(["analyse", *arguments]) == 0
    return capsys.readouterr().out


def test_the_table_shows_each_candidate_and_why_the_search_ended(capsys: Captured) -> None:
    shown = run(capsys, "connect4", "--simulations", "300")
    for head in ("move", "visits", "share", "Q", "W/D/L", "prior", "proven", "line"):
        assert head in shown
    assert "300 simulations" in shown
    assert "stopped: all simulations done" in shown
    assert "\x1b" not in shown  # no terminal: no colours and nothing that moves


def test_a_proven_win_is_named_with_its_distance(capsys: Captured) -> None:
    shown = run(capsys, "tictactoe", "--position", WIN_IN_ONE, "--simulations", "50")
    best = next(line for line in shown.splitlines() if line.startswith("c3"))
    assert "win in 1" in best
    assert "stopped: the result is proven" in shown


def test_long_lists_of_moves_are_cut(capsys: Captured) -> None:
    assert "and 5 more" in run(capsys, "chess", "--simulations", "20", "--evaluator", "uniform")


def test_json_has_every_action_and_the_options(capsys: Captured) -> None:
    arguments = ["chess", "--simulations", "64", "--set", "solver=off", "--evaluator", "hash"]
    found = json.loads(run(capsys, *arguments, "--json"))
    assert found["game"] == "chess"
    assert found["position"].startswith("rnbqkbnr/pppppppp")
    assert found["options"]["solver"] is False
    assert found["stop"] == "simulations"
    assert len(found["actions"]) == 20
    assert sum(row["visits"] for row in found["actions"]) == found["root_visits"] - 1 == 64


def test_threads_share_the_simulations(capsys: Captured) -> None:
    arguments = ("connect4", "--simulations", "500", "--threads", "2", "--json")
    found = json.loads(run(capsys, *arguments))
    assert found["options"]["threads"] == 2
    assert found["root_visits"] == 501


def test_time_ends_the_search(capsys: Captured) -> None:
    found = json.loads(run(capsys, "othello", "--seconds", "0.1", "--json"))
    assert found["stop"] == "time"
    assert 0.08 < found["seconds"] < 2.0


def test_a_game_in_python_can_be_analysed(capsys: Captured) -> None:
    assert "c2" in run(capsys, EXAMPLE, "--simulations", "60")


@pytest.mark.parametrize("suffix", ["json", "dot"])
def test_the_tree_is_written(capsys: Captured, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"tree.{suffix}"
    run(capsys, "tictactoe", "--simulations", "100", "--tree", str(path))
    text = path.read_text()
    if suffix == "json":
        nodes = json.loads(text)["nodes"]
        assert nodes[0]["parent"] is None
        assert all(node["parent"] < node["id"] for node in nodes[1:])
    else:
        assert text.startswith("digraph")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["conect4"], "did you mean 'connect4'?"),
        (["connect4", "--evaluator", "guess"], "there is no evaluator 'guess'"),
        (["connect4", "--set", "solver"], "--set 'solver' should look like c_puct=1.2"),
        (["connect4", "--set", "solvr=on"], "there is no option 'solvr'; the nearest is 'solver'"),
        (["connect4", "--set", "c_puct=much"], "option 'c_puct' cannot be 'much'"),
        (["connect4", "--threads", "0"], "option 'threads' cannot be 0"),
        (["connect4", "--simulations", "0"], "--simulations"),
        (["connect4", "--set", "gumbel=on"], "give --simulations"),
        (["connect4", "--tree", "tree.txt"], "must end in .json or .dot"),
        (["connect4", "--tree", "nowhere/tree.dot"], "there is no folder 'nowhere'"),
        (["tictactoe", "--position", "XXX/OO./..."], "the game is over, the first player wins"),
        (["tictactoe", "--position", "XXXX"], "position 'XXXX'"),
    ],
)
def test_bad_input_is_one_sentence(capsys: Captured, arguments: list[str], sentence: str) -> None:
    assert main(["analyse", *arguments]) == 2
    shown = capsys.readouterr()
    assert sentence in shown.err
    assert shown.err.count("\n") == 1


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_ctrl_c_shows_what_was_found_so_far() -> None:
    command = [sys.executable, "-m", "zermelo", "analyse", "chess", "--seconds", "60", "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(3.0)  # the imports must be over
    process.send_signal(signal.SIGINT)
    started = time.perf_counter()
    out, err = process.communicate(timeout=20)
    assert time.perf_counter() - started < 5.0
    assert process.returncode == 0, err
    found = json.loads(out)
    assert found["stop"] == "stopped"
    assert found["root_visits"] > 1
