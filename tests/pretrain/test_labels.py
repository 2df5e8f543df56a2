"""Games, positions and teachers become labelled positions, and these become samples."""

from __future__ import annotations

import itertools
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from native_games import native

import zermelo
from zermelo import _core
from zermelo.doctor.replay import Rediscovery
from zermelo.errors import UserError
from zermelo.players.perfect import PerfectPlayer
from zermelo.pretrain.files import labelled_file
from zermelo.pretrain.samples import Label, quantised, samples_of
from zermelo.pretrain.teachers import connect4_distance, teacher_labels, with_limit
from zermelo.replay import (
    ADJUDICATED,
    FULL,
    Samples,
    Schema,
)
from zermelo.replay.rules import check_rows

STOCKFISH = Path("/usr/games/stockfish")
MY_GAME = str(Path(__file__).resolve().parents[2] / "examples" / "my_game.py")
FOOLS_MATE = """[White "A"]
[Black "B"]
[Result "0-1"]

1. f3 e5 2. g4 Qh4# 0-1

[White "A"]
[Black "B"]
[Result "*"]

1. e4 *
"""


def policy_of(samples: Samples, row: int) -> dict[int, int]:
    start = samples.starts()[row]
    entries = slice(start, start + samples.policy_counts[row])
    actions, shares = samples.policy_actions[entries], samples.policy_shares[entries]
    return {int(a): int(s) for a, s in zip(actions, shares, strict=True) if s}


# --- samples --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["connect4", "tictactoe", MY_GAME])
def test_positions_are_packed_as_self_play_packs_them(name: str) -> None:
    game = zermelo.game(name)
    native: Any = game if name != MY_GAME else _core.PyGame(game)
    options = _core.SelfPlayOptions(games=4, simulations=8, full_search_probability=1.0)
    runner = _core.make_selfplay(
        native, _core.UniformEvaluator(), _core.SearchOptions(), options, None
    )
    samples = Samples.from_columns(runner.play(60))
    rows = np.flatnonzero(samples.games == 0)
    found = dict(Rediscovery(game, samples).states(rows))
    assert sorted(found) == rows.tolist()
    made = samples_of(game, [[Label(found[row], {}, 0) for row in rows.tolist()]])
    assert np.array_equal(made.observations, samples.observations[rows])
    assert np.array_equal(made.policy_counts, samples.policy_counts[rows])
    assert np.array_equal(made.symmetries, samples.symmetries[rows])


def test_mirror_images_become_the_same_sample() -> None:
    game = zermelo.game("connect4")
    left, right = (game.play(game.initial(), column) for column in (0, 6))
    one, other = (
        samples_of(game, [[Label(state, {action: 1.0}, 1)]])
        for state, action in ((left, 1), (right, 5))
    )
    assert np.array_equal(one.observations, other.observations)
    assert policy_of(one, 0) == policy_of(other, 0)


def test_shares_sum_to_the_whole() -> None:
    chance = random.Random(1)
    for count in range(1, 40):
        shares = [chance.random() for _ in range(count)]
        assert sum(quantised(shares)) == 65535
    assert quantised([0.0, 0.0]) == [0, 0]


def test_an_unknown_result_teaches_that_nothing_is_known() -> None:
    game = zermelo.game("tictactoe")
    samples = samples_of(game, [[Label(game.initial(), {4: 1.0}, None)]])
    assert samples.results.tolist() == [-1, 0, 1]
    assert samples.plies_left.tolist() == [0, 0, 0]  # of which a network learns nothing
    check_rows(samples, Schema.of(game))


# --- files ----------------------------------------------------------------------------------------


