"""Pretraining: games, positions, runs and teachers become shards; training goes on from them."""

from __future__ import annotations

import errno
import io
import itertools
import json
import pkgutil
import random
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from native_games import native
from typer.testing import CliRunner

import zermelo
from zermelo import _core
from zermelo.checkpoint import CheckpointStore
from zermelo.cli import main
from zermelo.cli import pretrain as command
from zermelo.config import RunConfig
from zermelo.doctor.diagnose import diagnose
from zermelo.doctor.replay import Rediscovery
from zermelo.errors import UserError
from zermelo.loop.cycle import run_loop
from zermelo.loop.stop import Stop
from zermelo.loop.view import PlainView
from zermelo.players.perfect import PerfectPlayer
from zermelo.pretrain.files import labelled_file
from zermelo.pretrain.pretrain import Pretraining, fill, pretrain, samples_of_run, source_samples
from zermelo.pretrain.samples import Label, quantised, samples_of
from zermelo.pretrain.teachers import connect4_distance, teacher_labels, with_limit
from zermelo.replay import (
    ADJUDICATED,
    FULL,
    ReplayStore,
    Samples,
    Schema,
    ShardHeader,
    read_shard,
    shard_path,
    write_shard,
)
from zermelo.replay.canonical import canonical
from zermelo.replay.rules import check_rows
from zermelo.runs.describe import describe
from zermelo.runs.directory import Run
from zermelo.train import read_metrics

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


def new_run(path: Path, game: str, **sections: dict[str, Any]) -> Run:
    tables: dict[str, dict[str, Any]] = {
        "game": {"name": game},
        "network": {"blocks": 1, "filters": 16, "policy_filters": 8, "value_filters": 8},
        "selfplay": {"workers": 1, "simulations": 8, "games": 8, "backend": "openvino",
                     "precision": "f32"},
        "train": {"batch": 32, "threads": 1, "learning_rate": 0.01},
        "loop": {"samples_per_iteration": 50, "iterations": 3},
    }  # fmt: skip
    for section, table in sections.items():
        tables[section] = {**tables.get(section, {}), **table}
    return Run.create(path, RunConfig.from_tables(tables))


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


# --- runs -----------------------------------------------------------------------------------------


def test_training_goes_on_from_pretraining(tmp_path: Path) -> None:
    run = new_run(tmp_path / "run", "tictactoe", train={"batch": 16})
    found = pretrain(run, Pretraining("teacher:perfect", samples=600, epochs=30))
    assert found["samples"] == 600
    assert found["train"]["training"]["policy_kl"] < 0.6  # a uniform policy has about 0.9
    assert CheckpointStore(run.checkpoints).list() == [1]
    summary = run_loop(run, Stop(), PlainView(io.StringIO()))
    assert summary["iteration"] == 3
    shards = ReplayStore(run.replay, run.config.game()).shards()
    assert {shard.header.iteration for shard in shards} == {0, 1, 2}
    with pytest.raises(UserError, match="has trained already"):
        pretrain(run, Pretraining("teacher:perfect", samples=10))


def test_a_teachers_values_count_whatever_the_ramp_of_the_run(tmp_path: Path) -> None:
    run = new_run(tmp_path / "run", "tictactoe", train={"value_blend": 0.4})
    assert run.config.train.value_blend_ramp > 0
    found = pretrain(run, Pretraining("teacher:perfect", samples=50))
    assert found["train"]["value_blend"] == 0.4
    assert Run.open(run.path).config.train == run.config.train  # which keeps its ramp


def test_pretraining_waits_for_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zermelo.files.PAUSE", 0.0)
    told: list[str] = []

    def full_at_first(write: Callable[..., Any]) -> Callable[..., Any]:
        times = iter([True, True])

        def attempt(*given: Any, **named: Any) -> Any:
            if next(times, False):
                raise UserError("cannot") from OSError(errno.ENOSPC, "full")
            return write(*given, **named)

        return attempt

    for place, name in (
        ("zermelo.pretrain.pretrain", "write_shard"),
        ("zermelo.checkpoint.CheckpointStore", "save"),
        ("zermelo.train.MetricsWriter", "write"),
    ):
        write = getattr(pkgutil.resolve_name(place), name)
        monkeypatch.setattr(f"{place}.{name}", full_at_first(write))
    run = new_run(tmp_path / "run", "tictactoe")
    pretrain(run, Pretraining("teacher:perfect", samples=50), lambda what, *_: told.append(what))
    assert told.count(f"waiting for space on the disk of '{run.path}'") == 6
    assert CheckpointStore(run.checkpoints).list() == [1]
    assert [entry["iteration"] for entry in read_metrics(run.metrics)] == [1]


