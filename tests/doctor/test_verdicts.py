"""The doctor's limits: what chance, small games and older iterations explain is not ill."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import zermelo
from zermelo.config import RunConfig
from zermelo.doctor import diagnose as doctor
from zermelo.doctor import games, network, pace, targets
from zermelo.doctor.diagnose import HEALTHY, ILL, UNKNOWN, Finding
from zermelo.doctor.evidence import Evidence, Predictions, across
from zermelo.doctor.finding import more_variety, verdict
from zermelo.doctor.held_out import values as held_out_values
from zermelo.doctor.random_games import RandomGames, play_random
from zermelo.doctor.search import adds_nothing, sided
from zermelo.errors import UserError
from zermelo.replay import Schema, ShardHeader
from zermelo.replay.samples import FULL

SCHEMA = Schema.of(zermelo.game("connect4"))
CONFIG = RunConfig.from_tables({"game": {"name": "connect4"}})
NO_GAMES = RandomGames(None, (), ())
ALL_DIFFERENT = RandomGames(None, tuple((number,) for number in range(200)), (1,) * 200)


class Stated(Evidence):
    """Evidence that is stated instead of read."""

    samples: Any = None
    shard_iterations: Any = None
    random_games: Any = NO_GAMES

    def __init__(self, **stated: Any) -> None:
        self.metrics = [{"iteration": 1}]
        self.pretrained = False
        self.config = CONFIG
        for name, value in stated.items():
            setattr(self, name, value)


class Subtraction:
    """Seven counters, of which one or two are taken; who takes the last wins: 21 lines of play."""

    name, num_actions, observation_shape = "subtraction", 2, (1, 1, 8)

    def initial(self) -> tuple[int, int]:
        return 7, 0

    def legal_actions(self, state: tuple[int, int]) -> list[int]:
        return [action for action in (0, 1) if action < state[0]]

    def play(self, state: tuple[int, int], action: int) -> tuple[int, int]:
        return state[0] - action - 1, 1 - state[1]

    def player(self, state: tuple[int, int]) -> int:
        return state[1]

    def outcome(self, state: tuple[int, int]) -> zermelo.Outcome | None:
        if state[0]:
            return None
        return zermelo.Outcome.SECOND_WINS if state[1] == 0 else zermelo.Outcome.FIRST_WINS

    def observe(self, state: tuple[int, int]) -> Any:
        return (np.arange(8).reshape(1, 1, 8) == state[0]).astype(np.float32)


def header(iteration: int, **statistics: Any) -> ShardHeader:
    return ShardHeader(
        schema=SCHEMA,
        iteration=iteration,
        worker=0,
        number=0,
        samples=1000,
        entries=7000,
        games=50,
        iterations=(iteration, iteration),
        statistics={"games": 50, **statistics},
    )


# ---- resignation ---------------------------------------------------------------------------------


def test_resignation_is_judged_at_the_threshold_in_force() -> None:
    lost, saved = [[-0.8, -1]] * 20, [[-0.1, 0]] * 20
    headers = [
        header(0, resign_threshold=0.0, resigned=40, audit=lost + saved),
        header(1, resign_threshold=-0.7, resigned=5, audit=lost),
    ]
    finding = games.resignation(Stated(headers=headers))
    assert (finding.verdict, finding.figure) == (HEALTHY, 0.0)
    assert finding.figures == {"threshold": -0.7, "resigned": pytest.approx(0.1)}
    assert games.resignation(Stated(headers=headers[:1])).verdict == ILL


@pytest.mark.parametrize(("wrong", "expected"), [(2, HEALTHY), (3, HEALTHY), (4, ILL), (6, ILL)])
def test_a_few_wrong_resignations_may_be_chance(wrong: int, expected: str) -> None:
    audit = [[-0.8, 0]] * wrong + [[-0.8, -1]] * (10 - wrong)
    headers = [header(0, resign_threshold=-0.6, resigned=5, audit=audit)]
    assert games.resignation(Stated(headers=headers)).verdict == expected


def test_a_high_threshold_without_noted_games_is_ill_unless_it_was_calibrated() -> None:
    headers = [header(0, resign_threshold=-0.2, resigned=5, audit=[])]
    assert games.resignation(Stated(headers=headers)).verdict == UNKNOWN
    fixed = CONFIG.changed({"selfplay": {"resign_calibrated": False}})
    assert games.resignation(Stated(headers=headers, config=fixed)).verdict == ILL


def test_chance_is_no_excuse_for_a_high_threshold_that_nobody_calibrated() -> None:
    audit = [[-0.5, 1]] * 5 + [[-0.5, -1]] * 10  # a third wrong, as chance may have it
    headers = [header(0, resign_threshold=0.0, resigned=40, audit=audit)]
    assert games.resignation(Stated(headers=headers)).verdict == HEALTHY
    fixed = CONFIG.changed({"selfplay": {"resign_calibrated": False}})
    assert games.resignation(Stated(headers=headers, config=fixed)).verdict == ILL


def test_without_shards_nothing_is_said_of_resignation() -> None:
    assert games.resignation(Stated(headers=[])).verdict == UNKNOWN
    assert games.resignation(Stated(headers=[header(0)])).verdict == HEALTHY


# ---- draws and endings ---------------------------------------------------------------------------


def drawn(share: float) -> list[dict[str, Any]]:
    return [{"iteration": 1, "selfplay": {"draw_share": share}}, {"iteration": 2}]


def test_a_game_that_good_play_draws_is_well_if_somebody_won_before() -> None:
    headers = [header(1, draws=50, adjudicated=0)]
    learned = games.draws(Stated(headers=headers, metrics=drawn(0.3)))
    assert learned.verdict == HEALTHY
    assert "good play may be a draw" in learned.sentence
    assert games.draws(Stated(headers=headers, metrics=drawn(0.95))).verdict == ILL


def test_draws_by_games_that_are_cut_off_are_ill() -> None:
    headers = [header(1, draws=50, adjudicated=40)]
    assert games.draws(Stated(headers=headers, metrics=drawn(0.3))).verdict == ILL


def test_endings_are_those_of_the_newest_games() -> None:
    before = header(0, games=1000, plies=9000, adjudicated=900)
    finding = games.endings(Stated(headers=[before, header(1, plies=1000)]))
    assert (finding.verdict, finding.figure) == (HEALTHY, 0.0)
    few = header(1, games=5, plies=100)
    assert games.endings(Stated(headers=[before, few])).verdict == ILL


# ---- small games ---------------------------------------------------------------------------------


def test_few_lines_of_play_are_no_fault_of_a_small_game() -> None:
    headers = [header(0, unique_games=5)]
    small = play_random(Subtraction(), 10.0)
    finding = games.unique_games(Stated(headers=headers, random_games=small))
    assert finding.verdict == UNKNOWN
    assert "the game is small" in finding.sentence
    stated = Stated(headers=headers, random_games=ALL_DIFFERENT)
    assert games.unique_games(stated).verdict == ILL


def test_few_positions_are_no_fault_of_a_small_game() -> None:
    two = np.arange(40, dtype=np.uint64).reshape(-1, 1) % np.uint64(2)
    samples = SimpleNamespace(plies=np.full(40, 4), observations=two)
    stated = {"samples": samples, "shard_iterations": np.zeros(40, np.int64)}
    assert games.diversity(Stated(**stated)).verdict == ILL
    small = play_random(Subtraction(), 10.0)
    assert games.diversity(Stated(**stated, random_games=small)).verdict == HEALTHY


def test_random_games_are_the_same_every_time_and_end_with_their_time() -> None:
    game = zermelo.game("connect4")
    one = play_random(game, 10.0)
    assert len(one.lines) == 200
    assert one.lines == play_random(game, 10.0).lines
    assert one.last_mover == 1
    assert max(one.positions.values()) > 30
    assert play_random(game, -1.0).lines == ()


def test_the_share_of_different_lines_is_that_of_as_many_random_games() -> None:
    assert ALL_DIFFERENT.unique_share(1000) > 0.9
    two = RandomGames(None, ((0,), (1,)) * 100, (1,) * 200)
    assert two.unique_share(100) == pytest.approx(0.02, rel=0.05)
    assert NO_GAMES.unique_share(1000) == 1


def test_the_last_mover_is_a_witness_only_if_the_rules_leave_no_exception() -> None:
    lines = ALL_DIFFERENT.lines
    assert RandomGames(None, lines, (1,) * 200).last_mover == 1
    assert RandomGames(None, lines, (-1,) * 100 + (0,) * 100).last_mover == -1
    assert RandomGames(None, lines, (1,) * 199 + (-1,)).last_mover == 0
    assert RandomGames(None, lines, (1,) * 10 + (0,) * 190).last_mover == 0


# ---- what the network has learned ----------------------------------------------------------------


def predictions(rows: Any, value: Any) -> Predictions:
    """A policy that is uniform, with these values."""
    ones = np.ones(len(rows))
    return Predictions(rows, value, ones, ones, ones, ones)


def memorised(games: int, right: int, iteration: int) -> Stated:
    """Ten rows of each game: training's are known by half, `right` of as many kept out are too."""
    results = np.where(np.arange(2 * games) % 2, 1.0, -1.0).repeat(10)
    known = np.arange(2 * games) < games + right
    value = 0.5 * results * np.where(known, 1, -1).repeat(10)
    samples = SimpleNamespace(
        results=results,
        games=np.arange(2 * games).repeat(10),
        flags=np.full(20 * games, FULL),
    )
    rows = np.arange(20 * games)
    seen, unseen = rows[: 10 * games], rows[10 * games :]
    return Stated(
        samples=samples,
        trained=predictions(seen, value[seen]),
        held=predictions(unseen, value[unseen]),
        iteration=iteration,
    )


