"""Ratings of many players: true to the games, with honest errors, finite at the extremes."""

import math

import numpy as np
import pytest
from scripts import load_script

from zermelo.errors import UserError
from zermelo.statistics import GamePair, Meeting, Pentanomial, Score, bradley_terry

simulated = load_script("benchmarks/match_statistics.py")


def test_two_players_differ_by_the_elo_of_their_match() -> None:
    score = Score(600, 300, 200)
    found = bradley_terry([Meeting("a", "b", score)])
    elo, error = found.difference("a", "b")
    assert elo == pytest.approx(score.elo, abs=0.5)
    assert 1.96 * error == pytest.approx(score.margin(), rel=0.02)
    assert found["a"].elo == pytest.approx(-found["b"].elo)  # type: ignore[operator]
    assert found.first_advantage is None  # a always moved first: it cannot be told apart
    assert found.los("a", "b") > 0.99
    assert found.los("a", "b") + found.los("b", "a") == pytest.approx(1)


def test_known_ratings_are_recovered() -> None:
    elos = np.array([0.0, 120.0, -250.0, 310.0, 40.0])
    games = simulated.tournament(elos, 30.0, 0.35, 4000, np.random.default_rng(3))
    found = bradley_terry(games, anchor="p0", anchor_elo=1500)
    for i, elo in enumerate(elos):
        row = found[f"p{i}"]
        assert row.elo == pytest.approx(1500 + elo, abs=10)
        assert row.score.games == 4 * 8000
    assert found.first_advantage is not None
    assert found.first_advantage[0] == pytest.approx(30, abs=4)
    assert [row.name for row in found.rows] == ["p3", "p1", "p4", "p0", "p2"]


def test_the_anchor_is_fixed_and_differences_do_not_depend_on_it() -> None:
    games = simulated.tournament(np.array([0.0, 80, -60]), 0.0, 0.3, 50, np.random.default_rng(5))
    by_anchor = bradley_terry(games, anchor="p1", anchor_elo=2000)
    by_mean = bradley_terry(games)
    assert (by_anchor["p1"].elo, by_anchor["p1"].error) == (2000, 0)
    assert sum(row.elo for row in by_mean.rows) == pytest.approx(0)  # type: ignore[misc]
    for pair in (("p0", "p1"), ("p2", "p0")):
        assert by_anchor.difference(*pair) == pytest.approx(by_mean.difference(*pair))
    # Both were measured against p1, so their difference is known better than the errors suggest.
    (_, error), rows = by_anchor.difference("p0", "p2"), by_anchor
    apart = math.hypot(rows["p0"].error or 0, rows["p2"].error or 0)
    assert error < apart


def test_draws_make_the_errors_smaller() -> None:
    quiet = bradley_terry([Meeting("a", "b", Score(10, 80, 10))])
    sharp = bradley_terry([Meeting("a", "b", Score(50, 0, 50))])
    assert quiet.difference("a", "b")[1] < 0.6 * sharp.difference("a", "b")[1]


def test_who_won_or_lost_everything_stays_finite() -> None:
    games = [
        Meeting("best", "middle", Score(wins=30)),
        Meeting("middle", "best", Score(losses=30)),
        Meeting("middle", "worst", Score(wins=20)),
        Meeting("worst", "middle", Score(losses=20)),
    ]
    found = bradley_terry(games, anchor="middle")
    best, worst = found["best"], found["worst"]
    assert best.elo is not None and worst.elo is not None and best.error is not None
    assert 500 < best.elo < 1500
    assert -1500 < worst.elo < -500
    assert 50 < best.error < 500


def test_the_first_move_is_told_apart_from_strength() -> None:
    games = [Meeting("a", "b", Score(70, 0, 30)), Meeting("b", "a", Score(70, 0, 30))]
    found = bradley_terry(games)
    assert found.difference("a", "b")[0] == pytest.approx(0, abs=1e-6)
    assert found.first_advantage is not None
    assert found.first_advantage[0] == pytest.approx(Score(70, 0, 30).elo, abs=3)


def test_players_whom_no_games_connect_are_named_and_not_rated() -> None:
    games = [
        Meeting("a", "b", Score(6, 2, 2)),
        Meeting("b", "c", Score(6, 2, 2)),
        Meeting("x", "y", Score(6, 2, 2)),
    ]
    found = bradley_terry(games)
    assert found.unconnected == ("x", "y")
    assert found["x"].elo is None and found.margin("x") is None
    assert found.names == ("a", "b", "c")
    assert found.covariance.shape == (3, 3)
    other = bradley_terry(games, anchor="y")
    assert other.unconnected == ("a", "b", "c")
    with pytest.raises(UserError, match="no rating of 'x'"):
        found.difference("a", "x")


def test_the_report_has_stable_keys() -> None:
    report = bradley_terry([Meeting("a", "b", Score(6, 2, 2))], anchor="b").to_dict()
    assert report["players"][0] == {
        "name": "a",
        "elo": pytest.approx(report["players"][0]["elo"]),
        "margin": pytest.approx(report["players"][0]["margin"]),
        "games": 10,
        "score": 0.7,
        "wins": 6,
        "draws": 2,
        "losses": 2,
    }
    assert report["unconnected"] == [] and report["first_advantage"] is None


