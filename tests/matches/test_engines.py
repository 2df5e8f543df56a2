"""External engines: a match goes on whatever they do, and says what they did."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import zermelo
from zermelo.errors import UserError
from zermelo.matches.adjudicate import AdjudicateOptions
from zermelo.matches.match import MatchOptions, play_match
from zermelo.players import player
from zermelo.players.protocol import PlayerError
from zermelo.players.uci_player import GAMES_FOLDERS, UciPlayer

ENGINE = Path(__file__).with_name("bad_engine.py")
CHESS = zermelo.game("chess")
STOCKFISH = shutil.which("stockfish") or shutil.which("stockfish", path=":".join(GAMES_FOLDERS))


IMPATIENT = {
    "silent": "start=1",
    "stalls": "seconds=0.05&grace=0.1&stall=1",
    "is late": "seconds=0.05&grace=0.3",
}


def engine(manner: str, settings: str = "") -> str:
    settings = settings or IMPATIENT.get(manner, "seconds=0.05&grace=10")
    return f"uci:{sys.executable} {ENGINE} {manner}?{settings}"


@pytest.mark.parametrize(
    ("manner", "kind"),
    [
        ("exits", "no start"),
        ("silent", "no start"),
        ("floods uci", "flood"),
        ("crashes", "crash"),
        ("crashes between moves", "crash"),
        ("stalls", "stall"),
        ("floods", "flood"),
        ("floods without an end of line", "flood"),
        ("is late", "time loss"),
        ("plays an illegal move", "illegal move"),
        ("plays nonsense", "illegal move"),
        ("plays nothing", "illegal move"),
        ("plays a null move", "illegal move"),
    ],
)
def test_each_failure_has_its_own_label_and_the_match_goes_on(manner: str, kind: str) -> None:
    options = MatchOptions(games=2, adjudication=AdjudicateOptions(max_plies=20))
    result = play_match([engine(manner), "random"], "chess", options)
    assert [record.reason for record in result.records] == [kind, kind]
    assert result.failures[result.names[0]] == {kind: 2}
    assert result.failures[result.names[1]] == {}
    assert result.split.total.losses == 2  # once as White and once as Black


def test_an_engine_that_behaves_plays_whole_games() -> None:
    options = MatchOptions(games=2, adjudication=AdjudicateOptions(max_plies=16))
    result = play_match([engine("behaves"), "random"], "chess", options)
    assert {record.reason for record in result.records} <= {"rules", "too long"}
    noted = result.records[0].notes[0::2]
    assert set(noted) == {"+0.25/3"}


def test_a_failed_engine_is_started_again_for_the_next_game() -> None:
    chooser = player(engine("crashes between moves"), CHESS)
    assert isinstance(chooser, UciPlayer)
    state = CHESS.initial()
    for _ in range(2):
        chooser.start_game()
        action = chooser.choose(CHESS, state)
        after = CHESS.play(state, action)
        after = CHESS.play(after, CHESS.legal_actions(after)[0])
        with pytest.raises(PlayerError, match="crash"):
            chooser.choose(CHESS, after)
    chooser.close()


def test_a_move_that_our_rules_do_not_know_is_an_illegal_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object) -> int:
        raise UserError("no such move")

    monkeypatch.setattr("zermelo.players.uci_player.parse_action", refuse)
    chooser = player(engine("behaves"), CHESS)
    assert isinstance(chooser, UciPlayer)
    with pytest.raises(PlayerError, match="illegal move: no such move"):
        chooser.choose(CHESS, CHESS.initial())
    assert chooser._engine is None


def test_the_engine_is_told_all_moves_since_it_was_first_asked() -> None:
    chooser = player(engine("behaves"), CHESS)
    assert isinstance(chooser, UciPlayer)
    state = CHESS.initial()
    chooser.start_game()
    for _ in range(3):
        state = CHESS.play(state, chooser.choose(CHESS, state))
        state = CHESS.play(state, CHESS.legal_actions(state)[0])
    assert chooser._board is not None
    assert len(chooser._board.move_stack) == 5
    chooser.start_game()
    chooser.choose(CHESS, CHESS.initial())
    assert len(chooser._board.move_stack) == 1
    chooser.close()


def test_an_engine_does_not_keep_a_program_from_ending() -> None:
    script = (
        "import sys, zermelo\n"
        "from zermelo.players import player\n"
        "game = zermelo.game('chess')\n"
        "player(sys.argv[1], game).choose(game, game.initial())\n"
    )
    command = [sys.executable, "-c", script, engine("behaves")]
    assert subprocess.run(command, timeout=120, check=False).returncode == 0


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        (engine("behaves", "UCI_Eloo=900"), "has no option 'UCI_Eloo'; did you mean 'UCI_Elo'"),
        (engine("behaves", "UCI_Elo=9"), "'UCI_Elo' to be at least 500"),
        (engine("behaves", "UCI_Elo=much"), "expected integer for spin option 'UCI_Elo'"),
        (engine("behaves", "seconds=0"), "seconds must be above 0"),
        (engine("behaves", "seconds=inf"), "seconds must be above 0, not inf"),
        (engine("behaves", "text=1"), "has no option 'text'"),
        (engine("behaves", "nodes=few"), "nodes must be a whole number"),
        ("uci:no-such-engine", "there is no program 'no-such-engine'"),
        ("uci:", "which engine"),
    ],
)
def test_a_mistake_in_an_engines_text_ends_the_match_with_a_sentence(
    spec: str, sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence):
        play_match([spec, "random"], "chess", MatchOptions(games=2))


def test_an_option_with_a_blank_in_its_name_is_written_with_an_underscore() -> None:
    chooser = player(engine("behaves", "Move_Overhead=7"), CHESS)
    assert isinstance(chooser, UciPlayer)
    chooser.prepare(CHESS)
    assert chooser._engine is not None
    assert chooser._engine.config["Move Overhead"] == 7
    chooser.close()


def test_engines_play_chess_only() -> None:
    with pytest.raises(ValueError, match="UCI engines play chess, not connect4"):
        player(engine("behaves"), zermelo.game("connect4"))


@pytest.mark.skipif(STOCKFISH is None, reason="stockfish is not installed")
def test_stockfish_at_a_set_elo_beats_a_random_player_by_mate() -> None:
    strong = "uci:stockfish?UCI_Elo=1500&seconds=0.02&grace=30"
    result = play_match([strong, "random"], "chess", MatchOptions(games=2))
    assert result.split.total.wins == 2
    assert {record.reason for record in result.records} == {"rules"}
    made = player(strong, CHESS)
    assert isinstance(made, UciPlayer)
    made.prepare(CHESS)
    assert made._engine is not None
    assert made._engine.config["UCI_LimitStrength"] is True
    made.close()
