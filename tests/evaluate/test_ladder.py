"""The ladder: new checkpoints meet earlier ones, and ratings outlive them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import zermelo
from zermelo.evaluate.ladder import Ladder, LadderOptions, opponents_of
from zermelo.network import NetworkOptions, architecture_for, random_weights, save_network

OPTIONS = LadderOptions(opponents=2, games=4, simulations=4, yardsticks="random")


@pytest.fixture
def checkpoints(tmp_path: Path) -> list[Path]:
    architecture = architecture_for(
        zermelo.game("tictactoe"), NetworkOptions(blocks=1, filters=4, value_hidden=4)
    )
    found = []
    for number in range(3):
        directory = tmp_path / "checkpoints" / f"{number:06}"
        directory.mkdir(parents=True)
        weights = random_weights(architecture, seed=number)
        save_network(weights, directory / "weights.safetensors")
        found.append(directory)
    return found


def test_opponents_are_the_last_and_some_further_back() -> None:
    earlier = [Path(str(number)) for number in range(10)]
    chosen = opponents_of(earlier, LadderOptions(opponents=3))
    assert [path.name for path in chosen] == ["9", "8", "6"]
    assert opponents_of(earlier[:1], LadderOptions(opponents=3)) == earlier[:1]
    assert opponents_of([], LadderOptions()) == []


def test_a_new_checkpoint_gets_a_rating_with_an_error(
    tmp_path: Path, checkpoints: list[Path]
) -> None:
    ladder = Ladder(tmp_path / "matches", "tictactoe", OPTIONS)
    first = ladder.climb(checkpoints[0], [])
    assert first is not None
    assert first.games == 4  # against the yardstick only
    rung = ladder.climb(checkpoints[1], checkpoints[:1])
    assert rung is not None
    assert (rung.name, rung.games) == ("000001", 8)
    assert rung.elo is not None and rung.margin is not None
    assert rung.margin > 0
    assert [r.name for r in ladder.rungs()] == ["random", "000000", "000001"]
    ratings = ladder.ratings()
    assert ratings is not None
    assert ratings["000000"].elo == 0  # the anchor, not the yardstick that it met first


def test_a_yardstick_keeps_its_own_budget(tmp_path: Path, checkpoints: list[Path]) -> None:
    options = LadderOptions(games=2, simulations=4, yardsticks="rollout?nodes=3")
    Ladder(tmp_path / "ladder", "tictactoe", options).climb(checkpoints[0], [])
    (match,) = (tmp_path / "ladder").glob("*/match.json")
    assert "rollout?nodes=3" in match.read_text()


def test_the_first_checkpoint_is_the_anchor_whoever_came_first(tmp_path: Path) -> None:
    rows = [
        [["000000", "random", 2, 0, 1], ["random", "000000", 1, 0, 2]],
        [["000001", "000000", 2, 0, 1], ["000000", "000001", 1, 0, 2]],
    ]
    (tmp_path / "meetings.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    ladder = Ladder(tmp_path, "tictactoe", OPTIONS)
    assert ladder.names == ["random", "000000", "000001"]
    elo = {rung.name: rung.elo for rung in ladder.rungs()}
    assert elo["000000"] == 0
    assert elo["random"] is not None and elo["random"] < 0


def test_a_ladder_is_taken_up_again_without_its_old_checkpoints(
    tmp_path: Path, checkpoints: list[Path]
) -> None:
    where = tmp_path / "matches"
    ladder = Ladder(where, "tictactoe", OPTIONS)
    for number in range(2):
        ladder.climb(checkpoints[number], checkpoints[:number])
    before = ladder.rungs()
    shutil.rmtree(checkpoints[0])
    again = Ladder(where, "tictactoe", OPTIONS)
    assert again.rungs() == before
    lines = (where / "meetings.jsonl").read_text()
    assert again.climb(checkpoints[1], []) is not None  # nothing new to play
    assert (where / "meetings.jsonl").read_text() == lines
    again.climb(checkpoints[2], checkpoints[1:2])
    assert "000002" in again.names


def test_without_any_opponent_there_is_no_rating(tmp_path: Path, checkpoints: list[Path]) -> None:
    ladder = Ladder(tmp_path / "matches", "tictactoe", LadderOptions(games=2, simulations=2))
    assert ladder.climb(checkpoints[0], []) is None
    assert ladder.ratings() is None
