"""Shards with a right checksum and impossible content are refused, whoever wrote them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_whole_games import WAYS, play

import zermelo
from zermelo.replay import (
    GameRecords,
    ReplayStore,
    Samples,
    ShardError,
    ShardHeader,
    read_header,
    read_shard,
    shard_path,
    write_shard,
)

Columns = dict[str, Any]


def written(directory: Path, game: Any, columns: Columns, **statistics: Any) -> Path:
    samples, records = Samples.from_columns(columns), GameRecords.from_columns(columns)
    header = ShardHeader.of(game, samples, records=records, statistics=statistics)
    path = shard_path(directory, 0, 0, 0)
    write_shard(path, samples, header, records)
    return path


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["tictactoe", "connect4", "chess", "othello?size=6"])
def test_games_that_were_played_are_possible(name: str, way: str, tmp_path: Path) -> None:
    game = zermelo.game(name)
    read_shard(written(tmp_path, game, play(game, **WAYS[way])), game)


def test_rows_may_stand_in_any_order(tmp_path: Path) -> None:
    game = zermelo.game("connect4")
    columns = play(game)
    samples = Samples.from_columns(columns)
    mixed = samples.take(np.random.default_rng(0).permutation(len(samples)))
    read_shard(written(tmp_path, game, columns | mixed.columns()), game)


def illegal_move(columns: Columns) -> None:
    columns["game_actions"][1] = 71  # e7e5 becomes a move of nobody
    columns["played"][:] = 65535


def other_board(columns: Columns) -> None:
    columns["observations"][3, 0] ^= np.uint64(1 << 9)


def other_length(columns: Columns) -> None:
    columns["plies_left"][2] = 65535


def other_result(columns: Columns) -> None:
    row = int(np.flatnonzero(columns["results"])[0])
    columns["results"][row] *= -1


def other_policy(columns: Columns) -> None:
    columns["policy_actions"][0] -= 1
    columns["played"][:] = 65535


def other_symmetries(columns: Columns) -> None:
    columns["symmetries"][0] = 7


def other_ending(columns: Columns) -> None:
    columns["game_flags"][0] ^= 4
    columns["flags"][columns["games"] == 0] ^= 4


WRONG: tuple[Callable[[Columns], None], ...] = (
    illegal_move, other_board, other_length, other_result, other_policy, other_symmetries,
    other_ending,
)  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG)
def test_impossible_games_are_refused(wrong: Callable[[Columns], None], tmp_path: Path) -> None:
    game = zermelo.game("chess")
    columns = play(game, max_plies=200)
    wrong(columns)
    path = written(tmp_path, game, columns)
    read_header(path)  # sealed and whole
    with pytest.raises(ShardError, match="cannot have been"):
        read_shard(path, game)


def test_an_impossible_shard_is_set_aside_with_its_reason(tmp_path: Path) -> None:
    game = zermelo.game("connect4")
    columns = play(game)
    other_length(columns)
    written(tmp_path, game, columns)
    store = ReplayStore(tmp_path, game)
    (shard,) = store.shards()
    assert store.read(shard) is None
    assert "not so far from the end" in store.damage[0].reason
    assert store.shards() == []


@pytest.mark.parametrize(
    "statistics",
    [
        {"games": "many"},
        {"games": 1.5},
        {"games": -1},
        {"simulations": None},
        {"simulations": [1]},
        {"seconds": 10**30},
        {"resign_threshold": "low"},
        {"audit": 3},
        {"audit": [[0.5]]},
        {"audit": [["x", 1]]},
        {"audit": [[0.5, 2]]},
        {"source": 3},
        {"first_game": 0, "games": 3},
    ],
)
def test_odd_statistics_are_refused_where_the_header_is_read(
    statistics: Columns, tmp_path: Path
) -> None:
    game = zermelo.game("tictactoe")
    path = written(tmp_path, game, play(game), **statistics)
    with pytest.raises(ShardError, match="its header"):
        read_header(path)
    store = ReplayStore(tmp_path, game)
    assert store.shards() == []
    assert (tmp_path / "damaged" / path.name).exists()
