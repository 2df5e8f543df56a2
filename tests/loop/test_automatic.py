"""Automatic settings: measured, explained, and accepted by a run file."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

import zermelo
from zermelo.config import RunConfig
from zermelo.errors import UserError
from zermelo.selfplay.automatic import Measured, automatic_settings, choose_settings, measure

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


@pytest.mark.parametrize("name", ["tictactoe", "connect4", "hex?size=7", "chess", MY_GAME])
def test_the_settings_make_a_valid_run_file(name: str) -> None:
    settings, reasons = automatic_settings(zermelo.game(name), seconds=0.5)
    config = RunConfig.from_tables({"game": {"name": name}, **settings})
    assert config.selfplay.simulations == settings["selfplay"]["simulations"]
    assert len(reasons) >= 9


def test_every_choice_has_a_sentence_with_a_figure() -> None:
    settings, reasons = choose_settings(zermelo.game("connect4"), CONNECT4)
    text = " ".join(reasons)
    spoken_of = {
        f"{section}.{key}"
        for section, table in settings.items()
        for key in table
        if key not in ("fast_fraction", "window_start", "window_growth", "max_samples")
    }
    assert [name for name in sorted(spoken_of) if name not in text] == []
    assert all(any(letter.isdigit() for letter in reason) for reason in reasons)


def test_what_the_rules_say_is_measured_the_same_every_time() -> None:
    game = zermelo.game("othello?size=6")
    one, other = measure(game, 1.0), measure(game, 1.0)
    for name in ("games", "branching", "plies", "long_plies", "unfinished"):
        assert getattr(one, name) == getattr(other, name)
    assert choose_settings(game, one) == choose_settings(game, one)


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
    wide = dataclasses.replace(CONNECT4, branching=100.0, plies=100.0, long_plies=120)
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
    slow = dataclasses.replace(
        CONNECT4, branching=60.0, evaluations_per_second=900.0, plies_per_second=900.0
    )
    settings, reasons = choose_settings(zermelo.game("hex"), slow)
    assert settings["selfplay"]["simulations"] < 120
    assert settings["search"]["gumbel"] is True
    assert any("search.gumbel" in reason for reason in reasons)
