"""`zermelo play`: a game at the terminal, its commands, hints and ends."""

from __future__ import annotations

import io
import json
import shutil
import sys
from pathlib import Path

import pytest
from small_networks import small_weights
from terminal import Captured, fails, run, spawn

import zermelo
from zermelo.checkpoint import CheckpointStore, TrainingState
from zermelo.cli import main
from zermelo.config import RunConfig
from zermelo.errors import UserError
from zermelo.games.written import line_text
from zermelo.loop import Run
from zermelo.network.places import shipped_network
from zermelo.players.search_player import SearchPlayer
from zermelo.players.uci_player import UciPlayer

EXAMPLE = str(Path(__file__).parents[2] / "examples" / "my_game.py")


def type_in(monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("".join(line + "\n" for line in lines)))


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


def test_a_run_in_the_place_of_its_game_is_played_and_analysed(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made = Run.create(tmp_path / "mine", RunConfig.from_tables({"game": {"name": "tictactoe"}}))
    made.unlock()
    CheckpointStore(made.checkpoints).save(1, small_weights("tictactoe"), TrainingState({}, {}))
    type_in(monkeypatch, "b2", "quit")
    assert main(["play", str(made.path), "--simulations", "20"]) == 0
    shown = capsys.readouterr().out
    assert f"The newest checkpoint of {made.path} is 000001." in shown
    assert "\nmine?simulations=20 plays " in shown
    assert main(["analyse", str(made.path), "--simulations", "20", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["evaluator"].startswith("000001 on ")


def test_the_simulations_are_the_opponents_unless_it_names_its_own(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    for against, name in (
        ([], "tictactoe.onnx?simulations=30"),
        (["--against", "rollout"], "rollout?simulations=30"),
        (["--against", "rollout?simulations=7"], "rollout?simulations=7"),
        (["--against", "random?seed=1"], "random?seed=1"),
    ):
        type_in(monkeypatch, "quit")
        assert main(["play", "tictactoe", "--simulations", "30", *against]) == 0
        assert f"against {name}. " in capsys.readouterr().out


def test_a_game_that_has_changed_since_its_run_began_is_told(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "mine.py"
    file.write_text(Path(EXAMPLE).read_text())
    made = Run.create(tmp_path / "run", RunConfig.from_tables({"game": {"name": str(file)}}))
    made.unlock()
    weights = small_weights(str(file))
    CheckpointStore(made.checkpoints).save(1, weights, TrainingState({}, {}))
    file.write_text(file.read_text() + "\n# other rules\n")
    type_in(monkeypatch, "quit")
    assert main(["play", str(file), "--run", str(made.path)]) == 0
    assert "has changed since the run began, which is kept as" in capsys.readouterr().out
    file.write_text(file.read_text().replace("3 * size**2", "4 * size**2"))
    sentence = fails(capsys, "play", str(file), "--run", str(made.path))
    assert "num_actions was 75 and is now 100; the run has the old file as" in sentence
    with pytest.raises(UserError, match="num_actions was 75 and is now 100"):
        zermelo.load(made.path)


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


def test_chess_is_read_and_written_as_people_do_and_saved(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    place = tmp_path / "game.pgn"
    type_in(
        monkeypatch, "Nf3", "e7e5", "moves", "Zf9", "save", f"save {place}", f"save {place}", "quit"
    )
    shown = run(capsys, "play", "chess", "--against", "human")
    assert "Nxe5" in shown
    assert "saved as" in shown
    assert "File exists" in shown
    assert "'Zf9' is no legal move such as Nf3, exd5, O-O or e2e4. Type 'moves'" in shown
    assert "Where? Give a file's name: save FILE." in shown
    assert "1. Nf3 e5 *" in place.read_text()


def test_other_games_are_saved_in_their_own_words(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    type_in(monkeypatch, "b2", "a1", f"save {tmp_path / 'game'}", "quit")
    run(capsys, "play", "tictactoe", "--against", "human")
    assert "moves: b2 a1\nresult: not finished" in (tmp_path / "game").read_text()


def test_a_hint_has_a_value_and_a_line_and_answers_have_a_chance(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    type_in(monkeypatch, "hint", "4", "quit")
    shown = run(capsys, "play", "connect4", "--against", "search?simulations=60")
    hint = next(line for line in shown.splitlines() if "hint: " in line)
    assert "(win chance " in hint
    assert "; expected: " in hint
    answer = next(line for line in shown.splitlines() if " plays " in line)
    assert "(win chance " in answer


def test_the_line_of_a_hint_is_written_as_its_move_in_chess(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    type_in(monkeypatch, "hint", "quit")
    position = "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1"
    shown = run(capsys, "play", "chess", "--position", position, "--against", "human")
    hint = next(line for line in shown.splitlines() if "hint: " in line)
    assert hint.partition("hint: ")[2].startswith("Ra8#")
    game = zermelo.game("chess")
    written = line_text(game, game.initial(), ("e2e4", "d7d5", "e4d5"))
    assert written == "e4 d5 exd5"


def test_legal_moves_are_marked_in_othello_for_people(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    type_in(monkeypatch, "quit")
    assert run(capsys, "play", "othello?size=6", "--against", "human").count("+") == 4
    type_in(monkeypatch, "quit")
    assert "+" not in run(capsys, "play", "tictactoe", "--against", "human")
