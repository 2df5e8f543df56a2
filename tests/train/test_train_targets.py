"""Value targets (T3) and the learning rate of an iteration (T10), against numbers by hand."""

from __future__ import annotations

import numpy as np
import pytest

from zermelo.errors import UserError
from zermelo.options import make_options
from zermelo.train import TrainOptions, highest_rate_at, learning_rate_at, value_blend_at
from zermelo.train.targets import value_target


@pytest.mark.technique("T3")
@pytest.mark.parametrize(
    ("iteration", "blend"), [(0, 0.0), (1, 0.06), (3, 0.18), (5, 0.3), (6, 0.3), (49, 0.3)]
)
def test_the_root_value_gains_weight_over_the_first_tenth_of_the_iterations(
    iteration: int, blend: float
) -> None:
    assert value_blend_at(iteration, 50, TrainOptions()) == pytest.approx(blend)


def test_without_a_ramp_the_blend_is_whole_from_the_start() -> None:
    assert value_blend_at(0, 50, TrainOptions(value_blend_ramp=0.0)) == 0.3
    assert value_blend_at(7, 50, TrainOptions(value_blend=0.0)) == 0.0


@pytest.mark.technique("T3")
def test_the_value_target_mixes_result_and_root_value() -> None:
    result = np.array([[1, 0, 0], [0, 0, 1]], np.float32)
    root = np.array([[0.2, 0.5, 0.3], [0.6, 0.4, 0.0]], np.float32)
    mixed = value_target(result, root, 0.3)
    np.testing.assert_allclose(mixed, [[0.76, 0.15, 0.09], [0.18, 0.12, 0.7]], atol=1e-6)


@pytest.mark.technique("T10")
def test_the_learning_rate_rises_and_falls_once() -> None:
    options = TrainOptions(
        learning_rate=0.1, learning_rate_low=0.2, learning_rate_min=0.1, warm_up=0.4
    )
    rates = [learning_rate_at(step, 11, 0.1, options) for step in range(11)]
    rising = [0.02, 0.04, 0.06, 0.08, 0.1]
    falling = [0.085, 0.07, 0.055, 0.04, 0.025, 0.01]
    assert rates == pytest.approx(rising + falling)


def test_the_learning_rate_has_an_answer_for_every_number_of_steps() -> None:
    assert learning_rate_at(0, 1, 0.3, TrainOptions()) == 0.3
    for warm_up in (0.0, 0.5, 1.0):
        options = TrainOptions(warm_up=warm_up)
        for steps in range(1, 30):
            rates = [learning_rate_at(step, steps, 0.3, options) for step in range(steps + 2)]
            assert max(rates) == 0.3
            assert min(rates) >= 0.02 * 0.3 * (1 - 1e-9)
            assert rates[-1] == rates[-2] == rates[-3]  # past the end it stays


@pytest.mark.technique("T10")
def test_without_one_cycle_the_learning_rate_is_constant() -> None:
    options = TrainOptions(one_cycle=False)
    assert {learning_rate_at(step, 9, 0.3, options) for step in range(9)} == {0.3}


def test_the_highest_learning_rate_falls_over_the_second_half_of_the_iterations() -> None:
    options = TrainOptions(learning_rate=0.1, learning_rate_end=0.2)
    rates = [highest_rate_at(iteration, 9, options) for iteration in range(10)]
    assert rates == pytest.approx([0.1] * 5 + [0.08, 0.06, 0.04, 0.02, 0.02])
    assert highest_rate_at(0, 1, options) == 0.1
    assert highest_rate_at(8, 9, TrainOptions()) == TrainOptions().learning_rate


@pytest.mark.parametrize("values", [{"passes": 3}, {"precision": "f16"}, {"value_blend": 1.5}])
def test_options_out_of_range_are_refused(values: dict[str, object]) -> None:
    with pytest.raises(UserError, match=rf"\[train\]: {next(iter(values))} is"):
        make_options(TrainOptions, values, "[train]")
