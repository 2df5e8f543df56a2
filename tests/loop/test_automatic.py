"""Automatic settings: measured, explained, and accepted by a run file."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

import zermelo
from zermelo.config import RunConfig
from zermelo.errors import UserError
from zermelo.selfplay.automatic import automatic_settings, choose_settings
from zermelo.selfplay.measured import Measured, measure

MY_GAME = str(Path(__file__).resolve().parents[2] / "examples" / "my_game.py")

CONNECT4 = Measured(
    games=24,
    branching=6.7,
    plies=22.0,
    long_plies=32,
    unfinished=0.0,
    plies_per_second=500_000.0,
    evaluations_per_second=20_000.0,
    cores=2,
)
# Few simulations can be afforded for its many actions.
SLOW = dataclasses.replace(
    CONNECT4, branching=60.0, evaluations_per_second=900.0, plies_per_second=900.0
)


@pytest.mark.parametrize("name", ["tictactoe", "connect4", "hex?size=7", "chess", MY_GAME])
def test_the_settings_make_a_valid_run_file(name: str) -> None:
    settings, reasons = automatic_settings(zermelo.game(name), seconds=0.5)
    config = RunConfig.from_tables({"game": {"name": name}, **settings})
    assert config.selfplay.simulations == settings["selfplay"]["simulations"]
    assert len(reasons) >= 9


def test_every_choice_has_a_sentence_with_a_figure() -> None:
    settings, reasons = choose_settings(zermelo.game("connect4"), CONNECT4)
    text = " ".join(reasons)
    spoken_of = {f"{section}.{key}" for section, table in settings.items() for key in table}
    assert [name for name in sorted(spoken_of) if name not in text] == []
    assert all(any(letter.isdigit() for letter in reason) for reason in reasons)


def test_what_the_rules_say_is_measured_the_same_every_time() -> None:
    game = zermelo.game("othello?size=6")
    one, other = measure(game, 1.0), measure(game, 1.0)
    for name in ("games", "branching", "plies", "long_plies", "unfinished"):
        assert getattr(one, name) == getattr(other, name)


def test_speed_only_chooses_between_sizes() -> None:
    game = zermelo.game("connect4")
    fast, _ = choose_settings(game, CONNECT4)
    slow, _ = choose_settings(
        game,
        dataclasses.replace(CONNECT4, evaluations_per_second=500.0, plies_per_second=2000.0),
    )
    assert slow["network"]["filters"] < fast["network"]["filters"]
    assert slow["selfplay"]["simulations"] <= fast["selfplay"]["simulations"]
    assert slow["loop"]["samples_per_iteration"] < fast["loop"]["samples_per_iteration"]
    for section, key in (
        ("search", "dirichlet_alpha"),
        ("selfplay", "temperature_plies"),
        ("selfplay", "max_plies"),
        ("replay", "window_max"),
    ):
        assert slow[section][key] == fast[section][key]


def test_noise_and_length_follow_the_game() -> None:
    settings, _ = choose_settings(zermelo.game("connect4"), CONNECT4)
    assert settings["search"]["dirichlet_alpha"] == pytest.approx(10 / 6.7, abs=0.01)
    assert settings["selfplay"]["temperature_plies"] == 11
    assert settings["selfplay"]["max_plies"] == 96
    wide = dataclasses.replace(
        CONNECT4, branching=100.0, plies=100.0, long_plies=120, evaluations_per_second=200_000.0
    )
    broad, _ = choose_settings(zermelo.game("hex"), wide)
    assert broad["search"]["dirichlet_alpha"] == pytest.approx(0.1)
    assert broad["selfplay"]["full_search_probability"] < 1
    assert broad["network"]["filters"] > settings["network"]["filters"]


def test_the_steps_of_an_iteration_are_those_that_the_loop_makes() -> None:
    settings, reasons = choose_settings(zermelo.game("connect4"), CONNECT4)
    samples = settings["loop"]["samples_per_iteration"]
    steps = round(settings["train"]["reuse"] * samples / settings["train"]["batch"])  # most_batches
    assert settings["train"]["reuse"] == 2
    assert any(f"are {steps} steps an iteration" in reason for reason in reasons)


def test_the_bounds_of_the_longest_game_are_told() -> None:
    endless = dataclasses.replace(CONNECT4, long_plies=1000, unfinished=1.0)
    settings, reasons = choose_settings(zermelo.game("connect4"), endless)
    assert settings["selfplay"]["max_plies"] == 1024
    assert any("max_plies is 1024" in reason and "from 16 to 1024" in reason for reason in reasons)


def test_a_game_that_goes_on_without_legal_actions_is_no_traceback() -> None:
    class Stuck:
        name = "stuck"

        def initial(self) -> int:
            return 0

        def outcome(self, _: int) -> None:
            return None

        def legal_actions(self, state: int) -> list[int]:
            return [] if state == 3 else [0]

        def play(self, state: int, _: int) -> int:
            return state + 1

    with pytest.raises(UserError, match=r"after 3 plies, but legal_actions\(\) is empty"):
        measure(Stuck(), 1.0)  # type: ignore[arg-type]


def test_few_simulations_for_many_actions_are_searched_by_halving() -> None:
    settings, reasons = choose_settings(zermelo.game("hex"), SLOW)
    assert settings["selfplay"]["simulations"] < 120
    assert settings["search"]["gumbel"] is True
    assert any("search.gumbel is on" in reason for reason in reasons)


def test_a_gumbel_root_is_given_no_noise() -> None:
    settings, reasons = choose_settings(zermelo.game("hex"), SLOW)
    assert settings["search"] == {"gumbel": True}
    assert not any("dirichlet" in reason for reason in reasons)


@pytest.mark.parametrize(("game", "found"), [("hex", SLOW), ("connect4", CONNECT4)])
def test_games_differ_by_openings_and_samples_with_gumbel_and_without(
    game: str, found: Measured
) -> None:
    short = dataclasses.replace(found, plies=18.0)
    settings = choose_settings(zermelo.game(game), short)[0]["selfplay"]
    assert settings["opening_share"] == pytest.approx(0.9)
    assert settings["opening_temperature"] == pytest.approx(3)
    assert settings["opening_plies"] == settings["temperature_plies"] == 9


def test_plies_of_openings_are_not_counted_as_samples() -> None:
    found = dataclasses.replace(CONNECT4, plies=20.0)  # openings of 1 to 10 plies in 9 of 10 games
    given = {"selfplay": {"full_search_probability": 1.0}}
    _, reasons = choose_settings(zermelo.game("connect4"), found, given)
    assert any("a game gives about 15 samples" in reason for reason in reasons)
    given["selfplay"]["opening_share"] = 0.0
    _, reasons = choose_settings(zermelo.game("connect4"), found, given)
    assert any("a game gives about 20 samples" in reason for reason in reasons)


def test_what_depends_on_a_given_value_follows_it() -> None:
    game = zermelo.game("connect4")
    usual, _ = choose_settings(game, CONNECT4)
    given = {"selfplay": {"simulations": 400, "full_search_probability": 1.0}}
    settings, reasons = choose_settings(game, CONNECT4, given)
    assert "selfplay.simulations is 400: as it was set" in reasons
    assert "simulations" not in settings["selfplay"]
    assert "full_search_probability" not in settings["selfplay"]
    samples, fewer = (s["loop"]["samples_per_iteration"] for s in (usual, settings))
    assert fewer < samples
    # The reason's own figures are of a search of 400: with so many a second, in that time.
    rate, seconds = rate_and_seconds(reasons)
    assert rate * seconds == pytest.approx(fewer, rel=0.1)


def rate_and_seconds(reasons: list[str]) -> tuple[float, float]:
    """Samples a second, and seconds of an iteration's self-play, as a reason has them."""
    found = (re.search(r"about (\d+) samples a second.*about (\d+) seconds", r) for r in reasons)
    match = next(each for each in found if each)
    return float(match[1]), float(match[2])


