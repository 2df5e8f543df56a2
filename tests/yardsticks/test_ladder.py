"""Checkpoints meet those before them on a ladder."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from made_checkpoints import made_checkpoints
from small_networks import small_weights

import zermelo
from zermelo.checkpoint import Checkpoint, CheckpointStore, TrainingState
from zermelo.network import NetworkEvaluator
from zermelo.network.runtimes import installed_backends
from zermelo.statistics.rating import PairPoints
from zermelo.yardsticks.games import FIRST_PAIRS
from zermelo.yardsticks.ladder import (
    LadderYardstick,
    ladder_options,
    needed_checkpoints,
)
from zermelo.yardsticks.ladder_file import Ladder, LadderOptions
from zermelo.yardsticks.measure import (
    CheckpointYardsticks,
    EvaluateOptions,
)

TICTACTOE: Any = zermelo.game("tictactoe")


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
