"""Elo, intervals and likelihood of superiority say what the results support, and no more."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripts import load_script

from zermelo.errors import UserError
from zermelo.statistics import ColourSplit, Pentanomial, Score, elo_of, score_of
from zermelo.statistics.likelihood import drop
from zermelo.statistics.rating import with_added_game

simulated = load_script("benchmarks/match_statistics.py")
counts3 = st.tuples(*[st.integers(0, 300)] * 3)
counts5 = st.tuples(*[st.integers(0, 100)] * 5)


@pytest.mark.technique("E1")
def test_elo_and_score_are_the_logistic_formula_and_its_inverse() -> None:
    assert elo_of(0.75) == pytest.approx(-400 * math.log10(1 / 0.75 - 1))
    assert elo_of(0.5) == 0.0
    for elo in (-800.0, -3.0, 0.0, 191.0, 800.0):
        assert elo_of(score_of(elo)) == pytest.approx(elo)
    assert (elo_of(0.0), elo_of(1.0)) == (-math.inf, math.inf)
    assert score_of(1e9) == 1.0


@pytest.mark.technique("E1")
def test_a_known_match_has_its_known_figures() -> None:
    score = Score(wins=100, draws=50, losses=20)
    assert (score.games, score.points) == (170, 125.0)
    assert score.elo == pytest.approx(177.479, abs=1e-3)
    assert score.los == pytest.approx(0.5 + 0.5 * math.erf(80 / math.sqrt(240)))
    assert str(score) == "+100 -20 =50"
    # A normal approximation of the mean score is close enough in a match as long as this.
    spread = math.sqrt((100 * 1.0 + 50 * 0.25) / 170 - score.score**2) / math.sqrt(170)
    low, high = score.interval()
    assert low == pytest.approx(elo_of(score.score - 1.96 * spread), abs=5)
    assert high == pytest.approx(elo_of(score.score + 1.96 * spread), abs=5)


def test_draws_narrow_the_interval_and_games_do_too() -> None:
    assert Score(50, 0, 50).margin() > Score(25, 50, 25).margin() > Score(5, 90, 5).margin()
    assert Score(25, 50, 25).margin() == pytest.approx(2 * Score(100, 200, 100).margin(), rel=0.02)
    assert Score(25, 50, 25).margin(0.99) > Score(25, 50, 25).margin(0.5)


@pytest.mark.parametrize("games", [1, 2, 10, 1000])
def test_a_match_won_or_lost_whole_stays_finite(games: int) -> None:
    won, lost = Score(wins=games), Score(losses=games)
    low, high = won.interval()
    assert -800 < low < won.elo < high < 4000
    assert lost.interval() == pytest.approx((-high, -low))
    assert lost.elo == pytest.approx(-won.elo)
    assert Pentanomial((0, 0, 0, 0, games)).interval()[1] < 4000
    assert won.elo < Score(wins=2 * games).elo


def test_before_the_first_game_nothing_is_known() -> None:
    for nothing in (Score(), Pentanomial(), ColourSplit().best):
        assert (nothing.score, nothing.elo, nothing.los, nothing.games) == (0.5, 0.0, 0.5, 0)
        low, high = nothing.interval()
        assert low < -500 and high > 500
        assert nothing.sprt(0, 5).decision == ""


def test_only_draws_leave_superiority_open() -> None:
    score = Score(draws=50)
    assert (score.elo, score.los) == (0.0, 0.5)
    low, high = score.interval()
    assert -30 < low < 0 < high < 30


@given(counts3)
def test_the_interval_mirrors_holds_the_score_and_ends_at_the_likelihood_limit(
    counts: tuple[int, int, int],
) -> None:
    score = Score(*counts)
    low, high = score.score_interval()
    mirrored = score.reversed().score_interval()
    assert (1 - mirrored[1], 1 - mirrored[0]) == pytest.approx((low, high))
    assert elo_of(low) < score.elo < elo_of(high)
    # The two routines know the tilted distribution in different forms.
    lost = drop(with_added_game(score.counts), score.values, np.array([low, high]))
    assert lost == pytest.approx(1.959964**2 / 2, rel=1e-5)


@given(counts5)
def test_pairs_have_the_score_of_their_games(counts: tuple[int, int, int, int, int]) -> None:
    pairs = Pentanomial(counts)
    points = sum(n * half for half, n in enumerate(counts)) / 2
    assert pairs.games == 2 * sum(counts)
    if pairs.games:
        assert pairs.score == pytest.approx(points / pairs.games)
    low, high = pairs.interval()
    assert -4000 < low < high < 4000


def test_pairs_that_cancel_give_a_smaller_interval_than_their_games() -> None:
    # Every opening is won by the first player: as games a coin, as pairs no doubt at all.
    split = ColourSplit(Score(wins=100), Score(losses=100), Pentanomial((0, 0, 100, 0, 0)))
    assert split.best is split.pairs
    assert split.total.margin() > 3 * split.pairs.margin()
    assert "P1-W: +100 -0 =0, P1-B: +0 -100 =0" in str(split)
    assert split.to_dict()["elo_high"] == split.pairs.interval()[1]
    assert split.to_dict()["wins"] == 100


def test_whole_pairs_are_judged_and_games_singly_only_without_any() -> None:
    alone = ColourSplit(Score(wins=3), Score(losses=1))
    assert alone.best == Score(3, 0, 1)
    split = ColourSplit(Score(wins=101), Score(losses=100), Pentanomial((0, 0, 100, 0, 0)))
    assert split.best is split.pairs  # the last game has no partner yet
    report = split.to_dict()
    assert (report["games"], report["judged_games"], report["wins"]) == (201, 200, 101)
    assert report["score"] == pytest.approx(101 / 201)
    assert report["elo"] == 0.0
    assert f"Elo +0.0 ± {split.pairs.margin():.1f}" in str(split)
    assert "200 games in whole pairs" in str(split)
    assert "whole pairs" not in str(alone)


def test_the_line_has_both_ends_of_an_interval_that_is_not_centred_on_the_elo() -> None:
    split = ColourSplit(Score(2, 0, 0), Score(1, 1, 0), Pentanomial((0, 0, 0, 1, 1)))
    low, high = split.pairs.interval()
    assert split.elo_text == f"+338.0 ± 387.5 ({low:+.1f} to {high:+.1f})"
    assert (round(low), round(high)) == (-139, 636)


def test_superiority_of_pairs_agrees_with_games_that_are_independent() -> None:
    game = [0.31, 0.35, 0.34]  # loss, draw, win
    pairs = np.rint(10_000 * np.convolve(game, game)).astype(int)
    single = Score(6800, 7000, 6200)
    assert Pentanomial(tuple(pairs)).los == pytest.approx(single.los, abs=1e-4)
    assert Pentanomial(tuple(pairs // 50)).los == pytest.approx(Score(136, 140, 124).los, abs=0.01)
    assert Pentanomial((0, 0, 10, 0, 0)).los == 0.5


def test_points_are_counted() -> None:
    assert Score.of([1, 0.5, 0, 1]) == Score(2, 1, 1)
    assert Pentanomial.of([0, 2, 1.5, 1.5, 0.5]) == Pentanomial((1, 1, 0, 2, 1))
    assert Score(1, 2, 3) + Score(1, 1, 1) == Score(2, 3, 4)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Score(wins=-1), "negative count -1"),
        (lambda: Score.of([0.7]), "0, 0.5 or 1"),
        (lambda: Pentanomial.of([3]), "not 3"),
        (lambda: Pentanomial((1, 2, 3)), "not 3"),  # type: ignore[arg-type]
        (lambda: Score(1, 1, 1).interval(1.5), "not between 0 and 1"),
    ],
)
def test_impossible_results_are_refused(make: Callable[[], object], said: str) -> None:
    with pytest.raises(UserError, match=said):
        make()


# Binomial error of 1,000 matches at 95 %: 0.7 %. The interval itself may be 2 % off; three errors
# of the simulation come on top. Cells here have at least ten decisive results on average.
@pytest.mark.parametrize(
    ("elo", "draws", "games"),
    [(0, 0.0, 20), (0, 0.5, 30), (0, 0.9, 100), (100, 0.3, 50), (400, 0.1, 100), (400, 0.0, 50)],
)
def test_intervals_of_games_cover_the_truth(elo: float, draws: float, games: int) -> None:
    random = np.random.default_rng(7)
    results = simulated.game_results(elo, draws)
    covered = simulated.coverage(results, elo, games, 1000, random)
    assert abs(covered - 0.95) < 0.02 + 3 * 0.007


@pytest.mark.parametrize(("elo", "games"), [(0, 60), (150, 60), (400, 100)])
def test_intervals_of_pairs_cover_the_truth_though_their_games_depend(
    elo: float, games: int
) -> None:
    random = np.random.default_rng(8)
    for results in (
        simulated.opening_pairs(elo, 1.0, 300.0),
        simulated.alike_pairs(elo, 0.1, 0.4),
    ):
        covered = simulated.coverage(results, elo, games, 1000, random)
        assert abs(covered - 0.95) < 0.02 + 3 * 0.007


def test_counting_dependent_pairs_as_single_games_would_not_cover() -> None:
    random = np.random.default_rng(9)
    pairs = random.multinomial(100, [0.35, 0.0, 0.3, 0.0, 0.35], size=500)
    held = 0
    for lost, _, even, _, won in pairs:
        low, high = Score(2 * won + even, 0, 2 * lost + even).interval()
        held += low <= 0 <= high
    assert held / 500 < 0.92


@pytest.mark.slow
def test_intervals_cover_the_truth_in_every_cell() -> None:
    rows = simulated.intervals(10_000, np.random.default_rng(1))
    assert len({row["elo"] for row in rows}) >= 6
    for row in rows:
        # Fewer than about ten decisive results: too wide, as too little can happen.
        decisive = row["games"] * (1 - row["draws"])
        if row["games"] >= 200 or (decisive >= 25 and row["games"] >= 50):
            assert abs(row["covered"] - 0.95) <= 0.02, row
        assert row["covered"] >= 0.92, row