def test_a_given_search_without_gumbel_has_its_noise_chosen() -> None:
    settings, reasons = choose_settings(zermelo.game("hex"), SLOW, {"search": {"gumbel": False}})
    assert settings["search"] == {"dirichlet_alpha": pytest.approx(0.17)}
    assert "search.gumbel is off: as it was set" in reasons


def test_a_given_size_of_the_network_sets_the_speed_that_simulations_are_chosen_by() -> None:
    game = zermelo.game("connect4")
    small, _ = choose_settings(game, CONNECT4)
    large, reasons = choose_settings(game, CONNECT4, {"network": {"blocks": 40, "filters": 512}})
    assert large["network"] == {}
    assert large["selfplay"]["simulations"] < small["selfplay"]["simulations"]
    assert "network.filters is 512: as it was set" in reasons


def test_a_search_with_random_games_is_an_opponent_where_it_is_quick_enough() -> None:
    game = zermelo.game("connect4")
    fast, _ = choose_settings(game, CONNECT4)
    slower, _ = choose_settings(game, dataclasses.replace(CONNECT4, plies_per_second=36_000.0))
    slow, reasons = choose_settings(game, dataclasses.replace(CONNECT4, plies_per_second=900.0))
    assert fast["evaluate"]["opponents"] == "random policy rollout?simulations=1000"
    assert slower["evaluate"]["opponents"] == "random policy rollout?simulations=200"
    assert slow["evaluate"]["opponents"] == "random policy"
    assert "more than 8 seconds" in " ".join(reasons)
    assert fast["evaluate"]["ladder"] == 2


