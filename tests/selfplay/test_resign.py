"""P2: the threshold is the highest at which few enough of those who would resign did not lose."""

from __future__ import annotations

import numpy as np
import pytest

from zermelo.selfplay.options import PoolOptions
from zermelo.selfplay.resign import OFF, calibrate

Audit = list[list[float]]


def audit_of(count: int, lost_below: float, seed: int = 1) -> list[dict[str, Audit]]:
    """Values evenly over [-1, 0); those below the bound are lost, the others half of the time."""
    rng = np.random.default_rng(seed)
    values = rng.uniform(-1, 0, count)
    lost = (values < lost_below) | (rng.random(count) < 0.5)
    pairs = [[float(v), -1 if one else 1] for v, one in zip(values, lost, strict=True)]
    half = count // 2
    return [{"audit": pairs[:half]}, {"audit": pairs[half:]}]


def noted(audits: list[dict[str, Audit]], threshold: float) -> list[float]:
    """Results of those whom the core would have let resign: the ones below the threshold."""
    return [result for one in audits for value, result in one["audit"] if value < threshold]


@pytest.mark.technique("P2")
@pytest.mark.parametrize("lost_below", [-0.9, -0.8, -0.65])
def test_the_false_share_is_kept_and_the_threshold_is_the_highest_that_keeps_it(
    lost_below: float,
) -> None:
    audits = audit_of(4000, lost_below)
    found = calibrate(audits, PoolOptions())
    results = noted(audits, found.threshold)
    assert len(results) == found.noted
    assert np.mean(np.asarray(results) >= 0) == pytest.approx(found.false_share)
    assert found.false_share <= 0.05
    assert lost_below < found.threshold < lost_below + 0.1
    further = np.asarray(noted(audits, found.threshold + 0.03))
    assert np.mean(further >= 0) > 0.05


@pytest.mark.technique("P2")
def test_nobody_resigns_until_enough_were_noted() -> None:
    audits = [{"audit": [[-0.95, -1.0]] * 199}]
    assert calibrate(audits, PoolOptions()).threshold == OFF
    audits[0]["audit"].append([-0.95, -1.0])
    found = calibrate(audits, PoolOptions())
    assert -0.95 < found.threshold <= -0.5
    assert (found.noted, found.false_share, found.audited) == (200, 0.0, 200)


def test_nobody_resigns_when_low_values_mean_little() -> None:
    audits = [{"audit": [[-0.99, 1.0], [-0.98, 0.0], [-0.9, -1.0]] * 1000}]
    found = calibrate(audits, PoolOptions())
    assert (found.threshold, found.audited) == (OFF, 3000)


def test_draws_count_as_not_lost() -> None:
    audits = [{"audit": [[-0.9, -1.0]] * 900 + [[-0.9, 0.0]] * 100}]
    assert calibrate(audits, PoolOptions()).threshold == OFF
    assert calibrate(audits, PoolOptions(resign_false_share=0.1)).threshold > -0.9


def test_equal_values_are_taken_together() -> None:
    audits = [{"audit": [[-0.9, -1.0]] * 300 + [[-0.8, 1.0]] * 300}]
    found = calibrate(audits, PoolOptions())
    assert (found.noted, found.false_share) == (300, 0.0)
    assert -0.9 < found.threshold < -0.8


def test_the_threshold_stays_below_its_bound() -> None:
    audits = [{"audit": [[float(v), -1.0] for v in np.linspace(-1, 0.9, 2000)]}]
    assert calibrate(audits, PoolOptions()).threshold == -0.5
    assert calibrate(audits, PoolOptions(resign_highest=-0.8)).threshold == -0.8


def test_certain_losses_alone_are_enough_to_resign() -> None:
    found = calibrate([{"audit": [[-1.0, -1.0]] * 500}], PoolOptions())
    assert OFF < found.threshold <= -0.5


def test_without_audits_nobody_resigns() -> None:
    assert calibrate([], PoolOptions()).threshold == OFF
    assert calibrate([{}], PoolOptions()).metrics()["resign_audited"] == 0
