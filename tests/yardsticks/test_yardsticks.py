"""Yardsticks as a whole: which there are, the hook of the loop, the command."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import typer
from exact_player import position_file
from small_networks import small_weights
from typer.testing import CliRunner

import zermelo
from zermelo.checkpoint import Checkpoint, CheckpointStore, TrainingState
from zermelo.cli import yardstick as command
from zermelo.config import RunConfig
from zermelo.errors import UserError
from zermelo.network import NetworkEvaluator
from zermelo.network.runtimes import installed_backends
from zermelo.options import make_options, option_table
from zermelo.search import RolloutEvaluator, UniformEvaluator
from zermelo.statistics.rating import ColourSplit, PairPoints
from zermelo.yardsticks.games import FIRST_PAIRS, OpponentYardstick
from zermelo.yardsticks.ladder import (
    LadderYardstick,
    ladder_options,
    needed_checkpoints,
    network_pairs,
)
from zermelo.yardsticks.ladder_file import Ladder, LadderOptions
from zermelo.yardsticks.measure import (
    CheckpointYardsticks,
    EvaluateOptions,
    headline,
    measure,
    yardsticks_for,
)
from zermelo.yardsticks.suite import SuiteYardstick

ROOT = Path(__file__).parents[2]
BAD_ENGINE = Path(__file__).parents[1] / "matches" / "bad_engine.py"
CONNECT4: Any = zermelo.game("connect4")
TICTACTOE: Any = zermelo.game("tictactoe")
CHESS: Any = zermelo.game("chess")


# ---- suites, options, the loop ------------------------------------------------------------------


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
    assert [y.name for y in yardsticks_for(CHESS, options)] == ["random"]


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


def made_checkpoints(folder: Path, count: int) -> list[Checkpoint]:
    store = CheckpointStore(folder / "checkpoints", keep=max(3, count))
    return [
        store.save(number, small_weights("tictactoe", number), TrainingState({}, {}))
        for number in range(count)
    ]


def climb(
    checkpoint: Checkpoint,
    seconds: float = 0.0,
    poll: Any = None,
    note: Any = None,
    **options: Any,
) -> dict[str, float]:
    """One checkpoint's games with those before it."""
    chosen: dict[str, Any] = {"simulations": 4, "ladder": 2, "ladder_games": 6}
    chosen |= {"openings": "random:2"} | options
    backend = installed_backends()[0]
    yardstick = LadderYardstick(
        TICTACTOE,
        checkpoint.directory,
        checkpoint.directory.parents[1] / "ladder",
        ladder_options(EvaluateOptions(**chosen)),
        runtime=(backend, "f32"),
        note=note,
    )
    evaluator = NetworkEvaluator(checkpoint.weights(), backend, game=TICTACTOE)
    return yardstick.run(evaluator, seconds, poll)


@pytest.mark.technique("E3")
def test_a_checkpoint_meets_those_before_it_on_the_ladder(tmp_path: Path) -> None:
    checkpoints = made_checkpoints(tmp_path, 3)
    assert climb(checkpoints[0]) == {}  # nobody is there to meet
    assert climb(checkpoints[1])["ladder.games"] == 6
    found = climb(checkpoints[2])
    assert found["ladder.games"] == 12
    assert found["ladder.margin"] > 0
    assert found["ladder.gain_margin"] > 0
    assert climb(checkpoints[2]) == found  # nothing is played twice


def test_a_damaged_checkpoint_is_noted_and_not_met(tmp_path: Path) -> None:
    checkpoints = made_checkpoints(tmp_path, 4)
    for checkpoint in checkpoints[1:3]:
        climb(checkpoint)
    (checkpoints[2].directory / "weights.safetensors").write_bytes(b"nothing")
    notes: list[str] = []
    found = climb(checkpoints[3], note=notes.append)
    assert found["ladder.games"] == 6  # with the other one
    assert len(notes) == 1
    assert notes[0].startswith("checkpoint 000002: weights.safetensors has 7 bytes")
    assert notes[0].endswith("; the ladder goes on without it")


