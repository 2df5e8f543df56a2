"""The window has the size it should have, the newest samples, and loads only what is new."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from make_samples import put_shard, random_samples

import zermelo
from zermelo.errors import UserError
from zermelo.options import make_options, option_table
from zermelo.replay import ReplayOptions, ReplayStore, Samples, Window, window_size
from zermelo.replay.window import held_out

GAME = zermelo.game("connect4")


def shard(directory: Path, iteration: int, number: int | None = None, games: int = 3) -> Samples:
    number = iteration if number is None else number
    samples = random_samples(games=games, seed=100 * iteration + number, iteration=iteration)
    put_shard(directory, samples, iteration=iteration, number=number)
    return samples


def new_window(directory: Path, **options: Any) -> Window:
    return Window(ReplayStore(directory, GAME), ReplayOptions(**{"holdout": 0.0} | options))


def assert_same(found: Samples, expected: Samples) -> None:
    for name, column in expected.columns().items():
        assert np.array_equal(getattr(found, name), column), name


@pytest.mark.technique("T6")
def test_the_window_grows_linearly_and_then_stays() -> None:
    options = ReplayOptions(window_start=5, window_max=30, window_growth=50)
    sizes = [window_size(iteration, options) for iteration in range(200)]
    assert sizes[0] == 5
    assert sizes[25] == 17
    assert sizes[50:] == [30] * 150
    assert set(np.diff(sizes[:51]).tolist()) == {0, 1}
    at_once = ReplayOptions(window_start=3, window_max=8, window_growth=0)
    assert window_size(0, at_once) == 8
    flat = ReplayOptions(window_start=8, window_max=8)
    assert {window_size(iteration, flat) for iteration in range(100)} == {8}


def test_a_window_that_would_shrink_is_refused() -> None:
    with pytest.raises(UserError, match=r"\[replay\]: window_start is 9, more than window_max"):
        make_options(ReplayOptions, {"window_start": 9, "window_max": 8}, "[replay]")


def test_every_option_has_a_sentence() -> None:
    for row in option_table(ReplayOptions):
        assert row["doc"].endswith("."), row["name"]


@pytest.mark.technique("T6")
def test_the_last_iterations_are_used(tmp_path: Path) -> None:
    made = [shard(tmp_path, iteration) for iteration in range(8)]
    window = new_window(tmp_path, window_start=3, window_max=3)
    window.update(6)
    assert_same(window.samples(), Samples.concat(made[4:7]))
    report = window.report()
    assert (report["oldest_iteration"], report["newest_iteration"]) == (4, 6)
    assert (report["shards"], report["samples"]) == (3, len(window))


@pytest.mark.technique("T6")
def test_the_window_grows_with_the_iterations(tmp_path: Path) -> None:
    for iteration in range(7):
        shard(tmp_path, iteration, games=1)
    window = new_window(tmp_path, window_start=1, window_max=3, window_growth=4)
    oldest = []
    for iteration in range(7):
        window.update(iteration)
        oldest.append(window.report()["oldest_iteration"])
    assert oldest == [0, 1, 1, 2, 2, 3, 4]


def test_shards_written_later_are_no_part_of_it(tmp_path: Path) -> None:
    window = new_window(tmp_path, window_start=2, window_max=2)
    first = shard(tmp_path, 0)
    shard(tmp_path, 1)
    window.update(0)
    assert_same(window.samples(), first)


@pytest.mark.technique("T7")
def test_the_newest_samples_stay_when_there_are_too_many(tmp_path: Path) -> None:
    made = [shard(tmp_path, iteration) for iteration in range(6)]
    everything = Samples.concat(made)
    for limit in (1, 30, len(made[-1]), len(made[-1]) + 1, len(everything), 10**9):
        window = new_window(tmp_path, max_samples=limit, window_start=6, window_max=6)
        window.update(5)
        rows = np.arange(len(everything))[-limit:]
        assert_same(window.samples(), everything.take(rows))


@pytest.mark.parametrize("limit", [60, 100, 10**6])
@pytest.mark.parametrize("growth", [2, 9])
def test_an_updated_window_equals_a_new_one(limit: int, growth: int, tmp_path: Path) -> None:
    settings = {"window_start": 2, "window_max": 6, "window_growth": growth, "max_samples": limit}
    window = new_window(tmp_path, **settings)
    for iteration in range(9):
        for number in range(2):
            shard(tmp_path, iteration, 2 * iteration + number, games=1)
        window.update(iteration)
        fresh = new_window(tmp_path, **settings)
        fresh.update(iteration)
        assert_same(window.samples(), fresh.samples())
        assert window.report() == fresh.report()


def test_only_new_shards_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    window = new_window(tmp_path, window_start=3, window_max=3, max_samples=250)
    read: list[int] = []
    original = ReplayStore.read_whole

    def spy(store: ReplayStore, stored: Any) -> Any:
        read.append(stored.header.iteration)
        return original(store, stored)

    monkeypatch.setattr(ReplayStore, "read_whole", spy)
    for iteration in range(10):
        shard(tmp_path, iteration)
        window.update(iteration)
    assert read == list(range(10))


def test_a_shard_that_comes_late_is_added(tmp_path: Path) -> None:
    window = new_window(tmp_path, window_start=2, window_max=2)
    shard(tmp_path, 0, 1)
    window.update(0)
    shard(tmp_path, 0, 0)
    shard(tmp_path, 1, 2)
    window.update(1)
    assert window.report()["shards"] == 3
    for iteration in range(2, 4):
        shard(tmp_path, iteration)
        window.update(iteration)
    assert window.report()["oldest_iteration"] == 2


def test_a_damaged_shard_is_left_out_and_older_ones_take_its_place(tmp_path: Path) -> None:
    made = [shard(tmp_path, iteration) for iteration in range(4)]
    limit = len(made[3]) + len(made[2])
    path = tmp_path / "it000002-w00-000002.zshard"
    data = bytearray(path.read_bytes())
    data[-100] ^= 1
    path.write_bytes(data)
    window = new_window(tmp_path, max_samples=limit)
    window.update(3)
    rest = Samples.concat([made[0], made[1], made[3]])
    assert sorted(window.samples().games.tolist()) == sorted(
        rest.take(np.arange(len(rest))[-limit:]).games.tolist()
    )
    assert window.report()["damaged"] == 1
    assert (tmp_path / "damaged" / path.name).exists()


def test_what_was_handed_out_never_changes(tmp_path: Path) -> None:
    window = new_window(tmp_path, window_start=2, window_max=2)
    shard(tmp_path, 0)
    window.update(0)
    merged = window.merged()
    before = {name: column.copy() for name, column in merged.source.columns().items()}
    for iteration in range(1, 12):
        shard(tmp_path, iteration)
        window.update(iteration)
    for name, column in before.items():
        assert np.array_equal(getattr(merged.source, name), column), name


def test_whole_games_are_kept_out_of_training(tmp_path: Path) -> None:
    for iteration in range(4):
        shard(tmp_path, iteration, games=60)
    window = new_window(tmp_path, holdout=0.1, deduplicate=False)
    window.update(3)
    training, kept = window.merged(), window.holdout()
    assert len(training) + len(kept) == len(window)
    assert window.report()["held_out"] == len(kept)

    def games(rows: np.ndarray) -> set[tuple[int, int]]:
        source = window.samples()
        return set(zip(source.iterations[rows].tolist(), source.games[rows].tolist(), strict=True))

    assert not games(training.rows) & games(kept.rows)
    assert 8 <= len(games(kept.rows)) <= 45  # of 240
    assert not np.isin(kept.rows, training.rows).any()


def test_the_share_kept_out_is_about_what_was_asked_for() -> None:
    games = np.arange(20_000, dtype=np.uint32)
    found = held_out("it000001-w00-000001.zshard", games, 0.02)
    assert 0.015 < found.mean() < 0.025
    other = held_out("it000001-w00-000002.zshard", games, 0.02)
    assert (found & other).sum() < 50  # another shard, other games
    assert not held_out("x", games, 0.0).any()


def test_the_report_counts_what_was_merged(tmp_path: Path) -> None:
    for iteration in range(3):
        shard(tmp_path, iteration, games=10)
    window = new_window(tmp_path)
    window.update(2)
    merged = window.merged()
    report = window.report()
    assert report["merged"] == len(merged) < report["samples"]
    assert report["duplicates"] == pytest.approx(1 - len(merged) / len(window))
    assert report["bytes"] >= window.samples().nbytes


def test_an_empty_window_has_no_samples(tmp_path: Path) -> None:
    window = new_window(tmp_path, holdout=0.1)
    window.update(3)
    assert len(window) == len(window.merged()) == len(window.holdout()) == 0
    assert window.report()["oldest_iteration"] is None


def test_progress_is_told(tmp_path: Path) -> None:
    for iteration in range(3):
        shard(tmp_path, iteration)
    told: list[tuple[int, int]] = []
    new_window(tmp_path).update(2, lambda done, total: told.append((done, total)))
    assert told == [(1, 3), (2, 3), (3, 3)]