def test_the_shards_of_another_run_are_used_again(tmp_path: Path) -> None:
    first = new_run(tmp_path / "first", "tictactoe")
    pretrain(first, Pretraining("teacher:perfect", samples=120))
    second = new_run(tmp_path / "second", "tictactoe")
    found = pretrain(second, Pretraining(str(first.path), samples=100))
    assert found["samples"] == 100
    other = zermelo.game("connect4")
    with pytest.raises(UserError, match="is a run of tictactoe, not of connect4"):
        list(samples_of_run(other, first.path, None, print))


def test_the_newest_samples_of_another_run_stay_the_newest(tmp_path: Path) -> None:
    game = zermelo.game("tictactoe")
    other = new_run(tmp_path / "other", "tictactoe")
    for iteration, number in ((0, 0), (1, 1), (2, 2), (3, 3)):  # told apart by their plies
        label = Label(game.initial(), {4: 1.0}, 0, ply=iteration)
        samples = samples_of(game, [[label]] * 10)
        header = ShardHeader.of(Schema.of(game), samples, iteration=iteration, number=number)
        write_shard(shard_path(other.replay, iteration, 0, number), samples, header)
    broken = shard_path(other.replay, 2, 0, 2)
    broken.write_bytes(broken.read_bytes()[:-1])
    run = new_run(tmp_path / "run", "tictactoe")
    found = pretrain(run, Pretraining(str(other.path), samples=15))
    shards = ReplayStore(run.replay, game).shards()  # oldest first
    plies = [read_shard(shard.path).samples.plies.tolist() for shard in shards]
    assert plies == [[1] * 5, [3] * 10]
    assert broken.exists()
    assert [str(broken) in sentence for sentence in found["damaged"]] == [True]
    assert found["damaged"][0] in run.log_file.read_text()


