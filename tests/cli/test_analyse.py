"""`zermelo analyse`: the table, the JSON, the tree, Ctrl-C, and sessions of requests."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import zermelo
from zermelo.cli import main
from zermelo.cli.analyse import LiveTable
from zermelo.cli.jsonl import MAX_LINE, lines_of
from zermelo.search import Search, SearchOptions, UniformEvaluator

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
        (["connect4", "--jsonl", "--seconds", "3"], "--seconds and --jsonl do not go together"),
        (["connect4", "--jsonl", "--json"], "--json and --jsonl do not go together"),
        (["connect4", "--jsonl", "--set", "solvr=on"], "there is no option 'solvr'"),
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


@pytest.mark.parametrize("name", zermelo.game_names())
def test_the_table_moves_on_a_terminal_while_any_game_is_searched(name: str) -> None:
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=110, legacy_windows=False)
    game = zermelo.game(name)
    view = LiveTable(name, console=console)
    frames: list[str] = []

    def progress(result: Any) -> None:
        view.progress(result)
        frames.append(screen.getvalue())
        if len(set(frames)) >= 3:  # it was drawn again
            search.stop()

    search = Search(game, UniformEvaluator(), SearchOptions(solver=False))
    with view.running():
        result = search.run(game.initial(), seconds=60, progress=progress)
    assert result.stop == "stopped"
    assert "visits" in frames[-1]
    view.show(result)
    assert f"{result.counters['simulations']:,} simulations" in screen.getvalue()


def session(capsys: Captured, monkeypatch: pytest.MonkeyPatch, *lines: Any) -> list[dict[str, Any]]:
    """The answers to the lines; what is no text is written as JSON."""
    written = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    monkeypatch.setattr("sys.stdin", io.StringIO("".join(line + "\n" for line in written)))
    shown = run(
        capsys, "connect4", "--jsonl", "--evaluator", "hash", "--simulations", "40",
        "--set", "cache_mib=0",
    )  # fmt: skip
    return [json.loads(line) for line in shown.splitlines()]


def test_a_session_answers_every_line_once_and_ends_with_the_input(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = session(
        capsys,
        monkeypatch,
        {"id": "game", "moves": ["4", "4", "4"], "analyseTurns": [0, 1, 2, 3], "maxMoves": 1},
        "this is no JSON",
        {"id": "deep", "simulations": 90},
        "",
        {"id": "bad", "moves": ["4", "0"]},
        {"id": "v", "action": "query_version"},
        {"id": "other", "game": "tictactoe", "position": WIN_IN_ONE},
        {"id": "none", "action": "terminate", "terminateId": "nobody"},
    )
    errors = [answer for answer in answers if "error" in answer]
    assert [answer["id"] for answer in errors] == [None, "bad"]
    assert errors[1]["field"] == "moves"
    found = {(a["id"], a["turn"]): (a["best"], a["root_visits"]) for a in answers if "best" in a}
    assert found == GOLDEN
    assert len(answers) == 2 + 2 + len(GOLDEN)


# What the hash leads a search of connect4 to; changes only if the search does.
GOLDEN = {
    ("game", 0): ("7", 41),
    ("game", 1): ("1", 41),
    ("game", 2): ("4", 41),
    ("game", 3): ("7", 41),
    ("deep", 0): ("7", 91),
    ("other", 0): ("c3", 2),
}


def test_requests_and_answers_interleave_and_a_running_search_is_terminated() -> None:
    command = [sys.executable, "-m", "zermelo", "analyse", "chess", "--jsonl"]
    command += ["--evaluator", "uniform", "--threads", "2"]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def send(**request: Any) -> None:
            process.stdin.write(json.dumps(request) + "\n")  # type: ignore[union-attr]
            process.stdin.flush()  # type: ignore[union-attr]

        def receive() -> dict[str, Any]:
            return json.loads(process.stdout.readline())  # type: ignore[union-attr, no-any-return]

        send(id="long", simulations=10**9, reportEvery=0.05, maxMoves=1)
        assert receive()["final"] is False
        send(id="short", simulations=50)
        while (answer := receive())["id"] == "long":  # the other thread still searches
            assert answer["final"] is False
        assert (answer["id"], answer["root_visits"]) == ("short", 51)
        send(id="stop", action="terminate", terminateId="long")
        seen = [receive()]
        while not seen[-1].get("final"):
            seen.append(receive())
        assert seen[-1]["stop"] == "terminated"
        send(id="last", moves=["e2e4"], simulations=30)
        process.stdin.close()
        assert receive()["id"] == "last"
        assert process.stdout.read() == ""
        assert process.wait(20) == 0


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_ctrl_c_ends_a_session(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "zermelo", "analyse", "chess", "--jsonl"]
    pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen([*command, "--evaluator", "uniform"], **pipes) as process:
        request = b'{"id": 1, "simulations": 1000000000, "reportEvery": 0.01}\n'
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(request)
        process.stdin.flush()
        assert process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
    assert process.returncode == 130, err
    assert err == b"zermelo: interrupted\n"


def test_lines_come_whole_whatever_their_pieces_and_long_ones_are_dropped() -> None:
    inlet, outlet = os.pipe()
    with os.fdopen(inlet) as source, os.fdopen(outlet, "wb", buffering=0) as target:

        def write() -> None:
            for piece in (b"a\nb", b"c\n", b"x" * (MAX_LINE + 70_000), b"x\nd\n", b"end"):
                target.write(piece)
            target.close()

        writer = threading.Thread(target=write)
        writer.start()
        assert list(lines_of(source)) == [b"a", b"bc", None, b"d", b"end"]
        writer.join()
