"""The sequential test computes the right ratio and errs no more often than it may."""

import math

import numpy as np
import pytest
from scripts import load_script

from zermelo.errors import UserError
from zermelo.statistics import Pentanomial, Score, Sprt, score_of
from zermelo.statistics.likelihood import drop

simulated = load_script("benchmarks/match_statistics.py")
PAIR = (0.0, 0.25, 0.5, 0.75, 1.0)


@pytest.mark.technique("E1")
def test_the_bounds_follow_from_the_error_rates() -> None:
    lower, upper = Sprt(0, 5, alpha=0.05, beta=0.1).bounds
    assert (lower, upper) == (math.log(0.1 / 0.95), math.log(0.9 / 0.05))


def test_without_draws_the_ratio_is_the_binomial_one() -> None:
    s0, s1 = score_of(0), score_of(20)
    expected = 60 * math.log(s1 / s0) + 40 * math.log((1 - s1) / (1 - s0))
    assert Score(60, 0, 40).sprt(0, 20).llr == pytest.approx(expected, rel=1e-9)


def test_the_ratio_compares_the_most_likely_distributions_with_each_mean() -> None:
    counts = np.array([3.0, 20, 41, 27, 9])
    test = Sprt(0, 10)
    fitted = []
    for elo in (0, 10):
        best = max(
            (logs(counts, q) for q in distributions_with_mean(score_of(elo), counts)), default=0.0
        )
        fitted.append(best)
    llr = float(test.llr(counts, PAIR))
    # The search over distributions is coarse: it comes from below and close.
    assert llr == pytest.approx(fitted[1] - fitted[0], abs=2e-3)


def distributions_with_mean(mean: float, counts: np.ndarray) -> list[np.ndarray]:
    """Random directions around the observed shares, made to have the mean; a climb by chance."""
    random = np.random.default_rng(4)
    values = np.array(PAIR)
    best = project(counts / counts.sum(), mean, values)
    found = [best]
    for size in (0.05, 0.02, 0.01, 0.005, 0.002, 0.001):
        for _ in range(300):
            tried = project(best + random.normal(0, size, 5), mean, values)
            if (tried > 0).all() and logs(counts, tried) > logs(counts, best):
                best = tried
        found.append(best)
    return found


def project(q: np.ndarray, mean: float, values: np.ndarray) -> np.ndarray:
    """The nearest point with sum 1 and the mean."""
    constraints = np.array([np.ones(5), values])
    gap = np.array([1.0, mean]) - constraints @ q
    return np.asarray(q + constraints.T @ np.linalg.solve(constraints @ constraints.T, gap))


def logs(counts: np.ndarray, q: np.ndarray) -> float:
    return float((counts * np.log(q)).sum())


def test_a_result_that_never_came_is_no_obstacle() -> None:
    won = Pentanomial((0, 0, 0, 0, 5)).sprt(0, 10)
    assert won.llr == pytest.approx(5 * math.log(score_of(10) / score_of(0)))
    assert Pentanomial((5, 0, 0, 0, 0)).sprt(0, 10).llr == pytest.approx(
        5 * math.log((1 - score_of(10)) / (1 - score_of(0)))
    )
    same = Pentanomial((0, 0, 0, 5, 0)).sprt(0, 10)
    # The mean is below what was seen: the rest of the probability is put on the worst result.
    assert same.llr == pytest.approx(5 * math.log(score_of(10) / score_of(0)))


def test_the_drop_is_nothing_at_the_observed_mean_and_grows_away_from_it() -> None:
    counts = [10, 30, 20]
    observed = (15 + 20) / 60
    lost = drop(counts, (0, 0.5, 1), [observed - 0.1, observed - 0.05, observed, observed + 0.05])
    assert lost[2] == pytest.approx(0, abs=1e-12)
    assert lost[0] > lost[1] > 0 < lost[3]


def test_a_clear_result_ends_the_test() -> None:
    assert Score(200, 50, 60).sprt(0, 10).decision == "H1"
    assert Score(60, 50, 200).sprt(0, 10).decision == "H0"
    state = Score(10, 10, 9).sprt(0, 10)
    assert state.decision == ""
    assert str(state).startswith("LLR +0.0")
    assert set(state.to_dict()) == {"llr", "lower", "upper", "decision"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((5, 0), "must be less than"),
        ((0, math.inf), "elo1 is inf, which is too far from 0"),
        ((0, 7000), "elo1 is 7000, which is too far from 0"),
        ((-math.inf, 0), "elo0 is -inf, which is too far from 0"),
        ((0, 5, 0.0), "alpha"),
        ((0, 5, 0.05, 0.7), "beta"),
    ],
)
def test_a_test_that_cannot_be_is_refused(arguments: tuple[float, ...], said: str) -> None:
    with pytest.raises(UserError, match=said):
        Sprt(*arguments)


# 1,000 matches: the binomial error of 5 % is 0.7 %.
@pytest.mark.parametrize("kind", ["games", "pairs"])
def test_errors_stay_within_their_bounds(kind: str) -> None:
    random = np.random.default_rng(11)
    test = Sprt(0, 50)
    for elo, wrong_is_h1 in ((0, True), (50, False)):
        results = (
            simulated.game_results(elo, 0.4)
            if kind == "games"
            else simulated.opening_pairs(elo, 1.0, 300.0)
        )
        share, games = simulated.run_sprt(test, results, 1000, random, step=4)
        assert (share if wrong_is_h1 else 1 - share) < 0.05 + 3 * 0.007
        assert 50 < games < 1000


@pytest.mark.slow
def test_errors_stay_within_their_bounds_for_small_differences() -> None:
    for row in simulated.sprt(500, np.random.default_rng(12)):
        error = 3 * math.sqrt(0.05 * 0.95 / 500)
        if row["elo"] <= row["elo0"]:
            assert row["accepts_h1"] <= row["alpha"] + error, row
        if row["elo"] >= row["elo1"]:
            assert row["accepts_h1"] >= 1 - row["beta"] - error, row