def test_what_chance_explains_in_thirty_games_is_not_overfitting() -> None:
    few = network.overfitting(memorised(30, 17, iteration=3))
    assert few.verdict == HEALTHY
    assert few.figures["value"] > network.MOST_VALUE_GAP > few.figures["value_least"]
    assert network.overfitting(memorised(300, 170, iteration=3)).verdict == ILL
    assert network.overfitting(memorised(300, 300, iteration=3)).verdict == HEALTHY


def test_overfitting_is_not_judged_after_one_iteration() -> None:
    assert network.overfitting(memorised(300, 170, iteration=1)).verdict == UNKNOWN


def against_results(games: int, wrong: int, iteration: int) -> Stated:
    """A network whose values are of the wrong sign in some games, of many more that there are."""
    results = np.where(np.arange(1000) % 2, 1.0, -1.0).repeat(10)
    count = len(results)
    rows = np.arange(10 * games)
    sign = np.where(np.arange(games) < wrong, -1.0, 1.0).repeat(10)
    samples = SimpleNamespace(
        results=results,
        values=np.zeros(count),
        plies_left=np.full(count, 5),
        games=np.arange(1000).repeat(10),
        flags=np.full(count, FULL),
    )
    held = predictions(rows, sign * results[rows])
    return Stated(samples=samples, held=held, trained=None, iteration=iteration)