def test_a_pgn_gives_the_played_moves_and_the_result_for_the_mover(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    path.write_text(FOOLS_MATE)
    game = native("chess")
    games = list(labelled_file(game, path))
    assert len(games) == 1  # the other has no result
    samples = samples_of(game, games)
    check_rows(samples, Schema.of(game))
    assert samples.results.tolist() == [-1, 1, -1, 1]
    assert samples.plies_left.tolist() == [4, 3, 2, 1]
    last = games[0][3]
    assert [game.action_text(last.state, action) for action in last.policy] == ["d8h4"]


def test_an_illegal_move_of_a_pgn_is_refused_by_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    path.write_text(FOOLS_MATE + '\n[Result "1-0"]\n\n1. e4 e5 2. Ke3 1-0\n')
    with pytest.raises(UserError, match=r"games\.pgn line 1[0-9]: .*Ke3"):
        list(labelled_file(zermelo.game("chess"), path))


def test_a_wrong_pgn_is_told_by_us_alone(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "games.pgn"
    path.write_text('[Result "1-0"]\n\n1. e4 e5 2. Ke3 1-0\n')
    with pytest.raises(UserError, match="Ke3"):
        list(labelled_file(zermelo.game("chess"), path))
    assert caplog.records == []


def test_games_of_other_variants_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "GAMES.PGN"
    game = '[Variant "{}"]\n[Result "1-0"]\n\n1. {} 1-0\n\n'
    moves = (("Atomic", "Nf3 e5 2. Nxe5"), ("Nonsense", "e9"), ("Standard", "e4"))
    path.write_text("".join(game.format(*each) for each in moves))
    assert [len(labels) for labels in labelled_file(zermelo.game("chess"), path)] == [1]


def test_match_games_are_read_and_their_openings_are_not_learned(tmp_path: Path) -> None:
    record = {
        "game": 0, "pair": 0, "players": [0, 1], "first": "a", "second": "b", "result": "1-0",
        "reason": "rules", "failure": None, "plies": 7,
        "opening": {"position": "", "actions": ["1"]},
        "actions": ["2", "1", "2", "1", "2", "1"], "notes": [""] * 6,
    }  # fmt: skip
    path = tmp_path / "games.jsonl"
    path.write_text(json.dumps(record) + "\n\n" + json.dumps(record | {"result": "?"}) + "\n")
    games = labelled_file(zermelo.game("connect4"), path)
    labels = next(games)
    assert [label.result for label in labels] == [-1, 1] * 3
    assert [label.ply for label in labels] == [1, 2, 3, 4, 5, 6]
    with pytest.raises(UserError, match=r"games\.jsonl line 3: this is no game"):
        next(games)


MATCH_GAME: dict[str, Any] = {
    "game": 0, "pair": 0, "players": [0, 1], "first": "a", "second": "b", "result": "1-0",
    "reason": "rules", "failure": None, "plies": 7, "opening": {"position": "", "actions": []},
    "actions": ["1", "2", "1", "2", "1", "2", "1"], "notes": [""] * 7,
}  # fmt: skip


def match_file(folder: Path, **changes: Any) -> Path:
    path = folder / "games.jsonl"
    path.write_text(json.dumps(MATCH_GAME | changes) + "\n")
    return path


def test_games_in_which_a_player_failed_are_passed_over(tmp_path: Path) -> None:
    path = match_file(tmp_path, result="0-1", reason="crash", failure=[0, "crash", ""])
    assert list(labelled_file(zermelo.game("connect4"), path)) == []
    path = tmp_path / "games.pgn"
    path.write_text('[Result "0-1"]\n[Termination "time loss"]\n\n1. e4 0-1\n')
    assert list(labelled_file(zermelo.game("chess"), path)) == []


@pytest.mark.parametrize(
    "changes", [{"result": "0-1"}, {"actions": ["1", "2", "1"], "notes": [""] * 3}]
)
def test_a_game_that_ends_by_other_rules_is_refused(
    changes: dict[str, Any], tmp_path: Path
) -> None:
    path = match_file(tmp_path, **changes)
    with pytest.raises(UserError, match=r"line 1: this is no game: by the rules of connect4"):
        list(labelled_file(zermelo.game("connect4"), path))


def test_games_that_were_cut_off_are_marked(tmp_path: Path) -> None:
    game = zermelo.game("connect4")
    flags = {}
    for reason, actions in (("rules", 7), ("too long", 3)):
        moves = MATCH_GAME["actions"][:actions]
        path = match_file(tmp_path, reason=reason, actions=moves, notes=[""] * actions)
        flags[reason] = set(samples_of(game, labelled_file(game, path)).flags.tolist())
    assert flags == {"rules": {FULL}, "too long": {FULL | ADJUDICATED}}


def test_a_taught_game_that_is_cut_off_is_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zermelo.pretrain.teachers.LONGEST", 3)
    game = zermelo.game("hex?size=7")  # too large for a win so soon
    labels = next(teacher_labels(game, "random", 1))
    assert [label.adjudicated for label in labels] == [True] * 3
    monkeypatch.setattr("zermelo.pretrain.teachers.LONGEST", 240)
    assert not any(label.adjudicated for label in next(teacher_labels(game, "random", 1)))


def test_epd_gives_its_best_moves_and_mates_a_value(tmp_path: Path) -> None:
    path = tmp_path / "positions.epd"
    path.write_text(
        "2rr3k/pp3pp1/1nnqbN1p/3pN3/2pP4/2P3Q1/PPB4P/R4RK1 w - - bm Qg6;\n"
        "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - bm Ra8#; dm 1;\n"
        "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - dm 3;\n"
        "6k1/5ppp/8/8/8/8/5PPP/R5K1 b - - bm #-2;\n"
    )
    game = native("chess")
    best, mate, slow, mated = (labels[0] for labels in labelled_file(game, path))
    assert [label.plies_left for label in (best, mate, slow, mated)] == [None, 1, 5, 4]
    assert [game.action_text(best.state, action) for action in best.policy] == ["g3g6"]
    assert best.result is None
    assert mate.result == 1
    assert [game.action_text(mate.state, action) for action in mate.policy] == ["a1a8"]


def test_exact_scores_give_values_for_connect_four(tmp_path: Path) -> None:
    path = tmp_path / "scores.txt"
    path.write_text("32164625 11\n6146 18\n32751571231557 -3\n")
    labels = [found[0] for found in labelled_file(zermelo.game("connect4"), path)]
    assert [label.result for label in labels] == [1, 1, -1]
    assert [label.plies_left for label in labels] == [13, 3, 24]
    with pytest.raises(UserError, match="positions of connect4, not of tictactoe"):
        list(labelled_file(zermelo.game("tictactoe"), path))
    path.write_text("6146 21\n")
    with pytest.raises(UserError, match="position 1: it cannot have the score 21"):
        list(labelled_file(zermelo.game("connect4"), path))


# --- teachers -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["tictactoe", "connect4"])
def test_the_perfect_teacher_is_right_about_result_moves_and_distance(name: str) -> None:
    game = zermelo.game(name)
    player = PerfectPlayer(game)
    for labels in itertools.islice(teacher_labels(game, "perfect", 3), 12):
        label = labels[0]
        state, plies = label.state, 0
        assert player.choose(game, state) in label.policy
        while game.outcome(state) is None:
            state, plies = game.play(state, player.choose(game, state)), plies + 1
        mover = game.player(label.state)
        outcome = game.outcome(state)
        won = (outcome == _core.Outcome.FIRST_WINS) - (outcome == _core.Outcome.SECOND_WINS)
        assert label.result == (won if mover == 0 else -won)
        assert label.plies_left == plies


def test_the_distance_of_a_score_is_to_the_winners_last_stone() -> None:
    assert connect4_distance(0, 1) == 41
    assert connect4_distance(1, -1) == 40
    assert connect4_distance(10, 0) == 32


def test_a_taught_game_counts_the_plies_of_its_opening() -> None:
    game = native("tictactoe")
    for labels in itertools.islice(teacher_labels(game, "random", 1), 12):
        assert [label.ply for label in labels] == [game.ply(label.state) for label in labels]


@pytest.mark.skipif(not STOCKFISH.exists(), reason="Stockfish is not installed")
def test_an_engine_teaches_by_playing() -> None:
    game = zermelo.game("chess")
    teacher = f"uci:{STOCKFISH}?nodes=20"
    games: Any = teacher_labels(game, teacher, 1)
    labels = next(games)
    games.close()
    samples = samples_of(game, [labels])
    check_rows(samples, Schema.of(game))
    assert len(samples) == len(labels) > 5
    assert any(label.value not in (None, 0.0) for label in labels)
    assert with_limit("uci:x") == "uci:x?nodes=2000"
