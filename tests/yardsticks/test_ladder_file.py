"""The ladder: new checkpoints meet earlier ones, and ratings outlive them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from zermelo.statistics.rating import PairPoints
from zermelo.yardsticks.ladder_file import Ladder, LadderOptions, opponents_of

NUMBERED = [Path(f"{number:06}") for number in range(10)]


def wins_often(_: Path) -> list[PairPoints]:
    """A match of four games."""
    return [(1.0, 0.0), (1.0, 1.0)]


@pytest.mark.technique("E3")
def test_opponents_are_the_last_and_some_further_back() -> None:
    chosen = opponents_of(NUMBERED, LadderOptions(opponents=3))
    assert [int(path.name) for path in chosen] == [9, 8, 6]
    assert opponents_of(NUMBERED[:1], LadderOptions(opponents=3)) == NUMBERED[:1]
    assert opponents_of([], LadderOptions()) == []


@pytest.mark.technique("E3")
def test_a_new_checkpoint_gets_a_rating_with_an_error(tmp_path: Path) -> None:
    ladder = Ladder(tmp_path)
    rung = ladder.climb("000001", NUMBERED[:1], wins_often)
    assert rung is not None
    assert (rung.games, rung.score) == (4, 0.75)
    assert rung.elo is not None and rung.elo > 0
    assert rung.margin is not None and rung.margin > 0
    assert ladder.names == ["000000", "000001"]
    anchor = ladder.rung("000000")
    assert anchor is not None and anchor.elo == 0


def test_a_ladder_is_taken_up_again_and_nothing_is_played_twice(tmp_path: Path) -> None:
    for number in (1, 2):
        before = Ladder(tmp_path).climb(f"{number:06}", NUMBERED[:number], wins_often)
    met: list[Path] = []
    again = Ladder(tmp_path)
    assert again.climb("000002", NUMBERED[:2], met.append) == before
    assert met == []
    assert again.climb("000003", NUMBERED[1:3], met.append) is None  # there was no time
    assert met == [NUMBERED[2], NUMBERED[1]]


def decided_by_openings(_: Path) -> list[PairPoints]:
    """Ten pairs in which whoever moves first wins."""
    return [(1.0, 0.0)] * 10


def test_ratings_are_judged_by_pairs_and_older_ladders_by_single_games(tmp_path: Path) -> None:
    by_pairs = Ladder(tmp_path).climb("000001", NUMBERED[:1], decided_by_openings)
    assert Ladder(tmp_path).rung("000001") == by_pairs
    file = tmp_path / "meetings.jsonl"
    assert json.loads(file.read_text())["pairs"] == [[1.0, 0.0]] * 10
    older = [["000001", "000000", 10, 0, 0], ["000000", "000001", 10, 0, 0], [0, 0, 10, 0, 0]]
    file.write_text(json.dumps(older) + "\n")
    single = Ladder(tmp_path).rung("000001")
    assert by_pairs is not None and single is not None
    assert (by_pairs.games, by_pairs.score) == (single.games, single.score) == (20, 0.5)
    assert by_pairs.elo == pytest.approx(0) and single.elo == pytest.approx(0)
    assert by_pairs.margin is not None and single.margin is not None
    assert by_pairs.margin < 0.5 * single.margin


def test_the_gain_is_over_the_one_before_and_known_better_than_the_rating(tmp_path: Path) -> None:
    ladder = Ladder(tmp_path, LadderOptions(opponents=1))
    first = ladder.climb("000001", NUMBERED[:1], lambda _: [(1.0, 1.0)] * 10)
    second = ladder.climb("000002", NUMBERED[:2], decided_by_openings)
    anchor = ladder.rung("000000")
    assert first is not None and second is not None and anchor is not None
    assert first.gain == pytest.approx((first.elo, first.margin))
    assert second.gain is not None and second.margin is not None
    assert second.gain[0] == pytest.approx(0, abs=1)
    assert second.gain[1] < 0.5 * second.margin
    assert anchor.gain is None


def test_without_any_opponent_there_is_no_rating(tmp_path: Path) -> None:
    assert Ladder(tmp_path).climb("000000", [], wins_often) is None


def test_who_only_looks_sees_all_ratings_and_changes_nothing(tmp_path: Path) -> None:
    assert Ladder(tmp_path / "none", read_only=True).rungs() == {}
    assert not (tmp_path / "none").exists()
    ladder = Ladder(tmp_path, LadderOptions(opponents=1))
    ladder.climb("000001", NUMBERED[:1], wins_often)
    ladder.climb("000002", NUMBERED[:2], decided_by_openings)
    file = tmp_path / "meetings.jsonl"
    file.write_bytes(file.read_bytes() + b'{"name": "0000')  # a line on its way
    before = file.read_bytes()
    found = Ladder(tmp_path, read_only=True).rungs()
    assert file.read_bytes() == before
    assert list(found) == ["000000", "000001", "000002"]
    assert found == {name: ladder.rung(name) for name in ladder.names}
