"""Samples remember what was played, and a shard its whole games; older shards are still read."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from make_samples import random_samples

import zermelo
from zermelo import _core
from zermelo.cli.entry import main
from zermelo.games import game_names
from zermelo.games.native import native_game
from zermelo.games.protocol import Outcome, value_for
from zermelo.games.symmetries import image_action
from zermelo.replay import (
    ADJUDICATED,
    PROVEN,
    RESIGNED,
    BatchSampler,
    GameRecords,
    ReplayOptions,
    ReplayStore,
    Samples,
    Schema,
    Shard,
    ShardError,
    ShardHeader,
    Window,
    games,
    merge,
    read_shard,
    shard_path,
    write_shard,
)
from zermelo.replay.canonical import canonical
from zermelo.replay.records import DRAWN, RECORD_COLUMNS
from zermelo.replay.rules import check_records, check_rows
from zermelo.replay.samples import COLUMNS, NO_ACTION
from zermelo.replay.whole_games import RecordedGame, states_along

OLD = Path(__file__).parents[1] / "data" / "made_by_902049b" / "run" / "replay"
WAYS: dict[str, dict[str, Any]] = {
    "to the end": {},
    "resigned": {"resign_threshold": -0.3, "resign_plies": 1},
    "cut off": {"max_plies": 6},
    "proven": {"end_when_proven": True, "simulations": 60},
    "openings": {"opening_share": 1.0, "opening_plies": 4},
}


def test_a_record_with_an_illegal_action_has_no_texts() -> None:
    record = RecordedGame(0, (0, 0), Outcome.DRAW, 0, np.zeros(0, np.int64))
    with pytest.raises(ShardError, match="action 0 at ply 1 is not legal"):
        record.texts(zermelo.game("tictactoe"))


def play(game: Any, count: int = 150, **options: Any) -> dict[str, Any]:
    chosen = {"games": 8, "simulations": 8, "max_plies": 60, "fast_samples": False} | options
    runner: Any = _core.make_selfplay(
        native_game(game),
        _core.HashEvaluator(1),
        _core.SearchOptions(),
        _core.SelfPlayOptions(**chosen),
        None,
    )
    return dict(runner.play(count, 0.0, None))


def stored(directory: Path, game: Any, columns: dict[str, Any]) -> Shard:
    """Written and read again."""
    samples, records = Samples.from_columns(columns), GameRecords.from_columns(columns)
    header = ShardHeader.of(game, samples, records=records)
    path = shard_path(directory, 0, 0, 0)
    write_shard(path, samples, header, records)
    return read_shard(path, game)


def check_games(game: Any, shard: Shard, finished: int) -> None:
    """Every recorded game can be played again and is the one that its samples are of."""
    samples, found = shard.samples, games(shard)
    assert len(found) == finished == shard.header.records
    assert sum(len(one.rows) for one in found) == len(samples)
    for one in found:
        states = list(one.states(game))
        assert len(states) == len(one.actions) + 1 == len(one.texts(game)) + 1
        ended = game.outcome(states[-1])
        if one.flags & (RESIGNED | ADJUDICATED | PROVEN):
            assert ended is None
        else:
            assert ended == one.outcome
        for row in one.rows:
            state = states[samples.plies[row]]
            image = canonical(game, state)
            assert np.array_equal(image.words, samples.observations[row])
            assert samples.results[row] == value_for(one.outcome, game.player(state))
            if samples.plies[row] == len(one.actions):
                assert samples.played[row] == NO_ACTION
            else:
                action = one.actions[samples.plies[row]]
                assert samples.played[row] == image_action(game, action, image.symmetry)


@pytest.mark.technique("T1")
@pytest.mark.parametrize("name", [*game_names(), "examples/my_game.py"])
def test_the_games_of_a_shard_are_those_that_its_samples_are_of(name: str, tmp_path: Path) -> None:
    game = zermelo.game(name)
    columns = play(game)
    check_games(game, stored(tmp_path, game, columns), columns["statistics"]["games"])


@pytest.mark.parametrize("way", WAYS)
def test_a_record_says_how_its_game_ended(way: str, tmp_path: Path) -> None:
    game = zermelo.game("connect4")
    columns = play(game, 400, **WAYS[way])
    shard = stored(tmp_path, game, columns)
    statistics = columns["statistics"]
    check_games(game, shard, statistics["games"])
    flags = np.array([one.flags for one in games(shard)])
    for flag, counted in ((RESIGNED, "resigned"), (ADJUDICATED, "adjudicated")):
        assert ((flags & flag) != 0).sum() == statistics[counted]
    assert ((flags & PROVEN) != 0).sum() == statistics["proven_ends"]
    assert (shard.records.game_outcomes == DRAWN).sum() == statistics["draws"]
    if way == "openings":
        assert shard.samples.plies.min() > 0  # the record has plies that no sample has
    elif way != "to the end":
        assert flags.any()


def test_games_under_way_keep_their_moves_when_they_are_saved(tmp_path: Path) -> None:
    game = zermelo.game("connect4")
    options = _core.SelfPlayOptions(games=4, simulations=8, fast_samples=True)

    def runner() -> Any:
        evaluator, search = _core.HashEvaluator(1), _core.SearchOptions()
        return _core.make_selfplay(native_game(game), evaluator, search, options, None)

    first = runner()
    first.play(30, 0.0, None)
    first.drop_trees()
    saved = first.save()
    again = runner()
    again.load(saved)
    columns, others = first.play(100, 0.0, None), again.play(100, 0.0, None)
    for name in (*COLUMNS, *RECORD_COLUMNS):
        assert np.array_equal(columns[name], others[name]), name
    check_games(game, stored(tmp_path, game, others), others["statistics"]["games"])


def test_the_tables_of_columns_in_both_languages_are_one() -> None:
    columns = play(zermelo.game("connect4"), 20)
    columns.pop("statistics")
    declared = COLUMNS | RECORD_COLUMNS
    assert list(columns) == list(declared)
    for name, column in columns.items():
        assert column.dtype == np.dtype(declared[name].dtype), name
        assert column.ndim == 1 + declared[name].wide, name


# --- version 1 ------------------------------------------------------------------------------------


def test_a_shard_of_version_1_is_read_without_moves() -> None:
    for path in sorted(OLD.glob("*.zshard")):
        shard = read_shard(path)
        assert shard.header.version == 1
        assert len(shard.samples) == shard.header.samples > 0
        assert (shard.samples.played == NO_ACTION).all()
        assert games(shard) == []


def test_a_shard_of_version_1_comes_back_byte_for_byte(tmp_path: Path) -> None:
    path = min(OLD.glob("*.zshard"))
    shard = read_shard(path)
    write_shard(tmp_path / path.name, shard.samples, shard.header)
    assert (tmp_path / path.name).read_bytes() == path.read_bytes()


def test_a_window_of_both_versions_is_merged_and_drawn_from_as_one(tmp_path: Path) -> None:
    game = zermelo.game("connect4")
    parts = [random_samples(game, games=4, seed=seed, iteration=seed) for seed in (0, 1)]
    for directory, versions in ((tmp_path / "mixed", (1, 2)), (tmp_path / "new", (2, 2))):
        for number, (samples, version) in enumerate(zip(parts, versions, strict=True)):
            header = ShardHeader.of(game, samples, number=number)
            path = shard_path(directory, number, 0, number)
            write_shard(path, samples, dataclasses.replace(header, version=version))
    windows = []
    for directory in (tmp_path / "mixed", tmp_path / "new"):
        window = Window(ReplayStore(directory, game), ReplayOptions(holdout=0.0))
        window.update(1)
        windows.append(window.samples())
    mixed, new = windows
    assert len(mixed) == sum(map(len, parts))
    assert (mixed.played[: len(parts[0])] == NO_ACTION).all()
    assert np.array_equal(mixed.played[len(parts[0]) :], parts[1].played)
    batches = [
        BatchSampler(merge(samples), game, 16).take(np.arange(16), np.random.default_rng(0))
        for samples in (mixed, new)
    ]
    for name, value in vars(batches[0]).items():
        assert np.array_equal(value, getattr(batches[1], name)), name


# --- what is refused ------------------------------------------------------------------------------


def test_a_move_that_the_row_does_not_have_is_refused() -> None:
    game = zermelo.game("connect4")
    samples = random_samples(game, games=1)
    played = samples.played.copy()
    played[3] = 7
    with pytest.raises(ShardError, match="row 3: played is 7, not one of its legal actions"):
        check_rows(Samples(**samples.columns() | {"played": played}), Schema.of(game))


LIES: list[tuple[str, int, str]] = [
    ("game_outcomes", 0, "record 0: game_outcomes is 0, not 1, 2 or 3"),
    ("game_outcomes", 4, "record 0: game_outcomes is 4, not 1, 2 or 3"),
    ("game_flags", 1, "record 0: game_flags is 1, not made of 30"),
    ("game_actions", 9, "move 0: game_actions is 9, not below 7"),
    ("games", 10_000, r"row 0: games is 10000, not below \d+"),
    ("plies", 10_000, "row 0: plies is 10000, not within its game"),
]


@pytest.mark.parametrize(("column", "value", "message"), LIES)
def test_a_record_that_breaks_a_rule_is_named(column: str, value: int, message: str) -> None:
    game = zermelo.game("connect4")
    columns = play(game, 60)
    columns[column] = columns[column].copy()
    columns[column][0] = value
    with pytest.raises(ShardError, match=message):
        check_records(
            GameRecords.from_columns(columns), Samples.from_columns(columns), Schema.of(game)
        )


def test_a_result_that_is_not_that_of_the_recorded_game_is_refused() -> None:
    game = zermelo.game("connect4")
    columns = play(game, 60)
    columns["results"] = np.zeros_like(columns["results"])
    with pytest.raises(ShardError, match="results is 0, not how its game ended"):
        check_records(
            GameRecords.from_columns(columns), Samples.from_columns(columns), Schema.of(game)
        )


def test_records_fit_together() -> None:
    columns = play(zermelo.game("connect4"), 20)
    with pytest.raises(ShardError, match=r"game_lengths sum to \d+, but there are \d+ moves"):
        GameRecords.from_columns(columns | {"game_actions": columns["game_actions"][1:]})
    with pytest.raises(ShardError, match=r"column game_flags has \d+ records, not \d+"):
        GameRecords.from_columns(columns | {"game_flags": columns["game_flags"][1:]})
    assert len(GameRecords.none()) == 0 == len(GameRecords.none().actions())


def test_moves_that_cannot_be_played_end_in_one_sentence() -> None:
    game = zermelo.game("connect4")
    with pytest.raises(ShardError, match="action 0 at ply 6 is not legal"):
        list(states_along(game, [0] * 8))
    with pytest.raises(ShardError, match="action 6 at ply 7 is not legal"):
        list(states_along(game, [0, 1, 0, 1, 0, 1, 0, 6]))


# --- shown ----------------------------------------------------------------------------------------


def test_inspect_shows_whole_games_move_by_move(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    game = zermelo.game("tictactoe")
    shard = stored(tmp_path, game, play(game, 30, max_plies=5))
    path = next(tmp_path.glob("*.zshard"))
    assert main(["replay", "inspect", str(path), "--games", "2"]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  game ")]
    assert len(lines) == 2
    for line, one in zip(lines, games(shard), strict=False):
        assert line.endswith(": " + " ".join(one.texts(game)))
    assert main(["replay", "inspect", str(min(OLD.glob("*.zshard"))), "--games", "2"]) == 0
    assert "no games: it has no records of whole games" in capsys.readouterr().out