def test_checkpoints_that_the_next_will_meet_stay(tmp_path: Path) -> None:
    folder = tmp_path / "ladder"
    options = EvaluateOptions(ladder=1, every=7)
    store = CheckpointStore(
        tmp_path / "checkpoints", needed=lambda: needed_checkpoints(folder, options)
    )
    ratings = []
    for number in range(22):
        weights = small_weights("tictactoe", number)
        made = store.save(number, weights, TrainingState({}, {}))
        if number and number % 7 == 0:
            ratings.append(climb(made, ladder=1).get("ladder.elo"))
    assert store.list() == [7, 14, 19, 20, 21]  # two that were rated, and the newest three
    assert None not in ratings and len(ratings) == 3
    assert needed_checkpoints(folder, EvaluateOptions(ladder=0)) == []


def test_a_damaged_ladder_keeps_no_checkpoint_from_being_saved(tmp_path: Path) -> None:
    (tmp_path / "meetings.jsonl").write_text("{}\n")
    assert needed_checkpoints(tmp_path, EvaluateOptions(ladder=1)) == []


def test_each_checkpoint_has_openings_of_its_own_on_the_ladder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seeds: list[int] = []

    def meet(game: Any, networks: Any, options: LadderOptions, *_: Any) -> list[PairPoints]:
        seeds.append(options.seed)
        return [(1.0, 0.0)]

    monkeypatch.setattr("zermelo.yardsticks.ladder.network_pairs", meet)
    checkpoints = made_checkpoints(tmp_path, 3)
    for checkpoint in checkpoints[1:]:
        climb(checkpoint)
    assert len(set(seeds)) == 2
    again = seeds[-1]
    (tmp_path / "ladder" / "meetings.jsonl").unlink()
    climb(checkpoints[2])
    assert seeds[-1] == again


def test_a_short_time_on_the_ladder_is_a_few_pairs_with_one_opponent(tmp_path: Path) -> None:
    checkpoints = made_checkpoints(tmp_path, 3)
    for checkpoint in checkpoints[1:]:
        assert climb(checkpoint, seconds=1e-6)["ladder.games"] == 2 * FIRST_PAIRS


def test_the_ladder_hears_that_all_should_end(tmp_path: Path) -> None:
    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        climb(made_checkpoints(tmp_path, 2)[1], poll=stop)


def test_games_of_the_ladder_that_are_too_long_are_draws(tmp_path: Path) -> None:
    checkpoints = made_checkpoints(tmp_path, 2)
    assert climb(checkpoints[1], max_plies=3)["ladder.score"] == 0.5


def test_checkpoints_between_two_evaluations_do_not_break_the_chain(tmp_path: Path) -> None:
    checkpoints = made_checkpoints(tmp_path, 7)
    for number in (3, 6):  # as with every = 3
        assert climb(checkpoints[number])["ladder.games"] >= 6
    names = Ladder(tmp_path / "ladder").names
    assert names == ["000000", "000003", "000006"]


