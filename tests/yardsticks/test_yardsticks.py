"""Yardsticks as a whole: which there are, and the hook of the loop."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from made_checkpoints import made_checkpoints
from small_networks import small_weights

import zermelo
from zermelo.errors import UserError
from zermelo.network import NetworkEvaluator
from zermelo.network.runtimes import installed_backends
from zermelo.options import make_options
from zermelo.search import RolloutEvaluator, UniformEvaluator
from zermelo.statistics.rating import ColourSplit
from zermelo.yardsticks.games import OpponentYardstick
from zermelo.yardsticks.ladder import (
    LadderYardstick,
    network_pairs,
)
from zermelo.yardsticks.ladder_file import LadderOptions
from zermelo.yardsticks.measure import (
    CheckpointYardsticks,
    EvaluateOptions,
    headline,
    measure,
    yardsticks_for,
)
from zermelo.yardsticks.suite import SuiteYardstick

BAD_ENGINE = Path(__file__).parents[1] / "matches" / "bad_engine.py"
CONNECT4: Any = zermelo.game("connect4")
TICTACTOE: Any = zermelo.game("tictactoe")
CHESS: Any = zermelo.game("chess")


def test_a_suite_counts_what_the_search_and_the_policy_solve(tmp_path: Path) -> None:
    path = tmp_path / "two.epd"
    path.write_text(
        '6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - bm Rd8#; id "mate";\n'
        '6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - am Rd8#; id "anything else";\n'
    )
    found = SuiteYardstick(CHESS, path, simulations=400).run(UniformEvaluator())
    assert found["two.solved"] == 0.5
    assert found["two.policy_solved"] == 0.5
    assert found["two.positions"] == 2
    with pytest.raises(UserError, match="about chess, not connect4"):
        SuiteYardstick(CONNECT4, path)


def test_a_suite_asks_for_moves_only_where_they_are_known(tmp_path: Path) -> None:
    path = tmp_path / "mates.epd"
    board = "6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - -"
    path.write_text(f"{board} dm 1;\n{board} bm Rd8#; dm 1;\n")
    assert (
        SuiteYardstick(CHESS, path, simulations=1).run(UniformEvaluator())["mates.positions"] == 1
    )
    path.write_text(f"{board} dm 1;\n")
    with pytest.raises(UserError, match="holds mates"):
        SuiteYardstick(CHESS, path)


def test_a_suite_is_judged_whole_however_short_the_time_is(tmp_path: Path) -> None:
    path = tmp_path / "many.epd"
    path.write_text("6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - bm Rd8#;\n" * 70)
    polls: list[int] = []
    suite = SuiteYardstick(CHESS, path, simulations=1)
    found = suite.run(UniformEvaluator(), 1e-9, lambda: polls.append(1))
    assert found["many.positions"] == 70
    assert len(polls) == 2  # before each part of 64


@pytest.mark.parametrize(
    ("game", "names"),
    [
        ("connect4", ["connect4", "random", "policy"]),
        ("tictactoe", ["tictactoe", "random", "policy"]),
        ("othello?size=6", ["random", "policy"]),
    ],
)
def test_each_game_has_its_yardsticks(game: str, names: list[str]) -> None:
    found = yardsticks_for(zermelo.game(game))
    assert [yardstick.name for yardstick in found] == names


def test_engines_that_are_not_installed_are_left_out() -> None:
    options = EvaluateOptions(opponents="random uci:no-such-engine?UCI_Elo=1500")
    assert [y.name for y in yardsticks_for(CHESS, options)] == ["chess_mates", "random"]


def written_engine(folder: Path, manner: str) -> str:
    """A player without blanks in its text, as lists of opponents need them."""
    program = folder / "engine"
    program.write_text(f"#!/bin/sh\nexec '{sys.executable}' '{BAD_ENGINE}' {manner}\n")
    program.chmod(0o755)
    return f"uci:{program}"


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ("UCI_Elo=100", "Bad Engine: "),
        ("UCI_Ello=1500", "Bad Engine has no option 'UCI_Ello'; did you mean 'UCI_Elo'?"),
    ],
)
def test_a_wrong_option_of_an_engine_is_refused_before_anything_is_played(
    tmp_path: Path, settings: str, sentence: str
) -> None:
    opponent = written_engine(tmp_path, "behaves")
    yardsticks_for(CHESS, EvaluateOptions(opponents=f"{opponent}?UCI_Elo=1500"))
    with pytest.raises(UserError) as caught:
        yardsticks_for(CHESS, EvaluateOptions(opponents=f"{opponent}?{settings}"))
    assert str(caught.value).startswith(f"[evaluate]: {sentence}")


def test_an_engine_that_does_not_start_is_refused() -> None:
    with pytest.raises(UserError, match=r"'uci:/bin/cat\?.*' cannot play: no start: no answer"):
        yardsticks_for(CHESS, EvaluateOptions(opponents="uci:/bin/cat?start=0.5"))


def test_a_yardstick_that_fails_is_noted_and_the_others_are_taken() -> None:
    class Broken:
        name = "broken"

        def run(self, *_: Any) -> dict[str, float]:
            raise UserError("it is gone")

    notes: list[str] = []
    chance = OpponentYardstick(TICTACTOE, "random", games=2, simulations=1)
    found = measure([Broken(), chance], UniformEvaluator(), note=notes.append)
    assert notes == ["broken is not measured: it is gone"]
    assert set(found) >= {"random.score", "seconds"}
    with pytest.raises(UserError, match="it is gone"):
        measure([Broken(), chance], UniformEvaluator())


def test_all_yardsticks_share_the_time_and_give_plain_numbers() -> None:
    options = EvaluateOptions(simulations=4, games=4, perfect_games=2, positions=50)
    found = measure(yardsticks_for(CONNECT4, options), RolloutEvaluator(seed=1), 5.0)
    assert all(type(value) is float for value in found.values())
    for name in ("connect4.keeps_value", "perfect.wins", "random.score", "policy.score"):
        assert found[name] >= 0.0
    assert found["connect4.positions"] == 50


def test_a_poll_that_raises_ends_the_measurement() -> None:
    def stop() -> None:
        raise KeyboardInterrupt

    for yardstick in yardsticks_for(CONNECT4, EvaluateOptions(simulations=1, perfect_games=1)):
        with pytest.raises(KeyboardInterrupt):
            yardstick.run(UniformEvaluator(), 0.0, stop)


def test_options_are_checked_like_those_of_every_section() -> None:
    assert make_options(EvaluateOptions, {"simulations": "50"}, "[evaluate]").simulations == 50
    with pytest.raises(UserError, match="simulations is 0"):
        make_options(EvaluateOptions, {"simulations": 0}, "[evaluate]")


def test_a_checkpoints_network_is_measured_and_the_next_one_takes_its_place() -> None:
    backend = installed_backends()[0]
    run = SimpleNamespace(
        config=SimpleNamespace(pool=SimpleNamespace(backend=backend, precision="f32"))
    )
    options = EvaluateOptions(simulations=8, games=2, positions=100, seconds=0.0)
    hook = CheckpointYardsticks(CONNECT4, options)
    found = []
    for seed in (1, 2, 1):
        weights = small_weights(seed=seed)
        found.append(hook(SimpleNamespace(weights=lambda w=weights: w), run))
    direct = measure(hook.yardsticks, NetworkEvaluator(small_weights(seed=2), backend))
    for figures_of in (*found, direct):
        figures_of.pop("seconds")
    assert found[0] == found[2] != found[1]
    assert found[1] == direct


def test_what_could_not_be_measured_is_among_the_figures_as_notes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(self: LadderYardstick, *_: Any) -> dict[str, float]:
        assert self.note is not None
        self.note("first")
        raise UserError("second")

    monkeypatch.setattr(LadderYardstick, "run", run)
    pool = SimpleNamespace(backend=installed_backends()[0], precision="f32")
    place = SimpleNamespace(path=tmp_path, config=SimpleNamespace(pool=pool))
    hook = CheckpointYardsticks(TICTACTOE, EvaluateOptions(ladder=1, games=0, simulations=1))
    found = hook(made_checkpoints(tmp_path, 1)[0], place)
    assert found["notes"] == ["first", "ladder is not measured: second"]


def test_two_networks_meet_side_by_side(tmp_path: Path) -> None:
    options = LadderOptions(games=6, simulations=10, openings="random:2")
    backend = installed_backends()[0]
    one, other = (
        NetworkEvaluator(made.weights(), backend, game=TICTACTOE)
        for made in made_checkpoints(tmp_path, 2)
    )
    split = ColourSplit.of_pairs(network_pairs(TICTACTOE, (one, other), options))
    swapped = ColourSplit.of_pairs(network_pairs(TICTACTOE, (other, one), options))
    assert split.total.games == 6
    assert split.total == swapped.total.reversed()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"opponents": "random randon"}, "[evaluate]: there is no player 'randon'; did you mean"),
        ({"opponents": "human"}, "without people: 'human' cannot take part"),
        ({"openings": "random:four"}, "[evaluate]: openings 'random:four'"),
        (
            {"opponents": "rollout?simulations=9 rollout?nodes=9"},
            "2 yardsticks are called 'rollout_9'",
        ),
        (
            {"openings": "nowhere.epd", "games": 0, "ladder": 1},
            "[evaluate]: openings 'nowhere.epd'",
        ),
    ],
)
def test_what_is_misspelt_is_refused_before_anything_is_played(
    options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(UserError) as caught:
        yardsticks_for(TICTACTOE, EvaluateOptions(**options))
    assert sentence in str(caught.value)


def test_the_headline_tells_a_beaten_network_from_a_walk_that_was_cut_short() -> None:
    figures = {"tictactoe.never_loses": 0.0, "tictactoe.losses_first": 0.0}
    assert headline(figures) == "tictactoe not lost so far (not all lines walked)"
    assert headline(figures | {"tictactoe.losses_second": 2.0}) == "tictactoe can be beaten"
    assert headline({"tictactoe.never_loses": 1.0}) == "tictactoe never loses"


def test_the_headline_has_the_figures_that_matter() -> None:
    shown = headline(
        {
            "connect4.keeps_value": 0.9876,
            "connect4.value_error": 0.1,
            "perfect.wins": 7.0,
            "perfect.games": 10.0,
            "random.score": 1.0,
            "ladder.elo": 120.4,
            "ladder.margin": 33.3,
            "ladder.score": 0.6,
            "ladder.gain": 12.3,
            "ladder.gain_margin": 9.8,
        }
    )
    assert shown == (
        "connect4 keeps value 98.8%, perfect beaten 7 of 10, random 100%, Elo +120 ± 33, "
        "+12 ± 10 since the last rating"
    )


def test_the_perfect_player_as_an_opponent_has_a_name_of_its_own() -> None:
    options = EvaluateOptions(positions=0, perfect_games=1, opponents="perfect")
    names = [yardstick.name for yardstick in yardsticks_for(CONNECT4, options)]
    assert names == ["perfect", "perfect_player"]


def test_importing_the_yardsticks_needs_no_torch() -> None:
    code = "import sys, zermelo.yardsticks.measure; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
