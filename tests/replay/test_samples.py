"""Samples fit together, rows keep to the rules, and every rule is really checked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from make_samples import canonical, random_samples

import zermelo
from zermelo import _core
from zermelo.errors import UserError
from zermelo.games import game_names
from zermelo.games.native import native_game
from zermelo.replay import FULL, Samples, Schema, ShardError
from zermelo.replay.rules import check_rows

GAME = zermelo.game("connect4")


def changed(samples: Samples, **columns: Any) -> Samples:
    return Samples(**(samples.columns() | columns))


def with_value(samples: Samples, column: str, place: Any, value: Any) -> Samples:
    values = getattr(samples, column).copy()
    values[place] = value
    return changed(samples, **{column: values})


@pytest.mark.parametrize("name", [*game_names(), "chess?encoder=lc0", "chess?mirror=on"])
def test_samples_of_every_game_keep_to_the_rules(name: str) -> None:
    samples = random_samples(name, games=1, max_plies=30)
    check_rows(samples, Schema.of(zermelo.game(name)))


@pytest.mark.technique("T1")
@pytest.mark.parametrize("name", game_names())
def test_the_layout_is_that_of_the_packed_words(name: str) -> None:
    game: Any = zermelo.game(name)
    layout = Schema.of(game).layout
    assert layout.words == game.packed_words
    assert layout.shape == game.observation_shape


@pytest.mark.technique("T1")
def test_the_layout_of_chess_has_its_scales() -> None:
    layout = Schema.of(zermelo.game("chess")).layout
    assert layout.binary_planes == 14
    assert layout.scalar_scales == pytest.approx((1.0, 1.0, 0.01))


def test_equal_positions_under_a_symmetry_have_equal_words() -> None:
    left = GAME.play(GAME.initial(), 0)
    right = GAME.play(GAME.initial(), 6)
    assert canonical(GAME, left)[0].tolist() == canonical(GAME, right)[0].tolist()


@pytest.mark.parametrize("name", [*game_names(), "examples/my_game.py"])
def test_samples_of_the_core_keep_to_the_rules(name: str) -> None:
    game = zermelo.game(name)
    options = _core.SelfPlayOptions(
        games=8, simulations=8, max_plies=40, fast_samples=True, resign_threshold=-0.9
    )
    evaluator = _core.HashEvaluator(1)
    runner: Any = _core.make_selfplay(
        native_game(game), evaluator, _core.SearchOptions(), options, None
    )
    samples = Samples.from_columns(runner.play(200, 0.0, None))
    check_rows(samples, Schema.of(game))
    assert len(samples) >= 200
    assert 0 < ((samples.flags & FULL) != 0).mean() < 1


RULES = [
    ("policy_shares", 0, 7, r"row 0: the sum of policy_shares is \d+, not 65535"),
    ("policy_actions", 3, 7, "row 0: action 7 is not below 7"),
    ("policy_actions", 3, 2, "row 0: action 2 stands after 2, but actions ascend"),
    ("policy_actions", 3, 1, "row 0: action 1 stands after 2, but actions ascend"),
    ("results", 5, 2, "row 5: results is 2, not -1, 0 or 1"),
    ("results", 5, -128, "row 5: results is -128, not -1, 0 or 1"),
    ("values", 5, -32768, "row 5: values is -32768, not from -32767 up"),
    ("draws", 5, 65535, r"row 5: \|value\| \+ draw is 1\.\d+, not at most 1"),
    ("symmetries", 5, 0, "row 5: symmetries is 0, not from 1 to 8"),
    ("symmetries", 5, 9, "row 5: symmetries is 9, not from 1 to 8"),
    ("flags", 5, 33, "row 5: flags is 33, not made of 31"),
    ("iterations", 5, 4, "row 5: iterations is 4, not from 0 to 3"),
    ("observations", (5, 0), 1 << 42, "row 5: a binary plane has a bit off the board"),
]


@pytest.mark.parametrize(("column", "place", "value", "message"), RULES)
def test_a_row_that_breaks_a_rule_is_named(
    column: str, place: Any, value: int, message: str
) -> None:
    samples = random_samples(games=2, full_share=1.0)
    check_rows(samples, Schema.of(GAME), (0, 3))
    broken = with_value(samples, column, place, value)
    with pytest.raises(ShardError, match=message):
        check_rows(broken, Schema.of(GAME), (0, 3))


def test_a_share_without_policy_target_is_refused() -> None:
    samples = random_samples(games=2, full_share=0.0)
    check_rows(samples, Schema.of(GAME))
    with pytest.raises(ShardError, match="row 0: the sum of policy_shares is 65535, not 0"):
        check_rows(with_value(samples, "policy_shares", 2, 65535), Schema.of(GAME))


def test_a_row_without_legal_actions_is_refused() -> None:
    samples = random_samples(games=1, full_share=1.0)
    counts = samples.policy_counts.copy()
    counts[:2] = [0, counts[0] + counts[1]]
    with pytest.raises(ShardError, match="row 0: policy_counts is 0, not at least 1"):
        check_rows(changed(samples, policy_counts=counts), Schema.of(GAME))


def test_an_observation_that_is_not_finite_is_refused() -> None:
    game = zermelo.game("examples/my_game.py")
    samples = random_samples(game, games=1)
    check_rows(samples, Schema.of(game))
    for value in (np.nan, np.inf):
        broken = samples.observations.copy()
        broken.view(np.float32)[3, 1] = value
        with pytest.raises(ShardError, match="row 3: an observation is not finite"):
            check_rows(changed(samples, observations=broken), Schema.of(game))


def test_scalar_planes_end_where_the_layout_says() -> None:
    game = zermelo.game("chess")
    samples = random_samples("chess", games=1, max_plies=5)
    broken = with_value(samples, "observations", (2, 14), 1 << 24)
    with pytest.raises(ShardError, match="row 2: there is a byte behind the scalar planes"):
        check_rows(broken, Schema.of(game))


def test_samples_of_another_game_are_refused() -> None:
    with pytest.raises(ShardError, match="have 2 words, those of chess have 15"):
        check_rows(random_samples("connect4", games=1), Schema.of(zermelo.game("chess")))


def test_rounding_of_value_and_draw_is_allowed_for() -> None:
    samples = random_samples(games=1, full_share=1.0)
    values, draws = samples.values.copy(), samples.draws.copy()
    values[0], draws[0] = 16384, 32768  # 0.50002 + 0.50001
    check_rows(changed(samples, values=values, draws=draws), Schema.of(GAME))


def test_columns_must_fit_together() -> None:
    samples = random_samples(games=1)
    with pytest.raises(ShardError, match="column results has 3 samples"):
        changed(samples, results=samples.results[:3])
    with pytest.raises(ShardError, match="policy_counts sum to"):
        changed(samples, policy_counts=samples.policy_counts + np.uint16(1))
    with pytest.raises(ShardError, match="column values is int64"):
        changed(samples, values=samples.values.astype(np.int64))


def test_columns_are_taken_only_if_they_fit_their_types() -> None:
    columns = random_samples(games=1).columns()
    with pytest.raises(ShardError, match="column plies is missing"):
        Samples.from_columns({key: value for key, value in columns.items() if key != "plies"})
    with pytest.raises(ShardError, match="column plies has numbers that do not fit <u2"):
        Samples.from_columns(columns | {"plies": columns["plies"].astype(np.int64) + 70_000})


def test_actions_are_put_in_order_with_their_shares() -> None:
    samples = random_samples(games=3, full_share=1.0)
    columns = samples.columns()
    backwards = np.concatenate(
        [
            np.arange(start, start + count)[::-1]
            for start, count in zip(samples.starts(), samples.policy_counts, strict=True)
        ]
    )
    for name in ("policy_actions", "policy_shares"):
        columns[name] = columns[name][backwards]
    again = Samples.from_columns(columns)
    assert again.policy_actions.tolist() == samples.policy_actions.tolist()
    assert again.policy_shares.tolist() == samples.policy_shares.tolist()


def test_rows_are_taken_with_their_policies() -> None:
    samples = random_samples(games=3)
    rows = np.array([7, 0, 7, len(samples) - 1])
    taken = samples.take(rows)
    starts, new = samples.starts(), taken.starts()
    for place, row in enumerate(rows):
        count = samples.policy_counts[row]
        old_entries = slice(starts[row], starts[row] + count)
        new_entries = slice(new[place], new[place] + count)
        for name in ("policy_actions", "policy_shares"):
            before, after = getattr(samples, name), getattr(taken, name)
            assert after[new_entries].tolist() == before[old_entries].tolist()
        assert taken.observations[place].tolist() == samples.observations[row].tolist()
        assert taken.plies[place] == samples.plies[row]
    full = (samples.flags & FULL) != 0
    assert len(samples.take(full)) == full.sum()


def test_samples_are_put_together_in_order() -> None:
    one, other = random_samples(games=1, seed=1), random_samples(games=2, seed=2)
    both = Samples.concat([one, other])
    assert len(both) == len(one) + len(other)
    second = both.take(np.arange(len(one), len(both)))
    for name, column in other.columns().items():
        assert np.array_equal(getattr(second, name), column), name
    with pytest.raises(UserError, match="different games"):
        Samples.concat([one, random_samples("chess", games=1, max_plies=3)])
    with pytest.raises(UserError, match="no samples"):
        Samples.concat([])
