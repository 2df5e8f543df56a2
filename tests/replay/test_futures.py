"""T15: what became of a position, derived from the shard's whole games."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zermelo
from zermelo import _core
from zermelo.games.native import native_game
from zermelo.games.symmetries import image_action
from zermelo.replay import (
    BatchSampler,
    GameRecords,
    ReplayOptions,
    ReplayStore,
    Samples,
    Shard,
    ShardHeader,
    Window,
    games,
    merge,
    read_shard,
    shard_path,
    write_shard,
)
from zermelo.replay.canonical import canonical
from zermelo.replay.futures import HORIZONS, Futures, futures_of
from zermelo.replay.samples import DRAW_SCALE, FULL, VALUE_SCALE, WHOLE_SHARE

OLD = Path(__file__).parents[1] / "data" / "made_by_902049b" / "run" / "replay"


def shard(directory: Path, game: Any, **options: Any) -> Shard:
    chosen = {
        "games": 4, "simulations": 8, "max_plies": 80, "fast_samples": True, "seed": 5,
        "full_search_probability": 0.5,
    } | options  # fmt: skip
    runner: Any = _core.make_selfplay(
        native_game(game),
        _core.HashEvaluator(1),
        _core.SearchOptions(),
        _core.SelfPlayOptions(**chosen),
        None,
    )
    columns = dict(runner.play(120, 0.0, None))
    samples, records = Samples.from_columns(columns), GameRecords.from_columns(columns)
    path = shard_path(directory, 0, 0, 0)
    write_shard(path, samples, ShardHeader.of(game, samples, records=records), records)
    return read_shard(path, game)


def policy(samples: Samples, row: int) -> dict[int, int]:
    """Shares by action, in the sample's own frame."""
    start, count = samples.starts()[row], samples.policy_counts[row]
    entries = slice(start, start + count)
    found = zip(samples.policy_actions[entries], samples.policy_shares[entries], strict=True)
    return {int(action): int(share) for action, share in found}


@pytest.mark.technique("T15")
@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize("name", ["connect4", "checkers", "othello?size=6", "examples/my_game.py"])
def test_futures_are_those_of_the_games_played_through(
    name: str, fast: bool, tmp_path: Path
) -> None:
    game: Any = zermelo.game(name)
    whole = shard(tmp_path, game, fast_samples=fast)
    samples = whole.samples
    found = futures_of(game, whole)
    merged = merge(samples, deduplicate=False, futures=found)
    sampler = BatchSampler(merged, game, 10**6, symmetries=False)
    batch = sampler.take(np.arange(len(samples)), np.random.default_rng(0)).futures
    assert batch is not None
    seen = {"reply": 0, "none": 0, "later": 0, "ended": 0}
    for record in games(whole):
        states = list(record.states(game))
        rows = {int(samples.plies[row]): int(row) for row in record.rows}
        for ply, row in rows.items():
            mover = game.player(states[ply])
            after = rows.get(ply + 1)
            answers = (
                after is not None
                and samples.flags[after] & FULL
                and game.player(states[ply + 1]) != mover
            )
            assert batch.reply_weight[row] == bool(answers)
            seen["reply" if answers else "none"] += 1
            if answers:
                assert after is not None
                own, others = (canonical(game, states[p]).symmetry for p in (ply, ply + 1))
                shares = policy(samples, after)
                expected = {
                    image_action(game, action, own): shares[image_action(game, action, others)]
                    for action in game.legal_actions(states[ply + 1])
                }
                legal = batch.reply_shares[row] >= 0
                learnt = dict(
                    zip(
                        batch.reply_actions[row][legal].tolist(),
                        np.rint(batch.reply_shares[row][legal] * WHOLE_SHARE).astype(int).tolist(),
                        strict=True,
                    )
                )
                assert learnt == expected
            for index, horizon in enumerate(HORIZONS):
                later = [p for p in rows if p >= ply + horizon]
                if samples.plies_left[row] <= horizon or not later:
                    result = int(samples.results[row])
                    wanted = [result == 1, result == 0, result == -1]
                    seen["ended"] += 1
                else:
                    first = rows[min(later)]
                    value = samples.values[first] / VALUE_SCALE
                    value *= 1 if game.player(states[min(later)]) == mover else -1
                    draw = samples.draws[first] / DRAW_SCALE
                    wanted = [(1 - draw + value) / 2, draw, (1 - draw - value) / 2]
                    seen["later"] += 1
                np.testing.assert_allclose(batch.wdl[row, index], wanted, atol=1e-4)
                assert batch.known[row, index] == 1
    assert all(seen.values()), seen


