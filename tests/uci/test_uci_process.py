"""The engine as a process: how it starts, what it loads, how it ends, and who can start it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import chess
import chess.engine
import pytest
from outside_data import outside_data

from zermelo.errors import UserError
from zermelo.uci.options import find
from zermelo.uci.start import main, read_arguments

Record = Callable[[str, object], None]

ROOT = Path(__file__).parents[2]
HEAVY = ("torch", "openvino", "onnxruntime", "chess", "rich", "typer", "ray", "fastapi")


def run(text: str | bytes, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    data = text.encode() if isinstance(text, str) else text
    command = [sys.executable, "-m", "zermelo.uci", *arguments]
    return subprocess.run(command, input=data, capture_output=True, timeout=60, check=False)


def test_nothing_heavy_is_imported_before_the_first_answer() -> None:
    program = "import sys, zermelo.uci.start, zermelo.uci.session; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert not set(HEAVY) & set(done.stdout.split())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "uci\n",
        "uci\nquit\n",
        "position startpos\ngo infinite\n",
        "position startpos\ngo infinite\nquit\n",
        "go ponder wtime 1000 btime 1000\n",
        "position startpos\ngo nodes 10",  # no end of line
    ],
)
def test_the_end_of_the_input_and_quit_end_the_process(text: str) -> None:
    done = run(text)
    assert done.returncode == 0
    assert not done.stderr
    assert done.stdout.count(b"bestmove") == text.count("go ")


def test_bytes_that_are_no_text_are_no_danger() -> None:
    done = run(b"\x00\xff\xfe\n\xc3\x28 go\ngo \xf0\x9f\x98\x80\nstop\nuci\n" + b"x" * 5_000_000)
    assert done.returncode == 0
    assert b"uciok" in done.stdout
    assert not done.stderr


def test_arguments_set_options_by_either_name() -> None:
    settings = read_arguments(
        ["--weights=a b.pb.gz", "--set", "c_puct=2.5", "--set=MultiPV=4", "--set", "Solver=off"]
    )
    assert settings is not None
    assert settings["WeightsFile"] == "a b.pb.gz"
    assert (settings["CPuct"], settings["MultiPV"], settings["Solver"]) == (2.5, 4, False)
    assert read_arguments(["--help"]) is None


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--wieghts", "x"], "there is no argument '--wieghts'"),
        (["--weights"], "--weights needs a value"),
        (["--set", "CPuct"], "NAME=VALUE"),
        (["--set", "Nope=3"], "there is no option 'Nope'"),
    ],
)
def test_wrong_arguments_are_one_sentence(
    arguments: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(UserError, match=reason):
        read_arguments(arguments)
    assert main(arguments) == 2
    shown = capsys.readouterr().err
    assert shown.startswith("zermelo-uci: ")
    assert shown.count("\n") == 1


def test_a_thousand_damaged_lines_do_no_harm(record_property: Record) -> None:
    command = [sys.executable, "tools/uci_fuzz.py", "--lines", "1000", "--seed", "11", "--json"]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=200, check=False
    )
    found = json.loads(done.stdout)
    assert found["exit_code"] == 0, found
    assert found["bestmoves"] == found["searches"] > 100
    assert found["illegal"] == []
    assert found["error_lines"] > 100
    record_property("tried", 1000)


def test_the_configuration_for_lichess_bot_starts_an_engine_that_takes_its_options() -> None:
    yaml = pytest.importorskip("yaml")
    config = yaml.safe_load((ROOT / "examples" / "lichess-bot.yml").read_text())
    engine = config["engine"]
    assert (engine["name"], engine["protocol"]) == ("zermelo-uci", "uci")
    # As lichess-bot makes the command line; the program is this one.
    given = {**engine["engine_options"], "weights": ""}
    command = [sys.executable, "-m", "zermelo.uci", *(f"--{k}={v}" for k, v in given.items())]
    with chess.engine.SimpleEngine.popen_uci(command, timeout=60) as client:
        options = {
            name: value
            for name, value in engine["uci_options"].items()
            if not chess.engine.Option(name, "", None, None, None, None).is_managed()
        }
        assert options
        client.configure(options)
        for name in engine["uci_options"]:
            assert find(name).name == name
        limit = chess.engine.Limit(white_clock=2, black_clock=2)
        result = client.play(chess.Board(), limit, ponder=engine["ponder"])
        assert result.move is not None and result.move in chess.Board().legal_moves


def test_loading_a_network_starts_no_other_process() -> None:
    pytest.importorskip("openvino")
    program = f"""
import sys
from zermelo.uci import networks
sys.addaudithook(lambda event, _: event in ("os.fork", "subprocess.Popen") and print(event))
networks.load({str(outside_data("nets/maia-1500.pb.gz"))!r}, "openvino", "f32")
import time; time.sleep(0.5)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == ""


def test_an_lc0_network_plays_in_both_castling_notations() -> None:
    pytest.importorskip("openvino")
    weights = str(outside_data("nets/maia-1500.pb.gz"))
    command = [sys.executable, "-m", "zermelo.uci", "--weights", weights]
    with chess.engine.SimpleEngine.popen_uci(command, timeout=60) as client:
        info = client.analyse(chess.Board(), chess.engine.Limit(nodes=60))
        assert info["pv"][0].uci() in ("e2e4", "d2d4")
        board = chess.Board.from_chess960_pos(518)
        for move in ("e2e4", "e7e5", "g1f3", "b8c6", "f1c4", "f8c5"):
            board.push_uci(move)
        castling = chess.Move.from_uci("e1h1")
        limit = chess.engine.Limit(nodes=60)
        assert client.play(board, limit, root_moves=[castling]).move == castling