def test_the_ladder_has_its_part_of_the_time_and_the_runs_runtime(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[tuple[Any, ...]] = []

    def run(self: LadderYardstick, _: Any, seconds: float, poll: Any) -> dict[str, float]:
        heard.append((seconds, poll, self.runtime, self.options.max_plies))
        return {"ladder.elo": 1.0}

    monkeypatch.setattr(LadderYardstick, "run", run)
    backend = installed_backends()[0]
    pool = SimpleNamespace(backend=backend, precision="int8")
    place = SimpleNamespace(path=tmp_path, config=SimpleNamespace(pool=pool))
    options = EvaluateOptions(ladder=1, games=0, simulations=1, seconds=100.0, max_plies=9)
    hook = CheckpointYardsticks(TICTACTOE, options, poll=print)
    assert hook(made_checkpoints(tmp_path, 1)[0], place)["ladder.elo"] == 1.0
    seconds, *others = heard[0]
    assert 50 < seconds <= 100  # what the other yardstick left
    assert others == [print, (backend, "f32"), 9]


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


# ---- the command --------------------------------------------------------------------------------


def ask(*arguments: str) -> Any:
    app = typer.Typer()
    command.add_to(app)
    return CliRunner().invoke(app, list(arguments))


def test_the_command_prints_json_with_stable_keys() -> None:
    done = ask("connect4", "--evaluator", "uniform", "--simulations", "8", "--limit", "40",
               "--positions", "generated", "--perfect", "3", "--json")  # fmt: skip
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert set(found) == {"game", "evaluator", "simulations", "search", "metrics", "mistakes"}
    assert found["metrics"]["connect4.positions"] == 40
    assert found["metrics"]["connect4.judged"] == 27
    assert found["metrics"]["perfect.games"] == 3
    assert found["mistakes"][0]["games"] == 3


def test_the_command_searches_as_the_run_does_unless_told_otherwise(tmp_path: Path) -> None:
    made_checkpoints(tmp_path, 1)
    tables = {"game": {"name": "tictactoe"}, "search": {"gumbel": True, "c_puct": 2.0}}
    (tmp_path / "run.toml").write_text(RunConfig.from_tables(tables).to_toml({"format": 1}))
    asked = ("tictactoe", "--simulations", "2", "--opponents", "random", "--games", "2",
             "--backend", "onnx", "--json")  # fmt: skip
    for place in (tmp_path, tmp_path / "checkpoints" / "000000"):
        done = ask(*asked, "--weights", str(place), "--set", "c_puct=3")
        assert done.exit_code == 0, done.output
        assert json.loads(done.stdout)["search"] == {"c_puct": 3.0, "gumbel": True}
    (tmp_path / "run.toml").unlink()
    done = ask(*asked, "--weights", str(tmp_path))
    assert json.loads(done.stdout)["search"] == {}


def test_the_command_measures_files_with_its_own_cache(tmp_path: Path) -> None:
    file, cache = position_file(tmp_path, count=6), tmp_path / "results.txt"
    done = ask("connect4", "--evaluator", "uniform", "--simulations", "20",
               "--positions", str(file), "--cache", str(cache))  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "connect4.Test_L9_R9.keeps_value" in done.stdout
    assert cache.read_text().strip()


def test_the_limit_of_the_command_holds_for_suites_too(tmp_path: Path) -> None:
    path = tmp_path / "many.epd"
    path.write_text("6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - bm Rd8#;\n" * 5)
    done = ask("chess", "--evaluator", "uniform", "--simulations", "1",
               "--suite", str(path), "--limit", "2", "--json")  # fmt: skip
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["metrics"]["many.positions"] == 2


def test_the_command_shows_a_table_for_any_game() -> None:
    done = ask("tictactoe", "--evaluator", "uniform", "--simulations", "500", "--games", "2")
    assert done.exit_code == 0, done.output
    assert "tictactoe.never_loses" in done.stdout and "random.score" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["connect4"], "which network"),
        (
            ["connect4", "--evaluator", "uniform", "--positions", "nowhere"],
            "no positions 'nowhere'",
        ),
        (["tictactoe", "--evaluator", "uniform", "--positions", "generated"], "is for connect4"),
        (["tictactoe", "--evaluator", "uniform", "--set", "foo"], "--set 'foo' should look like"),
        (["tictactoe", "--evaluator", "uniform", "--perfect", "3"], "is for connect4"),
        (["connect4", "--weights", "nowhere.onnx"], "there is no network"),
        (
            ["connect4", "--evaluator", "uniform", "--perfect", "1", "--games", "2"],
            "--games counts games against --opponents, and none is named",
        ),
        (
            ["chess", "--evaluator", "uniform", "--opponents", "uci:no-such-engine"],
            "--opponents: 'uci:no-such-engine' is not installed",
        ),
        (
            ["chess", "--evaluator", "uniform", "--opponents", "uci:/bin/cat?start=0.5"],
            "cannot play: no start: no answer to uci",
        ),
        (
            ["connect4", "--evaluator", "uniform", *["--positions", "generated"] * 2],
            "2 yardsticks are called 'connect4'",
        ),
    ],
)
def test_mistakes_are_told_in_one_sentence(arguments: list[str], sentence: str) -> None:
    done = ask(*arguments)
    assert isinstance(done.exception, UserError)
    assert sentence in str(done.exception)


def test_the_guide_names_every_option_with_its_default() -> None:
    guide = (ROOT / "docs" / "guide" / "yardsticks.md").read_text()
    rows = [line.split("|")[1:3] for line in guide.splitlines() if line.startswith("| `")]
    shown = {
        name.strip(" `"): default.strip(" `")
        for names, defaults in rows
        for name, default in zip(names.split(", "), defaults.split(", "), strict=False)
    }
    for row in option_table(EvaluateOptions):
        default = row["default"]
        text = f"{default:g}" if isinstance(default, float) else str(default)
        if isinstance(default, bool):
            text = "on" if default else "off"
        assert shown[row["name"]] == text
