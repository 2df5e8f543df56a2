"""The native self-play runner, technique by technique (P1-P7)."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from native_games import native

import zermelo
from zermelo import _core

FULL, RESIGNED, ADJUDICATED, AUDIT, PROVEN = 1, 2, 4, 8, 16


def make_runner(
    game: str = "connect4", evaluator: Any = None, search: Any = None, **options: Any
) -> Any:
    rules: Any = native(game)
    chosen = _core.SelfPlayOptions(**({"games": 16, "simulations": 40, "seed": 5} | options))
    evaluator = _core.HashEvaluator(3) if evaluator is None else evaluator
    return _core.make_selfplay(
        rules, evaluator, _core.SearchOptions(**(search or {})), chosen, None
    )


def flags(played: dict[str, Any]) -> np.ndarray:
    return np.asarray(played["flags"])


def policies(played: dict[str, Any]) -> list[np.ndarray]:
    return np.split(played["policy_shares"], np.cumsum(played["policy_counts"])[:-1])


@pytest.mark.technique("P1")
def test_only_full_searches_give_samples_and_policy_targets() -> None:
    played = make_runner(full_search_probability=0.25).play(600)
    statistics = played["statistics"]
    searches = statistics["full_searches"] + statistics["fast_searches"]
    share = statistics["full_searches"] / searches
    assert abs(share - 0.25) < 4 * np.sqrt(0.25 * 0.75 / searches)
    assert (flags(played) & FULL).all()
    assert all(policy.sum() == 65535 for policy in policies(played))


def test_fast_searches_can_give_samples_without_a_policy() -> None:
    played = make_runner(full_search_probability=0.25, fast_samples=True).play(600)
    full = (flags(played) & FULL) > 0
    assert 0 < full.sum() < len(full)
    for is_full, policy in zip(full, policies(played), strict=True):
        assert policy.sum() == (65535 if is_full else 0)


@pytest.mark.technique("P1")
def test_a_fast_search_has_its_fraction_of_the_simulations() -> None:
    search = {"solver": False, "auto_extend": False}
    full = make_runner(full_search_probability=1, search=search, simulations=40).play(300)
    fast = make_runner(
        full_search_probability=0, fast_samples=True, search=search, simulations=40
    ).play(300)
    for played, simulations in ((full, 40), (fast, 10)):
        statistics = played["statistics"]
        assert statistics["simulations"] / statistics["moves"] == pytest.approx(
            simulations, rel=0.1
        )


@pytest.mark.technique("P1")
def test_fast_searches_have_no_noise() -> None:
    """Without noise and temperature every game is the same; a full search's noise varies them."""
    greedy: dict[str, Any] = {
        "temperature_plies": 0,
        "fast_samples": True,
        "search": {"solver": False},
    }
    fast = make_runner(full_search_probability=0, **greedy).play(300)["statistics"]
    full = make_runner(full_search_probability=1, **greedy).play(300)["statistics"]
    assert fast["unique_games"] == 1 < fast["games"]
    assert full["unique_games"] > full["games"] / 2


def test_a_gumbel_root_plays_its_sample_first_and_after_temperature_plies_its_target() -> None:
    search = {"gumbel": True, "gumbel_scale": 0.0, "solver": False}  # the target is the prior
    unique = {
        plies: make_runner(full_search_probability=1, search=search, temperature_plies=plies).play(
            1000
        )["statistics"]
        for plies in (0, 1, 99)
    }
    assert unique[0]["unique_games"] == 1 < unique[0]["games"]
    assert 1 < unique[1]["unique_games"] <= 7  # as many as first moves
    assert unique[99]["unique_games"] == unique[99]["games"]


@pytest.mark.technique("P1")
def test_the_first_plies_are_always_searched_fully_when_asked() -> None:
    played = make_runner(full_search_probability=0.0, always_full_plies=4).play(200)
    assert set(played["plies"]) == {0, 1, 2, 3}


