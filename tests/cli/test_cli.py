"""The command line: what it prints, its exit codes, and one sentence for every mistake."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import pytest
from terminal import Captured, fails, run, spawn

from zermelo import __version__
from zermelo.cli import main
from zermelo.players import uci_engine

EXAMPLE = str(Path(__file__).parents[2] / "examples" / "my_game.py")


# --- the whole ------------------------------------------------------------------------------------


def test_no_arguments_show_the_help(capsys: Captured) -> None:
    shown = run(capsys)
    assert "Usage: zermelo" in shown
    for command in ("check", "games", "perft", "play"):
        assert command in shown


def test_the_help_groups_the_commands(capsys: Captured) -> None:
    shown = run(capsys, "--help")
    heads = [f"─ {group} ─" for group in ("Learn", "Play", "Measure", "Look inside", "Tools")]
    places = [shown.index(head) for head in heads]
    assert places == sorted(places)
    assert "─ Commands ─" not in shown  # every command is in a group
    assert places[0] < shown.index("│ train ") < places[1]
    assert places[3] < shown.index("│ replay ") < places[4]


def test_the_version_is_shown(capsys: Captured) -> None:
    assert run(capsys, "--version") == f"zermelo {__version__}\n"


@pytest.mark.parametrize("command", ["check", "games", "perft", "play"])
def test_every_command_has_help(capsys: Captured, command: str) -> None:
    assert f"zermelo {command}" in run(capsys, command, "--help")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["chekc"], "No such command 'chekc'"),
        (["check"], "Missing argument"),
        (["check", "tictactoe", "--gamse", "3"], "No such option: --gamse"),
        (["check", "tictactoe", "--games", "0"], "--games"),
        (["check", "tictactoe", "--games", "many"], "--games"),
        (["check", "conect4"], "there is no game 'conect4'; did you mean 'connect4'?"),
        (["check", "hex?size=40"], "hex: size must be a whole number from 3 to 11, not '40'"),
        (["check", "nowhere.py"], "there is no file 'nowhere.py'"),
        (["check", ""], "there is no game ''"),
        (["perft", "tictactoe"], "Missing argument"),
        (["perft", "tictactoe", "deep"], "depth"),
        (["perft", "tictactoe", "--", "-3"], "depth"),
        (["perft", "tictactoe", "0", "--divide"], "depth 0 cannot be divided"),
        (["perft", "tictactoe", "2", "--position", "XXXX"], "position 'XXXX'"),
        (
            ["perft", "chess", "2", "--position", "\u00e9t\u00e9"],
            "letters that no position of chess",
        ),
        (["perft", EXAMPLE, "2", "--position", "x"], "cannot be typed"),
        (["play", "tictactoe", "--side", "third"], "--side must be first, second or random"),
        (["play", "tictactoe", "--against", "rnadom"], "did you mean 'random'?"),
        (["play", "chess", "--against", "perfect"], "there is no perfect player for chess"),
    ],
)
def test_bad_input_is_one_sentence(capsys: Captured, arguments: list[str], sentence: str) -> None:
    assert sentence in fails(capsys, *arguments)


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_ctrl_c_ends_a_long_count_with_130() -> None:
    process = spawn("perft", "chess", "9")
    time.sleep(2.0)  # the imports must be over
    process.send_signal(signal.SIGINT)
    started = time.perf_counter()
    out, err = process.communicate(timeout=20)
    assert time.perf_counter() - started < 5
    assert process.returncode == 130
    assert out == b""
    assert err == b"zermelo: interrupted\n"


def test_ctrl_c_ends_the_engines_before_the_process(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    ended: list[str] = []
    monkeypatch.setattr("zermelo.cli.entry.make_app", interrupted)
    monkeypatch.setattr("sys.argv", ["zermelo", "games"])
    monkeypatch.setattr("threading.active_count", lambda: 2)  # as with an engine
    monkeypatch.setattr(uci_engine, "end_all_engines", lambda: ended.append("engines"))
    monkeypatch.setattr("os._exit", lambda code: ended.append(f"process with {code}"))
    assert main() == 130
    assert ended == ["engines", "process with 130"]
    assert capsys.readouterr().err == "zermelo: interrupted\n"


def test_a_reader_that_goes_away_is_no_error() -> None:
    with spawn("games") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""


# --- games, check, perft --------------------------------------------------------------------------


def test_games_lists_names_and_parameters(capsys: Captured) -> None:
    shown = run(capsys, "games")
    assert "connect4" in shown
    assert "size=11  (a whole number from 3 to 11)" in shown
    listing = json.loads(run(capsys, "games", "--json"))
    assert [entry["name"] for entry in listing][:2] == ["tictactoe", "connect4"]


def test_check_passes_a_sound_game(capsys: Captured) -> None:
    assert "is sound: 3 games" in run(capsys, "check", EXAMPLE, "--games", "3")
    report = json.loads(run(capsys, "check", "tictactoe", "--games", "3", "--json"))
    assert report["ok"]
    assert report["games"] == 3


def test_check_fails_an_unsound_game_with_1(capsys: Captured, tmp_path: Path) -> None:
    path = tmp_path / "unsound.py"
    path.write_text(Path(EXAMPLE).read_text().replace("return state[1]\n", "return 7\n", 1))
    assert main(["check", str(path)]) == 1
    shown = capsys.readouterr()
    assert "not supported, because it has more than two players (player() is 7)" in shown.out
    assert shown.err == ""
    assert main(["check", str(path), "--json"]) == 1
    assert not json.loads(capsys.readouterr().out)["ok"]


def test_perft_counts(capsys: Captured) -> None:
    shown = run(capsys, "perft", "tictactoe", "5")
    assert shown.startswith("perft(5) = 15120 ")
    assert "nodes/s" in shown


def test_perft_of_chess_is_the_known_number(capsys: Captured) -> None:
    found = json.loads(run(capsys, "perft", "chess", "4", "--json"))
    assert found["paths"] == 197281
    assert found["position"].startswith("rnbqkbnr/")


def test_perft_divides_by_action_from_a_position(capsys: Captured) -> None:
    shown = run(capsys, "perft", "tictactoe", "2", "--position", "XOX/OXO/...", "--divide")
    assert shown.splitlines()[:3] == ["a1: 0", "b1: 2", "c1: 0"]
    assert shown.splitlines()[3].startswith("perft(2) = 2 ")


def test_perft_divides_whole_moves_of_checkers(capsys: Captured) -> None:
    jumps = "B:W18,25:B14"  # 14 jumps twice
    whole = json.loads(run(capsys, "perft", "checkers", "1", "--position", jumps, "--json"))
    parts = run(capsys, "perft", "checkers", "1", "--position", jumps, "--divide", "--json")
    assert json.loads(parts)["paths"] == whole["paths"] == 1


def test_perft_counts_a_game_written_in_python(capsys: Captured) -> None:
    assert run(capsys, "perft", EXAMPLE, "3").startswith("perft(3) = ")
