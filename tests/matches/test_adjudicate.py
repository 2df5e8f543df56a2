"""Games that end early: by length, by agreement, by tablebase."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from outside_data import outside_data

import zermelo
from zermelo.games.notation import parse_position
from zermelo.games.protocol import Outcome
from zermelo.matches.adjudicate import AdjudicateOptions, Adjudicator, Judgement
from zermelo.options import make_options

CHESS = zermelo.game("chess")


def verdict(judged: list[Judgement], plies: int = 100, **options: Any) -> object:
    judge = Adjudicator(CHESS, AdjudicateOptions(**options))
    return judge.verdict(CHESS.initial(), plies, judged)


def test_a_long_game_is_a_draw() -> None:
    assert verdict([], plies=512) == (Outcome.DRAW, "too long")
    assert verdict([], plies=511) is None
    assert verdict([], plies=9999, max_plies=0) is None


def test_a_game_ends_when_both_agree_who_loses_for_long_enough() -> None:
    agreed: list[Judgement] = [(0, 0.97), (1, -0.96)] * 3
    options: dict[str, Any] = {"resign_value": 0.95, "resign_moves": 3}
    assert verdict(agreed, **options) == (Outcome.FIRST_WINS, "resigned")
    assert verdict([(1 - who, value) for who, value in agreed], **options) == (
        Outcome.SECOND_WINS,
        "resigned",
    )
    assert verdict(agreed[:-1], **options) is None  # once too few
    assert verdict([(0, 0.97), (1, 0.0)] * 3, **options) is None  # the loser does not agree
    assert verdict([*agreed[:-1], (1, None)], **options) is None  # nobody knows
    assert verdict(agreed) is None  # it is off by default


def test_a_game_ends_when_both_call_it_level_late_enough() -> None:
    level: list[Judgement] = [(0, 0.01), (1, -0.02)] * 4
    options = {"draw_value": 0.05, "draw_moves": 4, "draw_after": 60}
    assert verdict(level, plies=60, **options) == (Outcome.DRAW, "draw agreed")
    assert verdict(level, plies=59, **options) is None
    assert verdict(level[1:], plies=60, **options) is None
    assert verdict([*level[:-1], (1, 0.2)], plies=60, **options) is None


@pytest.mark.parametrize(
    ("fen", "outcome"),
    [
        ("4k3/8/8/8/8/8/8/KQ6 w - - 0 1", Outcome.FIRST_WINS),
        ("4k3/8/8/8/8/8/8/KQ6 b - - 0 1", Outcome.FIRST_WINS),
        ("kq6/8/8/8/8/8/8/4K3 w - - 0 1", Outcome.SECOND_WINS),
        ("8/8/8/8/8/k7/p7/K7 w - - 0 1", Outcome.DRAW),
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", None),
        ("4k3/8/8/8/8/8/8/KQ6 w - - 98 60", None),  # too late for a mate before fifty moves
    ],
)
def test_a_tablebase_ends_what_it_knows(fen: str, outcome: Outcome | None) -> None:
    judge = Adjudicator(CHESS, AdjudicateOptions(tablebase=str(outside_data("chess/syzygy"))))
    state = parse_position(CHESS, fen)
    found = judge.verdict(state, 20, [])
    assert found == (None if outcome is None else (outcome, "tablebase"))


@pytest.mark.parametrize("name", ["resign_value", "draw_value"])
def test_values_beyond_1_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} is 5.0, not a number from 0 to 1"):
        make_options(AdjudicateOptions, {name: 5.0}, "adjudication")


def test_a_tablebase_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="there is no directory"):
        Adjudicator(CHESS, AdjudicateOptions(tablebase=str(tmp_path / "no")))
    with pytest.raises(ValueError, match="holds no Syzygy tables"):
        Adjudicator(CHESS, AdjudicateOptions(tablebase=str(tmp_path)))
    with pytest.raises(ValueError, match="tablebases are for chess, not for hex"):
        Adjudicator(zermelo.game("hex"), AdjudicateOptions(tablebase=str(tmp_path)))