@pytest.mark.technique("P2")
def test_a_player_below_the_threshold_resigns_and_loses() -> None:
    played = make_runner(
        full_search_probability=1, resign_threshold=0.9, resign_plies=2, resign_playthrough=0.0
    ).play(400)
    statistics = played["statistics"]
    resigned = (flags(played) & RESIGNED) > 0
    assert statistics["resigned"] > statistics["games"] / 2
    # Whoever gave up was the mover of the game's last sample.
    last = np.append(played["games"][1:] != played["games"][:-1], True)
    assert (played["results"][last & resigned] == -1).all()
    assert statistics["audit"] == []


@pytest.mark.technique("P2")
def test_resignation_takes_several_moves_of_its_own() -> None:
    def shortest(plies: int) -> int:
        played = make_runner(
            full_search_probability=1,
            resign_threshold=1.0,
            resign_plies=plies,
            resign_playthrough=0.0,
            search={"solver": False},
        ).play(200)
        resigned = (flags(played) & RESIGNED) > 0
        return int((played["plies"] + played["plies_left"])[resigned].min())

    # The first player's second, third and fifth moves are plies 2, 4 and 8.
    assert [shortest(2), shortest(3), shortest(5)] == [2, 4, 8]


@pytest.mark.technique("P2")
def test_played_through_games_note_the_resignation_and_go_on_with_fast_searches() -> None:
    played = make_runner(
        full_search_probability=1, resign_threshold=0.9, resign_plies=1, resign_playthrough=1.0
    ).play(60)
    statistics = played["statistics"]
    assert statistics["resigned"] == 0
    assert statistics["fast_searches"] > statistics["full_searches"]
    assert (flags(played) & AUDIT).all()
    assert len(statistics["audit"]) >= statistics["games"]


@pytest.mark.technique("P2")
def test_the_audit_tells_the_lowest_value_and_the_result() -> None:
    evaluator = _core.RolloutEvaluator(rollouts=4)
    played = make_runner(evaluator=evaluator, full_search_probability=1, resign_plies=1).play(400)
    audit = np.array(played["statistics"]["audit"])
    assert len(audit) == 2 * played["statistics"]["games"]
    assert (np.abs(audit[:, 0]) <= 1).all() and set(audit[:, 1]) <= {-1.0, 0.0, 1.0}
    # Who lost had been lower than who won.
    assert audit[audit[:, 1] < 0, 0].mean() < audit[audit[:, 1] > 0, 0].mean()


@pytest.mark.technique("P3")
def test_the_temperature_falls_and_ends_greedy() -> None:
    """With a hot start and a greedy rest, games differ only in their first plies."""
    search = {"solver": False, "dirichlet_epsilon": 0.0, "tree_reuse": False}
    hot: dict[str, Any] = {
        "temperature_start": 100.0,
        "temperature_end": 100.0,
        "fast_samples": True,
    }
    one = make_runner(full_search_probability=0, temperature_plies=1, search=search, **hot)
    all_hot = make_runner(full_search_probability=0, temperature_plies=99, search=search, **hot)
    statistics = one.play(900)["statistics"]
    assert 1 < statistics["unique_games"] <= 7
    statistics = all_hot.play(900)["statistics"]
    assert statistics["unique_games"] == statistics["games"]