@pytest.mark.technique("T15")
def test_a_shown_symmetry_turns_the_reply_with_the_board(tmp_path: Path) -> None:
    game: Any = zermelo.game("othello?size=6")
    whole = shard(tmp_path, game)
    merged = merge(whole.samples, deduplicate=False, futures=futures_of(game, whole))
    rows = np.arange(len(whole.samples))
    plain = BatchSampler(merged, game, 10**6, symmetries=False)
    turned = BatchSampler(merged, game, 10**6).take(rows, np.random.default_rng(3))
    before = plain.take(rows, np.random.default_rng(3))
    assert turned.futures is not None and before.futures is not None
    moved = 0
    for row in rows[before.futures.reply_weight > 0]:
        legal = before.shares[row] >= 0
        # The symmetry is the one that takes the row's own actions to those that are shown.
        fitting = [
            symmetry
            for symmetry in range(8)
            if [image_action(game, int(a), symmetry) for a in before.actions[row][legal]]
            == turned.actions[row][legal].tolist()
        ]
        known = before.futures.reply_shares[row] >= 0
        replies = before.futures.reply_actions[row][known]
        shown = turned.futures.reply_actions[row][known].tolist()
        assert any(
            [image_action(game, int(a), symmetry) for a in replies] == shown for symmetry in fitting
        )
        moved += shown != replies.tolist()
    assert moved > 10


@pytest.mark.technique("T15")
def test_samples_without_recorded_games_have_no_future(tmp_path: Path) -> None:
    path = next(iter(sorted(OLD.glob("*.zshard"))))
    old = read_shard(path)
    assert not len(old.records)
    game: Any = zermelo.game(old.header.schema.game)
    found = futures_of(game, old)
    merged = merge(old.samples, futures=found)
    assert merged.futures is not None
    assert not merged.futures.known.any() and (merged.futures.rows == -1).all()
    batch = BatchSampler(merged, game, 32).take(np.arange(32), np.random.default_rng(0)).futures
    assert batch is not None and not batch.reply_weight.any() and not batch.known.any()
    window = Window(ReplayStore(OLD, game), ReplayOptions(holdout=0.0), game)
    window.update(old.header.iteration)
    assert window.merged().futures is not None


@pytest.mark.technique("T15")
def test_equal_positions_share_what_is_known() -> None:
    nan = np.nan
    wdl = np.array([[1, 0, 0] + [nan] * 6, [0, 1, 0] + [nan] * 6, [nan] * 9], np.float32)
    futures = Futures(np.array([1, 0, 0], np.int32), np.zeros(3, np.uint8), wdl)
    merged = futures.merged(np.array([0, 1, 2]), np.array([0, 2]))
    assert merged.rows.tolist() == [0, -1]
    assert merged.known.tolist() == [[1, 0, 0], [0, 0, 0]]
    assert merged.wdl[0, 0].tolist() == [0.5, 0.5, 0.0]


@pytest.mark.technique("T15")
def test_a_window_that_drops_rows_keeps_futures_with_them(tmp_path: Path) -> None:
    game: Any = zermelo.game("connect4")
    whole = shard(tmp_path, game)
    everything = futures_of(game, whole)
    kept = len(whole.samples) // 2
    options = ReplayOptions(holdout=0.0, deduplicate=False, max_samples=kept)
    window = Window(ReplayStore(tmp_path, game), options, game)
    window.update(0)
    futures = window.merged().futures
    assert futures is not None
    np.testing.assert_array_equal(futures.source.reply, everything.reply[-kept:])
    np.testing.assert_array_equal(futures.source.wdl, everything.wdl[-kept:])
    assert (futures.rows >= 0).any()
