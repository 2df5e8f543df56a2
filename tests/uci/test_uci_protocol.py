"""Reading commands: what is understood, what is named as wrong, nothing is refused as a whole."""

from __future__ import annotations

import pytest

from zermelo.errors import UserError
from zermelo.uci.protocol import (
    LARGEST,
    Go,
    Position,
    parse_go,
    parse_position,
    parse_setoption,
    printable,
    read_number,
)


def go(text: str) -> Go:
    return parse_go(text.split())[0]


def test_every_form_of_go_is_read() -> None:
    line = "wtime 1 btime 2 winc 3 binc 4 movestogo 5 depth 6 nodes 7 mate 8 movetime 9 ponder"
    assert go(line) == Go(1, 2, 3, 4, 5, 6, 7, 8, 9, ponder=True)
    assert go("infinite").infinite
    assert go("perft 3").perft == 3
    assert go("searchmoves e2e4 d2d4 nodes 10") == Go(nodes=10, searchmoves=("e2e4", "d2d4"))
    assert go("nodes 10 searchmoves e2e4").searchmoves == ("e2e4",)


def test_a_go_without_limits_is_endless_and_one_with_limits_is_not() -> None:
    assert go("").endless
    assert go("searchmoves e2e4").endless
    assert go("infinite nodes 5").endless
    assert not go("nodes 5").endless
    assert not go("wtime 1000").endless


@pytest.mark.parametrize("text", ["nodes", "nodes many", "depth nodes", "movetime 3.5"])
def test_a_go_whose_limit_cannot_be_read_ends_all_the_same(text: str) -> None:
    request, problems = parse_go(text.split())
    assert problems
    assert request.movetime == 1000
    assert not request.endless


def test_a_missing_number_does_not_swallow_the_next_word() -> None:
    request, problems = parse_go(["depth", "nodes", "50", "frobnicate", "wtime", "-20"])
    assert (request.nodes, request.wtime, request.depth) == (50, -20, None)
    assert problems == ["go depth needs a number", "go does not know 'frobnicate'"]


def test_problems_of_an_endless_line_are_few() -> None:
    assert len(parse_go(["x"] * 100_000)[1]) == 3


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("12", 12),
        ("-12", -12),
        ("+7", 7),
        ("9" * 400, LARGEST),
        ("-" + "9" * 400, -LARGEST),
        ("", None),
        ("-", None),
        ("1e9", None),
        ("٣", None),
        ("²", None),
    ],
)
def test_numbers_are_kept_within_bounds(text: str, number: int | None) -> None:
    assert read_number(text) == number


def test_positions_are_read_with_their_moves() -> None:
    assert parse_position(["startpos"], False) == Position()
    position = parse_position(["startpos", "moves", "e2e4", "e7e5"], False)
    assert position.moves == ("e2e4", "e7e5")
    fen = "4k3/8/8/8/8/8/8/4K2R w K - 0 1"
    position = parse_position(["fen", *fen.split(), "moves", "e1g1"], False)
    assert (position.start, position.text) == (fen, fen + " moves e1g1")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "startpos or fen"),
        ("e2e4", "startpos or fen"),
        ("fen", "startpos or fen"),
        ("startpos e2e4", "startpos or fen"),
        ("fen 8/8/8/8/8/8/8/8 w - - 0 1", "kings"),
        ("startpos moves e2e5", "'e2e5' is not a legal move"),
        ("startpos moves e2e4 e2e4", "'e2e4' is not a legal move"),
        ("fen rubbish", "piece"),
    ],
)
def test_what_is_wrong_with_a_position_is_said(text: str, reason: str) -> None:
    with pytest.raises(UserError, match=reason):
        parse_position(text.split(), False)


def test_names_and_values_of_options_may_contain_blanks() -> None:
    assert parse_setoption("setoption name Move Overhead value 30") == ("Move Overhead", "30")
    assert parse_setoption("setoption name WeightsFile value /a b/c d.pb.gz  ") == (
        "WeightsFile",
        "/a b/c d.pb.gz",
    )
    assert parse_setoption("setoption name WeightsFile value") == ("WeightsFile", "")
    assert parse_setoption("setoption name Button") == ("Button", "")
    for wrong in ("setoption", "setoption CPuct 3", "setoption name", "setoption name  value 3"):
        with pytest.raises(UserError):
            parse_setoption(wrong)


def test_errors_are_one_short_line_of_visible_text() -> None:
    assert printable("a\nb\0c\td\x1b[31m é") == "a?b?c?d?[31m ?"
    assert len(printable("x" * 5000)) == 300