def test_the_sign_of_values_is_judged_by_the_games_that_it_is_read_from() -> None:
    few = targets.value_sign(against_results(20, 14, iteration=3))
    assert few.verdict == HEALTHY
    assert few.figure == pytest.approx(-0.4)
    assert targets.value_sign(against_results(400, 280, iteration=3)).verdict == ILL
    assert targets.value_sign(against_results(400, 280, iteration=2)).verdict == UNKNOWN


def test_shards_are_read_across_the_window() -> None:
    shards = [(Path(f"{i}-{n}"), header(i)) for i, n in ((0, 0), (0, 1), (1, 0), (1, 1), (2, 0))]
    order = [path.name for path, _ in across(shards)]
    assert order == ["2-0", "1-1", "0-1", "1-0", "0-0"]


# ---- search, pace and advice ---------------------------------------------------------------------


def test_only_disagreements_that_the_judge_decides_are_counted() -> None:
    judged, chosen, raw = [1, 2, 3, 4, 9], [1, 2, 0, 4, 5], [0, 2, 3, 4, 6]
    assert sided(judged, chosen, raw) == (1, 1)


def test_a_search_is_ill_only_if_chance_does_not_explain_it() -> None:
    assert not adds_nothing(4, 4)
    assert not adds_nothing(3, 5)
    assert adds_nothing(1, 7)
    assert adds_nothing(10, 30)
    assert not adds_nothing(30, 10)


@pytest.mark.parametrize(("times", "expected"), [(30, HEALTHY), (45, ILL)])
def test_training_often_on_the_same_samples_is_named(times: int, expected: str) -> None:
    entry = {
        "iteration": 40,
        "selfplay": {"samples": 600},
        "window": {"merged": times * 600},
        "train": {"training": {"samples": times * 600}},
    }
    finding = pace.repetition(Stated(metrics=[entry]))
    assert finding.verdict == expected
    assert ("train.reuse" in finding.advice) == (expected == ILL)


def held_out(iteration: int, loss: float, samples: int = 900) -> Finding:
    train = {"held_out": {"value_loss": loss, "samples": samples}, "training": {"value_loss": 0.5}}
    return held_out_values(
        Stated(metrics=[{"iteration": iteration, "train": train}], iteration=iteration)
    )


@pytest.mark.parametrize(
    ("iteration", "loss", "samples", "expected"),
    [
        (5, 1.34, 900, ILL),
        (5, 1.10, 900, HEALTHY),
        (3, 1.34, 900, UNKNOWN),
        (5, 1.34, 90, UNKNOWN),
    ],
)
def test_values_worse_than_knowing_nothing_in_games_kept_out_are_ill(
    iteration: int, loss: float, samples: int, expected: str
) -> None:
    assert held_out(iteration, loss, samples).verdict == expected


def test_advice_names_only_what_has_an_effect() -> None:
    assert "temperature_start" in more_variety(CONFIG)
    gumbel = CONFIG.changed({"search": {"gumbel": True}})
    advice = more_variety(gumbel)
    assert "Lower search.gumbel_scale" in advice
    assert "temperature_start" not in advice
    greedy = gumbel.changed({"selfplay": {"temperature_start": 0.0, "temperature_end": 0.0}})
    assert "raise selfplay.temperature_start above 0" in more_variety(greedy)
    assert "dirichlet_epsilon" not in advice


def test_what_stops_one_check_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: Evidence) -> Finding:
        raise UserError("the backend onnx needs the package 'onnxruntime'")

    def sound(_: Evidence) -> Finding:
        return verdict("window", False, 5.0, "the window holds the samples of 5 iterations", "")

    monkeypatch.setattr(doctor, "Evidence", lambda _, trust: Stated())
    monkeypatch.setattr(doctor, "light_checks", lambda: {"window": sound})
    monkeypatch.setattr(doctor, "deep_checks", lambda: {"search": broken})
    window, search = doctor.diagnose("anywhere")
    assert (window.verdict, search.verdict) == (HEALTHY, UNKNOWN)
    assert search.sentence == "the backend onnx needs the package 'onnxruntime'"
