"""The command line: what it prints, its exit codes, and one sentence for every mistake."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from small_networks import small_weights

import zermelo
from zermelo import __version__
from zermelo.checkpoint import CheckpointStore, TrainingState
from zermelo.cli import main
from zermelo.config import RunConfig
from zermelo.errors import UserError
from zermelo.loop import Run
from zermelo.network.places import shipped_network
from zermelo.players import uci_engine
from zermelo.players.search_player import SearchPlayer
from zermelo.players.uci_player import UciPlayer

EXAMPLE = str(Path(__file__).parents[2] / "examples" / "my_game.py")
Captured = pytest.CaptureFixture[str]


def run(capsys: Captured, *arguments: str) -> str:
    """The standard output of a command that must succeed without a word on the other stream."""
    assert main(arguments) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    return shown.out


def fails(capsys: Captured, *arguments: str) -> str:
    """The one sentence of a command that must fail."""
    assert main(arguments) == 2
    shown = capsys.readouterr()
    assert shown.err.startswith("zermelo: ")
    assert shown.err.count("\n") == 1
    assert "Traceback" not in shown.err
    return shown.err.removeprefix("zermelo: ").rstrip("\n")


def type_in(monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("".join(line + "\n" for line in lines)))


def spawn(*arguments: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "zermelo", *arguments]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe)


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
    assert "player() must be 0 or 1, not 7" in shown.out
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


# --- play -----------------------------------------------------------------------------------------


def test_two_people_can_play_to_the_end(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    type_in(monkeypatch, "b2", "a1", "a3", "c1", "c3", "b1")
    shown = run(capsys, "play", "tictactoe", "--against", "human")
    assert "The game is over: the second player wins." in shown
    assert "1  O[O]O" in shown


def test_commands_show_moves_take_back_and_give_hints(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    type_in(monkeypatch, "moves", "undo", "b2", "undo", "hint", "help", "board", "", "quit")
    shown = run(capsys, "play", "tictactoe", "--against", "random?seed=1")
    assert "1: a3  2: b3  3: c3" in shown
    assert "There is nothing to take back." in shown
    assert shown.count("[X]") == 1
    assert "hint: " in shown
    assert "Goodbye; the game is not finished." in shown


def test_a_hint_keeps_a_win_that_most_moves_lose(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Only 4 wins; 1, 2, 3, 5, 6 and 7 lose. A search that takes all positions for even says 6.
    position = "......./......./....X../..OXOO./..XOOX./OOXOXXX"
    type_in(monkeypatch, "hint")
    shown = run(capsys, "play", "connect4", "--position", position, "--against", "human")
    assert "hint: 4" in shown


def test_a_run_is_opened_as_a_run_and_its_game_compared(capsys: Captured, tmp_path: Path) -> None:
    config = RunConfig.from_tables({"game": {"name": "tictactoe"}})
    made = Run.create(tmp_path / "random", config)
    made.unlock()
    said = fails(capsys, "play", "connect4", "--run", str(made.path))
    assert said == f"'{made.path}' is a run of tictactoe, not of connect4"
    said = fails(capsys, "play", "tictactoe", "--run", str(made.path))
    assert "without checkpoints" in said
    assert fails(capsys, "play", "tictactoe", "--run", "random") == "there is no run 'random'"


def test_the_newest_checkpoint_of_a_run_is_named_once(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made = Run.create(tmp_path / "mine", RunConfig.from_tables({"game": {"name": "tictactoe"}}))
    made.unlock()
    for number, note in ((0, "000000, which is untrained."), (7, "000007.")):
        weights = small_weights("tictactoe")
        CheckpointStore(made.checkpoints).save(number, weights, TrainingState({}, {}))
        type_in(monkeypatch, "b2", "quit")
        assert main(["play", "tictactoe", "--run", str(made.path)]) == 0
        shown = capsys.readouterr().out
        assert shown.count(f"The newest checkpoint of {made.path} is {note}") == 1
        assert "\nmine?simulations=800 plays " in shown


def test_a_run_is_played_with_its_own_search(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tables = {"game": {"name": "tictactoe"}, "search": {"gumbel": True, "c_puct": 2.5}}
    made = Run.create(tmp_path / "mine", RunConfig.from_tables(tables))
    made.unlock()
    CheckpointStore(made.checkpoints).save(1, small_weights("tictactoe"), TrainingState({}, {}))
    type_in(monkeypatch, "b2", "quit")
    assert main(["play", "tictactoe", "--run", str(made.path)]) == 0
    shown = capsys.readouterr().out
    played = next(line for line in shown.splitlines() if " plays " in line)
    assert "c_puct=2.5" in played
    assert "gumbel=" in played


def test_a_hint_is_given_though_a_training_has_removed_the_checkpoint(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made = Run.create(tmp_path / "mine", RunConfig.from_tables({"game": {"name": "tictactoe"}}))
    made.unlock()
    weights = small_weights("tictactoe")
    CheckpointStore(made.checkpoints).save(1, weights, TrainingState({}, {}))

    class Typed(io.StringIO):
        def readline(self, size: int = -1, /) -> str:  # type: ignore[override]  # of typeshed
            shutil.rmtree(made.checkpoints, ignore_errors=True)
            return super().readline(size)

    monkeypatch.setattr("sys.stdin", Typed("hint\nb2\nquit\n"))
    assert main(["play", "tictactoe", "--run", str(made.path)]) == 0
    shown = capsys.readouterr().out
    assert "hint: " in shown
    assert "\nmine?simulations=800 plays " in shown


def test_the_game_goes_on_without_a_hint(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(*_: object) -> int:
        raise UserError("the network is gone")

    monkeypatch.setattr(SearchPlayer, "choose", gone)
    type_in(monkeypatch, "hint", "b2")
    shown = run(capsys, "play", "tictactoe", "--against", "human")
    assert "There is no hint: the network is gone." in shown
    assert "2  .[X]." in shown


def test_an_engine_that_fails_ends_the_game_with_a_sentence(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: list[str] = []
    monkeypatch.setattr(UciPlayer, "close", lambda self: closed.append(self.name))
    type_in(monkeypatch)
    program = Path(__file__).parents[1] / "matches" / "bad_engine.py"
    engine = f"uci:{sys.executable} {program} crashes?seconds=0.05&grace=10"
    said = fails(capsys, "play", "chess", "--against", engine, "--side", "second")
    assert "cannot go on with the game: crash" in said
    assert len(closed) == 1


def test_the_opponent_is_named_without_the_directories_of_its_network(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    type_in(monkeypatch, "b2", "quit")
    assert main(["play", "tictactoe"]) == 0
    shown = capsys.readouterr().out
    assert "against tictactoe.onnx?simulations=400. " in shown
    assert "\ntictactoe.onnx?simulations=400 plays " in shown


def test_a_network_of_another_game_is_refused_before_the_first_board(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    type_in(monkeypatch)
    network = shipped_network(zermelo.game("connect4"))
    assert main(["play", "tictactoe", "--against", str(network)]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "the network is for connect4" in shown.err


def test_undo_goes_back_to_ones_own_decision(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    type_in(monkeypatch, "undo", "1", "undo", "1")
    shown = run(capsys, "play", "tictactoe", "--against", "minimax?depth=2", "--side", "second")
    assert shown.count("minimax?depth=2 plays a3") == 1
    assert "There is nothing to take back." in shown
    assert shown.count("3  X[O].") == 2


def test_a_wrong_move_is_explained_and_asked_again(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    type_in(monkeypatch, "z9", "b2", "b2")
    shown = run(capsys, "play", "tictactoe", "--against", "human")
    assert "'z9' is not a cell from a1 to c3" in shown
    assert "cell 'b2' is occupied" in shown


def test_a_number_is_a_place_in_the_list_unless_numbers_are_names(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    type_in(monkeypatch, "5")
    assert "2  .[X]." in run(capsys, "play", "tictactoe", "--against", "human")
    type_in(monkeypatch, "7", "#1")
    shown = run(capsys, "play", "connect4", "--against", "human")
    assert "  . . . . . .[X]" in shown
    assert " [O]. . . . . X" in shown


def test_a_game_begins_at_a_position(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    type_in(monkeypatch, "c3")
    shown = run(capsys, "play", "tictactoe", "--position", "XX./OO./...", "--against", "random")
    assert "the first player wins" in shown


def test_a_finished_position_is_over_at_once(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    type_in(monkeypatch)
    shown = run(capsys, "play", "tictactoe", "--position", "XXX/OO./...", "--against", "human")
    assert "The game is over: the first player wins." in shown


def test_the_end_of_input_ends_the_game_politely() -> None:
    process = spawn("play", "tictactoe", "--against", "random", "--side", "random")
    out, err = process.communicate(b"\xff\xfe\n", timeout=30)
    assert process.returncode == 0
    assert err == b""
    assert "Goodbye; the game is not finished." in out.decode()


def test_a_game_written_in_python_can_be_played(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    type_in(monkeypatch, "c2c3", "no", "quit")
    shown = run(capsys, "play", EXAMPLE, "--against", "random?seed=4")
    assert "3  . .[X]. ." in shown
    assert "'no' is not legal here" in shown
