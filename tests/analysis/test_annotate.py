"""`zermelo annotate`: evaluations, marks and better lines in PGN that python-chess reads back."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import chess
import chess.pgn
import pytest
from outside_data import outside_data

import zermelo
from zermelo.analysis.annotate import AnnotateOptions, GameReview, annotate_games
from zermelo.analysis.engine import AnalysisEngine
from zermelo.cli import main
from zermelo.cli.annotate import whole
from zermelo.options import make_options
from zermelo.search import SearchOptions, UniformEvaluator
from zermelo.testing import HashEvaluator

FOOLS_MATE = '[White "A"]\n[Black "B"]\n[Result "0-1"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n'
COMMENTED = "1. e4 {best by test} e5 $1 (1... c5 2. Nf3 (2. c3)) 2. Nf3 Nc6 *\n"
Captured = pytest.CaptureFixture[str]


def games_of(text: str) -> list[chess.pgn.Game]:
    file = io.StringIO(text)
    return list(iter(lambda: chess.pgn.read_game(file), None))


def annotated(
    text: str, simulations: int = 300, evaluator: Any = None, **options: Any
) -> list[tuple[chess.pgn.Game, GameReview]]:
    """The games of `text` after annotation, written and read again, with their reviews."""
    settings = AnnotateOptions(simulations=simulations, **options)
    engine_options = SearchOptions(turn_discount=1.0)
    judge = evaluator or UniformEvaluator()
    with AnalysisEngine(zermelo.game("chess"), judge, engine_options, threads=2) as engine:
        found = list(annotate_games(games_of(text), engine, settings))
    return [(games_of(str(game))[0], review) for game, review in found]


def test_the_blunder_of_the_fools_mate_is_marked_and_the_mate_announced() -> None:
    ((game, review),) = annotated(FOOLS_MATE)
    nodes = list(game.mainline())
    marks = [node.nags for node in nodes]
    assert marks == [set(), set(), {chess.pgn.NAG_BLUNDER}, set()]
    score = nodes[2].eval()
    assert score is not None
    assert score.white().mate() == -1
    assert "[%eval #-1]" in nodes[2].comment
    line = nodes[1].variations[1]  # beside 2. g4
    assert line.move != nodes[2].move
    assert line.eval() is not None
    move = review.moves[2]
    assert (move.san, move.eval, move.mark) == ("g4", "#-1", "blunder")
    assert (move.drop, move.expected) == (0.5, 0.0)
    assert review.counts(True)["blunder"] == 1
    assert review.counts(False) == {
        "inaccuracy": 0,
        "mistake": 0,
        "blunder": 0,
        "moves": 2,
        "mean_drop": 0.0,
    }


def test_a_mate_that_was_played_counts_even_if_the_search_missed_it() -> None:
    ((_, review),) = annotated(FOOLS_MATE, simulations=1)
    assert [move.eval for move in review.moves] == ["+0.00", "+0.00", "#-1", ""]
    assert review.moves[3].best == "Qh4#"


def test_every_move_has_an_evaluation_after_a_round_trip_but_the_mating_one() -> None:
    for text, mates in ((FOOLS_MATE, True), (COMMENTED, False)):
        ((game, review),) = annotated(text, evaluator=HashEvaluator())
        nodes = list(game.mainline())
        assert [node.eval() is not None for node in nodes] == [True] * (len(nodes) - mates) + (
            [False] * mates
        )
        for node, move in zip(nodes[: len(nodes) - mates], review.moves, strict=False):
            score = node.eval()
            assert score is not None
            shown = score.white()
            assert move.eval == (
                f"#{shown.mate()}" if shown.is_mate() else f"{(shown.score() or 0) / 100:+.2f}"
            )


def test_a_better_line_is_no_longer_than_asked() -> None:
    for plies in (0, 1, 2):
        ((game, _),) = annotated(FOOLS_MATE, line_plies=plies)
        others = list(game.mainline())[1].variations[1:]  # beside 2. g4
        assert [len(list(line.mainline())) + 1 for line in others] == ([plies] if plies else [])
        assert not game.errors


def test_comments_marks_and_variations_that_were_there_stay() -> None:
    ((game, _),) = annotated(COMMENTED)
    first = game.variations[0]
    assert first.comment.startswith("best by test [%eval ")
    assert chess.pgn.NAG_GOOD_MOVE in first.variations[0].nags
    assert first.variations[1].san() == "c5"
    assert [node.san() for node in first.variations[1].variations] == ["Nf3", "c3"]


def test_annotating_again_changes_nothing() -> None:
    ((game, _),) = annotated(FOOLS_MATE)
    once = str(game)
    ((again, _),) = annotated(once)
    assert str(again) == once


def test_the_drop_decides_the_mark() -> None:
    options = AnnotateOptions(inaccuracy=0.1, mistake=0.2, blunder=0.3)
    drops = (0.0, 0.09, 0.1, 0.19, 0.2, 0.29, 0.3, 1.0)
    marks = [options.mark(drop) for drop in drops]
    assert marks == [None, None, *["inaccuracy"] * 2, *["mistake"] * 2, *["blunder"] * 2]
    ((game, _),) = annotated(FOOLS_MATE, inaccuracy=0.4, mistake=0.5, blunder=0.6)
    assert list(game.mainline())[2].nags == {chess.pgn.NAG_MISTAKE}
    with pytest.raises(ValueError, match="blunder"):
        make_options(AnnotateOptions, {"blunder": 2.0}, "annotate")


def test_playing_the_best_move_is_never_marked() -> None:
    ((game, review),) = annotated(FOOLS_MATE, inaccuracy=0.0)
    assert review.moves[3].best == "Qh4#"
    assert list(game.mainline())[3].nags == set()


def test_games_come_back_in_order_with_their_numbers() -> None:
    text = "\n".join([FOOLS_MATE, COMMENTED] * 6)
    reviews = [review for _, review in annotated(text, simulations=20)]
    assert [review.number for review in reviews] == list(range(1, 13))
    assert [len(review.moves) for review in reviews] == [4] * 12


def test_play_goes_on_after_a_draw_that_nobody_claimed() -> None:
    shuffle = "Nf3 Nf6 Ng1 Ng8 " * 2
    ((game, review),) = annotated(f"{shuffle} e4 e5 *", simulations=30)
    assert len(review.moves) == 10
    assert review.warnings == []
    assert all(node.eval() is not None for node in game.mainline())


def test_chess960_castles_where_the_king_stands_already() -> None:
    fen = "k7/pppp4/8/8/8/8/PPPP4/6KR w H - 0 1"
    text = f'[Variant "Chess960"]\n[SetUp "1"]\n[FEN "{fen}"]\n\n1. O-O d5 *\n'
    ((game, review),) = annotated(text, simulations=20)
    assert review.warnings == []
    assert [move.san for move in review.moves] == ["O-O", "d5"]
    assert all(node.eval() is not None for node in game.mainline())


def test_a_game_that_cannot_be_played_is_left_alone_with_the_reason() -> None:
    text = "\n".join(["1. e4 -- 2. d4 *\n", FOOLS_MATE])
    (null, first), (_, second) = annotated(text, simulations=50)
    assert first.moves == []
    assert "game 1 is left as it is" in first.warnings[0]
    assert [node.comment for node in null.mainline()] == ["", "", ""]
    assert len(second.moves) == 4


def run(capsys: Captured, *arguments: str) -> str:
    assert main(["annotate", *arguments]) == 0
    return capsys.readouterr().out


def test_the_command_prints_pgn_or_writes_a_file_and_reports(
    capsys: Captured, tmp_path: Path
) -> None:
    source, target = tmp_path / "in.pgn", tmp_path / "out.pgn"
    source.write_text(FOOLS_MATE)
    arguments = (str(source), "--evaluator", "uniform", "--simulations", "300")
    shown = run(capsys, *arguments)
    assert "[%eval #-1]" in shown
    assert "zermelo, uniform, 300 simulations" in shown
    source.write_bytes(b'\xef\xbb\xbf[White "J\xf6rg"]\n\n' + FOOLS_MATE.split("\n\n")[1].encode())
    summary = run(capsys, *arguments, "-o", str(target))
    assert "1 ??" in summary
    assert b'[White "J\xf6rg"]' in target.read_bytes()  # no UTF-8, and unchanged
    report = json.loads(run(capsys, *arguments, "-o", str(target), "--json"))
    (game,) = report["games"]
    assert [move["mark"] for move in game["moves"]] == [None, None, "blunder", None]
    assert (report["interrupted"], report["output"]) == (False, str(target))


@pytest.mark.parametrize(
    ("text", "arguments", "sentence"),
    [
        (None, ["--evaluator", "uniform"], "there is no file"),
        ("", ["--evaluator", "uniform"], "there is no game in"),
        ("1\0.\0 \0e\x004\0", ["--evaluator", "uniform"], "it is not text, or text in UTF-16"),
        (FOOLS_MATE, ["--evaluator", "guess"], "there is no evaluator 'guess'"),
        (FOOLS_MATE, ["--weights", "none.pb.gz"], "there is no network 'none.pb.gz'"),
        (FOOLS_MATE, ["--evaluator", "uniform", "--blunder", "7"], "blunder"),
        (FOOLS_MATE, ["--evaluator", "uniform", "-o", "no/such.pgn"], "there is no folder"),
        (FOOLS_MATE, ["--evaluator", "uniform", "-o", "in.pgn"], "is the input itself"),
        (
            FOOLS_MATE + '\n[Variant "Atomic"]\n\n1. e4 *\n',
            ["--evaluator", "uniform"],
            "game 2 is a game of Atomic",
        ),
        ('[Variant "Quidditch"]\n\n1. e4 *\n', ["--evaluator", "uniform"], "a game of Quidditch"),
    ],
)
def test_bad_input_is_one_sentence(
    capsys: Captured,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    text: str | None,
    arguments: list[str],
    sentence: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    if text is not None:
        Path("in.pgn").write_text(text)
    assert main(["annotate", "in.pgn", *arguments]) == 2
    shown = capsys.readouterr()
    assert sentence in shown.err
    assert shown.err.count("\n") == 1


def test_an_illegal_move_is_told_and_the_game_annotated_up_to_it(
    capsys: Captured, tmp_path: Path
) -> None:
    source = tmp_path / "in.pgn"
    source.write_text("1. e4 e5 2. Ke3 Nc6 *\n\n" + FOOLS_MATE)
    assert main(["annotate", str(source), "--evaluator", "uniform", "--simulations", "20"]) == 0
    shown = capsys.readouterr()
    assert "game 1: illegal san: 'Ke3'" in shown.err
    assert shown.out.count("[%eval") >= 5


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_ctrl_c_keeps_the_games_that_are_finished(tmp_path: Path) -> None:
    source, target = tmp_path / "in.pgn", tmp_path / "out.pgn"
    source.write_text((FOOLS_MATE + "\n") * 5000)
    command = [sys.executable, "-m", "zermelo", "annotate", str(source), "-o", str(target)]
    command += ["--evaluator", "uniform", "--simulations", "2000"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        while not target.exists() or target.stat().st_size < 2000:
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    games = games_of(target.read_text())
    assert 2 <= len(games) < 5000
    assert all(len(list(game.mainline())) == 4 for game in games)
    assert f"{len(games)} of 5000 games with annotations" in out


def interrupted(done: list[str]) -> None:
    with whole():
        signal.raise_signal(signal.SIGINT)
        done.append("the rest of the block")
    done.append("what follows")


def test_ctrl_c_waits_until_a_game_is_written_and_counted() -> None:
    done: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        interrupted(done)
    assert done == ["the rest of the block"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_who_does_not_hear_ctrl_c_is_not_interrupted() -> None:
    done: list[str] = []
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # as in the background of a script
    try:
        interrupted(done)
    finally:
        signal.signal(signal.SIGINT, before)
    assert done == ["the rest of the block", "what follows"]


def test_a_network_finds_the_blunder_and_a_sound_alternative(
    capsys: Captured, tmp_path: Path
) -> None:
    source = tmp_path / "in.pgn"
    source.write_text(FOOLS_MATE)
    weights = str(outside_data("nets/maia-1500.pb.gz"))
    shown = run(
        capsys, str(source), "--weights", weights, "--backend", "openvino", "--simulations", "50"
    )
    (game,) = games_of(shown)
    nodes = list(game.mainline())
    assert nodes[2].nags == {chess.pgn.NAG_BLUNDER}
    alternative = nodes[1].variations[1].eval()
    assert alternative is not None
    assert abs(alternative.white().score(mate_score=100_000)) < 200