@pytest.mark.parametrize(("wanted", "count"), [(10, 9), (9, 9), (8, 6), (12, 12), (99, 12)])
def test_samples_are_cut_at_whole_positions(wanted: int, count: int, tmp_path: Path) -> None:
    path = tmp_path / "positions.epd"
    # Four positions of unknown result, three samples each.
    rooks = ("R5K1", "1R4K1", "2R3K1", "3R2K1")
    path.write_text("".join(f"6k1/5ppp/8/8/8/8/5PPP/{rook} w - - bm Kf1;\n" for rook in rooks))
    run = new_run(tmp_path / "run", "chess")
    found = fill(run, Pretraining(str(path), samples=wanted), lambda *_: None, print)
    assert found == (count, 1)
    [shard] = run.replay.glob("*.zshard")
    assert read_shard(shard).samples.results.tolist() == [-1, 0, 1] * (count // 3)
    again = samples_of_run(run.config.game(), run.path, 5, print)
    assert [samples.results.tolist() for samples in again] == [[-1, 0, 1]]


def test_a_run_that_has_trained_is_not_changed_by_a_refused_pretraining(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = new_run(tmp_path / "run", "tictactoe")
    run.unlock()
    (run.checkpoints / "000001").mkdir(parents=True)
    files = [run.path / "run.toml", run.log_file]
    before = [file.read_bytes() for file in files]
    teach = ["--from", "teacher:perfect", "--samples", "64", "--set", "train.batch=48"]
    for words in (["tictactoe", "--run", str(run.path)], [str(run.path)]):
        assert main(["pretrain", *words, *teach]) == 2
        assert "has trained already" in capsys.readouterr().err
        assert [file.read_bytes() for file in files] == before


def test_a_pretraining_that_was_stopped_begins_anew(tmp_path: Path) -> None:
    run = new_run(tmp_path / "run", "tictactoe")
    pretrain(run, Pretraining("teacher:perfect", samples=50))
    shutil.rmtree(run.checkpoints)  # as if it had been stopped before
    with pytest.raises(UserError, match=r"pretraining of .* was stopped"):
        run_loop(run, Stop(), PlainView(io.StringIO()))
    assert not list(run.checkpoints.glob("0*"))
    found = pretrain(run, Pretraining("teacher:perfect", samples=60))
    shards = sorted(run.replay.glob("*.zshard"))
    assert sum(len(read_shard(path).samples) for path in shards) == found["samples"] == 60


def test_the_same_seed_gives_the_same_samples() -> None:
    game = zermelo.game("tictactoe")

    def first(seed: int) -> Samples:
        asked = Pretraining("teacher:perfect", samples=40, seed=seed)
        return next(source_samples(game, asked, 40, print))

    assert np.array_equal(first(1).observations, first(1).observations)
    assert not np.array_equal(first(1).observations, first(2).observations)


def test_a_source_without_anything_to_learn_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    path.write_text('[Result "*"]\n\n1. e4 *\n')
    run = new_run(tmp_path / "run", "chess")
    with pytest.raises(UserError, match="has nothing to learn chess from"):
        pretrain(run, Pretraining(str(path)))
    with pytest.raises(UserError, match="there is no file"):
        pretrain(run, Pretraining(str(tmp_path / "missing.pgn")))


@pytest.mark.parametrize("source", ["missing.pgn", "empty.pgn", "teacher:nobody", "teacher:human"])
def test_a_pretraining_that_fails_leaves_no_run_behind(
    source: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty.pgn").write_text('[Result "*"]\n\n1. e4 *\n')
    place = str(tmp_path / source) if source.endswith(".pgn") else source
    words = ["pretrain", "chess", "--from", place, "--run", str(tmp_path / "new")]
    assert main([*words, "--set", "evaluate.every=0"]) == 2
    told, *sentences = capsys.readouterr().err.splitlines()
    assert told == "settings of preset chess"
    assert len(sentences) == 1
    assert not (tmp_path / "new").exists()
    kept = new_run(tmp_path / "kept", "chess")
    kept.unlock()
    assert main([*words[:-1], str(kept.path)]) == 2  # it was there before
    assert (kept.path / "run.toml").exists()


@pytest.mark.parametrize("error", [KeyboardInterrupt, UserError("broken off")])
def test_a_pretraining_that_has_samples_keeps_its_run(
    error: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object) -> None:
        raise error

    monkeypatch.setattr("zermelo.pretrain.pretrain.learn", failing)
    place = tmp_path / "run"
    words = ["pretrain", "tictactoe", "--from", "teacher:perfect", "--samples", "64"]
    other = threading.Event()
    thread = threading.Thread(target=other.wait)  # a caller's threads: we must not end its process
    thread.start()
    try:
        assert main([*words, "--run", str(place)]) != 0
    finally:
        other.set()
        thread.join()
    assert (place / "run.toml").exists()
    assert list((place / "replay").glob("*.zshard"))


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError("a fault of ours")])
def test_what_ends_it_before_the_first_samples_leaves_no_run_behind(
    error: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise error

    monkeypatch.setattr("zermelo.pretrain.pretrain.fill", interrupted)
    words = ["tictactoe", "--from", "teacher:perfect", "--run", str(tmp_path / "run")]
    app = typer.Typer()
    command.add_to(app)
    CliRunner().invoke(app, words)
    assert not (tmp_path / "run").exists()


def test_the_canonical_image_is_the_smallest() -> None:
    game = zermelo.game("tictactoe")
    corners = [game.play(game.initial(), action) for action in (0, 2, 6, 8)]
    assert len({canonical(game, state).key for state in corners}) == 1
    assert all(canonical(game, state).symmetries == 8 for state in corners)


def test_the_command_makes_a_run_and_prints_json(tmp_path: Path) -> None:
    app = typer.Typer()
    command.add_to(app)
    words = ["tictactoe", "--from", "teacher:perfect", "--samples", "64", "--json"]
    words += ["--run", str(tmp_path / "run"), "--set", "network.filters=8", "--set", "blocks=1"]
    answer = CliRunner().invoke(app, words, catch_exceptions=False)
    found = json.loads(answer.stdout)
    assert (answer.exit_code, found["samples"]) == (0, 64)
    assert Path(found["checkpoint"]).is_dir()
    assert describe(tmp_path / "run")["samples"] == 64
    unsure = diagnose(tmp_path / "run", deep=False)
    assert {finding.sentence for finding in unsure} == {
        "the run is only pretrained, no iteration is finished yet"
    }
    again = Run.open(tmp_path / "run")
    again.lock()  # it was given back
    again.unlock()