def test_a_run_with_a_time_has_many_small_searches_on_a_small_tower() -> None:
    game = zermelo.game("connect4")
    slower = dataclasses.replace(
        CONNECT4, branching=50.0, plies=60.0, plies_per_second=20_000.0, evaluations_per_second=4e3
    )
    usual, _ = choose_settings(game, slower)
    timed, reasons = choose_settings(game, slower, time=300.0)
    assert timed["selfplay"]["simulations"] == 48
    assert usual["selfplay"]["simulations"] > 48
    assert timed["search"]["gumbel"] is True
    assert timed["selfplay"]["full_search_probability"] == 1
    timed_size, usual_size = (
        s["network"]["blocks"] * s["network"]["filters"] for s in (timed, usual)
    )
    assert timed_size < usual_size
    assert (timed["train"]["optimiser"], timed["train"]["threads"]) == ("muon", 1)
    assert timed["train"]["reuse"] > usual["train"]["reuse"]
    assert any("train.threads is 1: on a busy machine" in reason for reason in reasons)


def test_very_slow_rules_have_even_smaller_searches() -> None:
    settings, _ = choose_settings(zermelo.game("hex"), SLOW, time=300.0)
    assert settings["selfplay"]["simulations"] < 48


def test_a_processor_network_that_was_asked_for_has_its_sizes_and_speed() -> None:
    game = zermelo.game("connect4")
    found = dataclasses.replace(CONNECT4, sparse_per_second=300_000.0)
    given = {"network": {"kind": "sparse"}}
    settings, _ = choose_settings(game, found, given, time=300.0)
    assert settings["network"]["hidden"] == 128
    assert "blocks" not in settings["network"]
    assert "optimiser" not in settings["train"]
    tower, _ = choose_settings(game, found, time=300.0)
    assert settings["loop"]["samples_per_iteration"] > tower["loop"]["samples_per_iteration"]


def test_a_time_and_not_a_number_of_iterations_ends_a_run() -> None:
    game = zermelo.game("connect4")
    for time in (300.0, 36_000.0):
        settings, reasons = choose_settings(game, CONNECT4, time=time)
        _, seconds = rate_and_seconds(reasons)
        assert settings["loop"]["iterations"] * seconds > 2 * time
    assert "iterations" not in choose_settings(game, CONNECT4)[0]["loop"]
    given = {"loop": {"iterations": 7}}
    assert "iterations" not in choose_settings(game, CONNECT4, given, time=300.0)[0]["loop"]
