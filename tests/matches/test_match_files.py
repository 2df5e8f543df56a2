"""The directory of a match: taken up after a kill, refused to others, kept as PGN."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import chess.pgn
import pytest

from zermelo.matches.adjudicate import AdjudicateOptions
from zermelo.matches.game_record import Failure, GameRecord, pgn_text
from zermelo.matches.match import MatchOptions, MatchResult, play_match
from zermelo.matches.openings import Opening
from zermelo.matches.tournament import play_tournament
from zermelo.statistics.sprt import Sprt

PLAYERS = ["rollout?simulations=40", "rollout?simulations=10"]
FORTY = MatchOptions(games=40, seed=3)


SCRIPT = """
import sys
from pathlib import Path
from zermelo.matches.match import MatchOptions, play_match
play_match(sys.argv[2:], "connect4", MatchOptions(40, seed=3, concurrency=2, out=Path(sys.argv[1])))
"""


def test_a_match_killed_and_taken_up_again_ends_with_the_same_files(tmp_path: Path) -> None:
    slow = ["rollout?simulations=300", "rollout?simulations=100"]
    whole = replace(FORTY, out=tmp_path / "whole")
    play_match(slow, "connect4", whole)
    killed = tmp_path / "killed"
    process = subprocess.Popen([sys.executable, "-c", SCRIPT, str(killed), *slow])
    games = killed / "games.jsonl"
    deadline = time.monotonic() + 120
    while not games.exists() or games.read_bytes().count(b"\n") < 5:
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.005)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    lines = games.read_bytes().splitlines(keepends=True)
    assert 5 <= len(lines) < 40
    games.write_bytes(b"".join(lines)[:-20])  # the kill came in the middle of a line
    taken_up = play_match(slow, "connect4", replace(FORTY, out=killed))
    assert len(taken_up.records) == 40
    for name in ("games.jsonl", "result.json", "match.json"):
        assert (killed / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_more_processes_do_not_change_the_result(tmp_path: Path) -> None:
    one, two = (
        play_match(PLAYERS, "connect4", replace(FORTY, concurrency=c, out=tmp_path / str(c)))
        for c in (1, 2)
    )
    assert one.records == two.records
    assert (tmp_path / "1" / "games.jsonl").read_bytes() == (
        tmp_path / "2" / "games.jsonl"
    ).read_bytes()


def test_a_finished_match_is_read_and_a_longer_one_plays_on(tmp_path: Path) -> None:
    short = replace(FORTY, games=4, out=tmp_path)
    first = play_match(PLAYERS, "connect4", short)
    stamp = (tmp_path / "timing.jsonl").read_bytes()
    assert play_match(PLAYERS, "connect4", short).records == first.records
    assert (tmp_path / "timing.jsonl").read_bytes() == stamp  # nothing was played
    longer = play_match(PLAYERS, "connect4", replace(short, games=8))
    assert longer.records[:4] == first.records
    assert len(longer.records) == 8


def test_finished_games_are_not_lost_to_a_shorter_match(tmp_path: Path) -> None:
    options = MatchOptions(games=6, out=tmp_path)
    play_match(["random", "random"], "connect4", options)
    before = (tmp_path / "games.jsonl").read_bytes()
    with pytest.raises(ValueError, match=r"holds 6 finished games.*at least 6 in all"):
        play_match(["random", "random"], "connect4", replace(options, games=4))
    with pytest.raises(ValueError, match=r"holds another match \(different: sprt\)"):
        play_match(["random", "random"], "connect4", replace(options, sprt=Sprt(0, 200)))
    three = ["random", "random?seed=1", "random?seed=2"]
    play_tournament(three, "connect4", replace(options, out=tmp_path / "three"))
    with pytest.raises(ValueError, match=r"holds 18 finished games.*at least 6 of each pairing"):
        play_tournament(three, "connect4", replace(options, games=4, out=tmp_path / "three"))
    assert (tmp_path / "games.jsonl").read_bytes() == before


def test_another_match_in_the_same_directory_is_refused(tmp_path: Path) -> None:
    options = MatchOptions(games=2, out=tmp_path)
    play_match(["random", "random"], "connect4", options)
    with pytest.raises(ValueError, match=r"holds another match \(different: seed\)"):
        play_match(["random", "random"], "connect4", replace(options, seed=9))
    with pytest.raises(ValueError, match=r"different: game, players\)"):
        play_match(["random", "minimax"], "hex", options)


def test_a_match_does_not_go_on_under_changed_rules(tmp_path: Path) -> None:
    example = Path(__file__).parents[2] / "examples" / "my_game.py"
    rules = tmp_path / "my_game.py"
    rules.write_text(example.read_text())
    options = MatchOptions(games=2, out=tmp_path / "match")
    played = play_match(["random", "random"], str(rules), options)
    assert play_match(["random", "random"], str(rules), options).records == played.records
    rules.write_text(example.read_text() + "# another rule\n")
    with pytest.raises(ValueError, match=r"another match \(different: rules\)"):
        play_match(["random", "random"], str(rules), options)


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    options = MatchOptions(games=2, out=tmp_path)
    play_match(["random", "random"], "connect4", options)
    games = tmp_path / "games.jsonl"
    games.write_text("nonsense\n" + games.read_text())
    with pytest.raises(ValueError, match=r"games\.jsonl line 1: it is damaged"):
        play_match(["random", "random"], "connect4", options)


def test_a_directory_belongs_to_one_process(tmp_path: Path) -> None:
    seen: list[MatchResult] = []

    def progress(result: MatchResult) -> None:
        if not seen:
            seen.append(result)
            with pytest.raises(ValueError, match="another process is playing the match"):
                play_match(["random", "random"], "connect4", options)

    options = MatchOptions(games=2, out=tmp_path)
    play_match(["random", "random"], "connect4", options, progress)
    assert seen


def test_chess_is_kept_as_pgn_with_comments(tmp_path: Path) -> None:
    options = MatchOptions(games=2, out=tmp_path, adjudication=AdjudicateOptions(max_plies=12))
    players = ["rollout?simulations=4", "random"]
    result = play_match(players, "chess", options)
    with (tmp_path / "games.pgn").open() as file:
        read = [chess.pgn.read_game(file), chess.pgn.read_game(file)]
    for game, played in zip(read, result.records, strict=True):
        assert game is not None and not game.errors
        assert game.headers["White"] == played.names[0]
        assert game.headers["Result"] == played.result
        assert game.headers["Termination"] == played.reason
        moves = [move.uci() for move in game.mainline_moves()]
        assert moves == [*played.opening.actions, *played.actions]
        comments = [node.comment for node in game.mainline()]
        assert comments == [""] * len(played.opening.actions) + list(played.notes)


def test_a_pgn_says_who_failed_and_where_a_game_began() -> None:
    fen = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"
    failure = Failure(1, "crash", "exit code 3")
    played = GameRecord(
        0, 0, (0, 1), ("A", "B"), Opening(fen), ("e2e4",), ("+0.1/5",), "1-0", "crash", failure
    )
    text = pgn_text(played, "test")
    assert f'[FEN "{fen}"]' in text
    assert "B: crash (exit code 3)" in text
    assert GameRecord.from_json(played.to_json()) == played