def test_the_games_of_a_pair_are_one_result() -> None:
    games = [Meeting("a", "b", Score(20, 0, 20)), Meeting("b", "a", Score(20, 0, 20))]
    alike = [GamePair("a", "b", (1.0, 0.0))] * 20 + [GamePair("a", "b", (0.0, 1.0))] * 20
    opposed = [GamePair("a", "b", (1.0, 1.0))] * 20 + [GamePair("b", "a", (0.0, 0.0))] * 20
    single = bradley_terry(games).difference("a", "b")
    same_way = bradley_terry(games, pairs=alike).difference("a", "b")
    assert same_way[0] == single[0]
    assert same_way[1] == pytest.approx(single[1] * math.sqrt(2), rel=0.01)
    by_pairs = Pentanomial((20, 0, 0, 0, 20)).margin()
    assert 1.96 * same_way[1] == pytest.approx(by_pairs, rel=0.05)
    assert bradley_terry(games, pairs=opposed).difference("a", "b")[1] < 0.2 * single[1]
    # Half of the games in pairs: the others count as single games.
    some = bradley_terry(games, pairs=alike[10:30]).difference("a", "b")
    assert single[1] < some[1] < same_way[1]


@pytest.mark.parametrize("points", [(1.0, 0.5), (1.0, 0.0), (0.0, 1.0)])
def test_two_players_who_meet_in_pairs_differ_by_the_elo_of_their_match(
    points: tuple[float, float],
) -> None:
    games = [Meeting("a", "b", Score.of([points[0]] * 10))]
    games += [Meeting("b", "a", Score.of([points[1]] * 10))]
    found = bradley_terry(games, pairs=[GamePair("a", "b", points)] * 10)
    match = Pentanomial.of([points[0] + 1.0 - points[1]] * 10)
    assert found.difference("a", "b")[0] == pytest.approx(match.elo)
    assert found.first_advantage is not None
    assert math.isfinite(found.first_advantage[0])


def test_meetings_may_come_in_parts() -> None:
    parts = [Meeting("a", "b", Score(3, 1, 2)), Meeting("a", "b", Score(2, 0, 1))]
    whole = [Meeting("a", "b", Score(5, 1, 3))]
    assert bradley_terry(parts).difference("a", "b") == bradley_terry(whole).difference("a", "b")


@pytest.mark.parametrize(
    ("pair", "said"),
    [
        (GamePair("a", "c", (1.0, 1.0)), "a pair of a and c is not among the results"),
        (GamePair("a", "b", (1.0, 0.5)), "more games in pairs than results"),
    ],
)
def test_pairs_of_games_that_were_not_played_are_refused(pair: GamePair, said: str) -> None:
    games = [Meeting("a", "b", Score(2, 0, 0)), Meeting("b", "a", Score(2, 0, 0))]
    with pytest.raises(UserError, match=said):
        bradley_terry(games, pairs=[pair])


@pytest.mark.parametrize(
    ("games", "anchor", "said"),
    [
        ([], None, "no games to rate"),
        ([Meeting("a", "b", Score())], None, "no games to rate"),
        ([Meeting("a", "a", Score(1))], None, "against itself"),
        ([Meeting("a", "b", Score(1))], "c", "anchor 'c' has played no games"),
    ],
)
def test_what_cannot_be_rated_is_refused(
    games: list[Meeting], anchor: str | None, said: str
) -> None:
    with pytest.raises(UserError, match=said):
        bradley_terry(games, anchor)


def test_errors_hold_the_truth_as_often_as_they_say() -> None:
    # About 900 intervals, of which those of one tournament depend on each other a little.
    for row in simulated.ratings(1_000, np.random.default_rng(6)):
        assert abs(row["rating"] - 0.95) < 0.05
        assert abs(row["first"] - 0.95) < 0.08


def test_errors_hold_the_truth_in_a_one_sided_field() -> None:
    random, held = np.random.default_rng(8), []
    elos = np.array([0.0, 400.0, 800.0])
    for _ in range(500):
        games, pairs = simulated.paired_tournament(elos, 0.0, 0.0, 10, 0.0, random)
        found = bradley_terry(games, pairs=pairs)
        for i, j in ((0, 1), (1, 2), (0, 2)):
            elo, error = found.difference(f"p{i}", f"p{j}")
            held.append(abs(elo - (elos[i] - elos[j])) <= 1.96 * error)
    assert np.mean(held) > 0.93  # with the added game in the ratings it is 0.90


def test_errors_of_alike_pairs_would_be_too_small_by_single_games() -> None:
    random, held = np.random.default_rng(7), {"pairs": 0, "single": 0}
    for _ in range(200):
        games, pairs = simulated.paired_tournament(np.zeros(2), 0.0, 0.0, 50, 1.0, random)
        for name, given in (("pairs", pairs), ("single", [])):
            elo, error = bradley_terry(games, pairs=given).difference("p0", "p1")
            held[name] += abs(elo) <= 1.96 * error
    assert held["pairs"] > 182  # of 200: 95 % with three times its own error
    assert held["single"] < 180


@pytest.mark.slow
def test_errors_hold_the_truth_as_often_as_they_say_in_many_tournaments() -> None:
    for row in simulated.ratings(20_000, np.random.default_rng(6)):
        wide = 0.03 if row["apart"] else 0.0  # one-sided results: rather too wide than too narrow
        for name in ("rating", "difference", "first"):
            assert 0.93 < row[name] < 0.97 + wide