@pytest.mark.technique("P3")
def test_a_low_temperature_prefers_the_most_visited_action() -> None:
    def prefers_centre(planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        logits = np.zeros((len(planes), 7), np.float32)
        logits[:, 3] = 1.0
        return logits, np.zeros(len(planes), np.float32)

    def centre_openings(temperature: float) -> float:
        played = make_runner(
            evaluator=prefers_centre,
            simulations=200,
            full_search_probability=0,
            fast_samples=True,
            temperature_start=temperature,
            temperature_end=temperature,
            temperature_plies=99,
            search={"solver": False},
        ).play(1500)
        second = played["observations"][played["plies"] == 1]
        return float((second == centre).all(axis=1).mean())

    game = native("connect4")
    centre = game.observe_packed(game.play(game.initial(), 3))
    assert centre_openings(0.1) > centre_openings(1.0) > centre_openings(10.0)


@pytest.mark.technique("P5")
def test_random_openings_vary_the_games_and_give_no_samples() -> None:
    greedy: dict[str, Any] = {
        "temperature_plies": 0,
        "full_search_probability": 0,
        "fast_samples": True,
    }
    plain = make_runner(**greedy).play(300)
    opened = make_runner(opening_share=1.0, opening_plies=4, **greedy).play(300)
    assert plain["statistics"]["unique_games"] == 1
    assert opened["statistics"]["unique_games"] > opened["statistics"]["games"] / 2
    first = opened["plies"][np.unique(opened["games"], return_index=True)[1]]
    assert set(first) == {1, 2, 3, 4}


@pytest.mark.technique("P5")
def test_openings_are_sampled_from_the_policy() -> None:
    def one_sided(planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        logits = np.zeros((len(planes), 7), np.float32)
        logits[:, 2] = 20.0
        return logits, np.zeros(len(planes), np.float32)

    played = make_runner(
        evaluator=one_sided, opening_share=1.0, opening_plies=1, full_search_probability=1
    ).play(200)
    game = native("connect4")
    third = game.play(game.initial(), 2)
    fifth = game.play(game.initial(), 4)
    expected = min(tuple(game.observe_packed(s).tolist()) for s in (third, fifth))
    starts = played["observations"][played["plies"] == 1]
    assert {tuple(row) for row in starts.tolist()} == {expected}


def test_hot_openings_vary_more_than_the_policy() -> None:
    def prefers_centre(planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        logits = np.zeros((len(planes), 7), np.float32)
        logits[:, 3] = 5.0
        return logits, np.zeros(len(planes), np.float32)

    def openings(temperature: float) -> int:
        played = make_runner(
            evaluator=prefers_centre,
            opening_share=1.0,
            opening_plies=1,
            opening_temperature=temperature,
            full_search_probability=1,
        ).play(600)
        return len(np.unique(played["observations"][played["plies"] == 1], axis=0))

    assert openings(0.2) == 1 < openings(10.0) == 4  # four columns up to symmetry


@pytest.mark.technique("P6")
def test_a_long_game_is_cut_off_and_its_samples_say_so() -> None:
    played = make_runner("chess", max_plies=12, simulations=8, full_search_probability=1).play(200)
    cut = (flags(played) & ADJUDICATED) > 0
    assert cut.mean() > 0.9
    assert (played["results"][cut] == 0).all()
    assert (played["plies"] + played["plies_left"]).max() == 12
    statistics = played["statistics"]
    assert statistics["adjudicated"] >= statistics["games"] - 2


@pytest.mark.technique("P6")
def test_a_game_cut_off_can_be_judged_by_material() -> None:
    options = {"max_plies": 60, "simulations": 8, "full_search_probability": 1}
    draw = make_runner("chess", adjudicate="draw", **options).play(400)
    judged = make_runner("chess", adjudicate="material", **options).play(400)
    for played, decided in ((draw, False), (judged, True)):
        cut = (flags(played) & ADJUDICATED) > 0
        assert bool((played["results"][cut] != 0).any()) is decided


@pytest.mark.technique("P7")
def test_every_sample_records_the_iteration_that_made_it() -> None:
    runner = make_runner(full_search_probability=1)
    runner.iteration = 3
    runner.play(50)
    runner.iteration = 4
    played = runner.play(400)
    assert set(played["iterations"]) == {3, 4}
    for game in range(played["statistics"]["games"]):
        made = played["iterations"][played["games"] == game]
        assert all(a <= b for a, b in pairwise(made))


@pytest.mark.technique("P7")
def test_a_new_network_is_used_between_moves_and_games_go_on() -> None:
    seen = [0, 0]

    def network(index: int) -> Any:
        def evaluate(planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            seen[index] += len(planes)
            return np.zeros((len(planes), 7), np.float32), np.zeros(len(planes), np.float32)

        return evaluate

    runner = make_runner(evaluator=network(0), full_search_probability=1)
    runner.play(100)
    before = seen[0]
    runner.iteration = 1
    runner.set_evaluator(network(1))
    played = runner.play(100)
    assert seen[0] == before and seen[1] > 0
    assert set(played["iterations"]) == {0, 1}  # games that both networks played


def test_proven_wins_have_the_whole_target_and_proven_losses_none() -> None:
    search = {"solver": True, "dirichlet_epsilon": 0.25}
    exact = make_runner("tictactoe", full_search_probability=1, search=search).play(600)
    plain = make_runner(
        "tictactoe", full_search_probability=1, exact_targets=False, search=search
    ).play(600)

    def whole(played: dict[str, Any]) -> float:
        won = ((flags(played) & PROVEN) > 0) & (played["values"] > 0)
        kept = [p for p, w in zip(policies(played), won, strict=True) if w]
        sharp = [((p == 0) | (p >= 65535 // max(1, (p > 0).sum()))).all() for p in kept]
        return float(np.mean(sharp))

    assert whole(exact) == 1.0 > whole(plain)

    def lengths(played: dict[str, Any]) -> set[int]:
        return set(np.abs(played["values"][(flags(played) & PROVEN) > 0]))

    assert lengths(exact) == {0, 32767}  # whatever its distance
    assert len(lengths(plain)) > 2


def test_a_proven_game_can_end_at_once() -> None:
    on = make_runner(full_search_probability=1, end_when_proven=True).play(400)
    off = make_runner(full_search_probability=1).play(400)
    assert on["statistics"]["proven_ends"] == on["statistics"]["games"]
    assert off["statistics"]["proven_ends"] == 0
    mean = [p["statistics"]["plies"] / p["statistics"]["games"] for p in (on, off)]
    assert mean[0] < mean[1]
    last = np.append(on["games"][1:] != on["games"][:-1], True)
    # The label is what was proven for the mover.
    assert (np.sign(on["values"][last]) == on["results"][last]).all()


@pytest.mark.technique("P1")
def test_the_playout_cap_finishes_more_than_twice_as_many_games() -> None:
    def games_per_million(probability: float) -> float:
        s = make_runner(full_search_probability=probability, simulations=100).play(600)[
            "statistics"
        ]
        return float(1e6 * s["games"] / s["simulations"])

    # 1 / (1/4 + 3/4 * 1/4) is 2.3; searches that end early and shorter games add to it.
    assert games_per_million(0.25) > 2 * games_per_million(1.0)


def test_the_same_seed_plays_the_same_games_and_another_does_not() -> None:
    def play(seed: int) -> dict[str, Any]:
        return dict(make_runner(full_search_probability=1, seed=seed).play(200))

    a, b, c = play(1), play(1), play(2)
    assert np.array_equal(a["observations"], b["observations"])
    assert not np.array_equal(a["observations"], c["observations"])


@pytest.mark.technique("E6")
def test_a_python_game_plays_itself_too() -> None:
    rules = zermelo.game("examples/my_game.py")
    runner = _core.make_selfplay(
        _core.PyGame(rules),
        _core.UniformEvaluator(),
        _core.SearchOptions(),
        _core.SelfPlayOptions(games=2, simulations=4, full_search_probability=1),
        None,
    )
    played = runner.play(20)
    assert len(played["results"]) >= 20
    planes = np.empty((4, *rules.observation_shape), np.float32)
    rows, none = np.arange(4), np.zeros(4, np.uint8)
    _core.decode_samples(_core.PyGame(rules), played["observations"], rows, none, planes)
    assert planes[0].any()


def test_play_stops_after_its_seconds_and_loses_no_game() -> None:
    runner = make_runner(full_search_probability=1)
    whole = make_runner(full_search_probability=1).play(300)
    parts, found = [], 0
    while found < len(whole["results"]):
        parts.append(runner.play(10**9, 0.03))
        found += len(parts[-1]["results"])
    joined = np.concatenate([part["observations"] for part in parts])
    assert np.array_equal(joined[: len(whole["results"])], whole["observations"])
