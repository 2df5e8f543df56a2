"""Checkers: rules against a slow twin and OpenSpiel, counts, draw rules, text."""

from __future__ import annotations

import random
import re
from typing import Any

import numpy as np
import pytest
from checkers_moves import whole_moves
from hypothesis import given, settings
from hypothesis import strategies as st
from native_games import native
from walks import walk

import zermelo

CHOICES = st.lists(st.integers(0, 59), max_size=120)  # taken modulo the number of legal actions
START = "B:W" + ",".join(map(str, range(21, 33))) + ":B" + ",".join(map(str, range(1, 13)))


@pytest.fixture(scope="module")
def game() -> Any:
    return native("checkers")


def texts(game: Any, state: Any) -> list[str]:
    return [game.action_text(state, action) for action in game.legal_actions(state)]


def after(game: Any, position: str, *steps: str) -> Any:
    state = game.parse_position(position)
    for step in steps:
        state = game.play(state, game.parse_action(state, step))
    return state


@pytest.mark.slow
def test_random_games_agree_with_open_spiel(game: Any) -> None:
    """Its first player moves up from the bottom, so its board is ours turned by 180 degrees."""
    pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")

    def cell(number: str) -> str:
        row, index = divmod(int(number) - 1, 4)
        column = index * 2 + (1 if row % 2 == 0 else 0)
        return f"{chr(ord('a') + 7 - column)}{row + 1}"

    def spell(text: str) -> str:
        return "".join(cell(number) for number in re.split("[-x]", text))

    rng = random.Random(8)
    for _ in range(1000):
        state, other = game.initial(), pyspiel.load_game("checkers").new_initial_state()
        while not other.is_terminal() and game.outcome(state) is None:
            theirs = {other.action_to_string(a): a for a in other.legal_actions()}
            ours = {spell(game.action_text(state, a)): a for a in game.legal_actions(state)}
            assert sorted(ours) == sorted(theirs)
            assert game.player(state) == other.current_player()
            choice = rng.choice(sorted(ours))
            state = game.play(state, ours[choice])
            other.apply_action(theirs[choice])
        if game.outcome(state) == zermelo.Outcome.FIRST_WINS:
            assert other.returns() == [1, -1]
        if game.outcome(state) == zermelo.Outcome.SECOND_WINS:
            assert other.returns() == [-1, 1]


@pytest.mark.parametrize(
    ("depth", "moves"), list(enumerate([1, 7, 49, 302, 1469, 7361, 36768, 179740, 845931, 3963680]))
)
def test_the_number_of_whole_moves_is_the_known_one(game: Any, depth: int, moves: int) -> None:
    assert game.perft(game.initial(), depth) == moves


@pytest.mark.slow
def test_the_number_of_whole_moves_is_the_known_one_at_depth_eleven(game: Any) -> None:
    assert game.perft(game.initial(), 11) == 85_242_128


def test_perft_counts_a_multi_jump_as_one_move_and_two_ways_as_two(game: Any) -> None:
    circle = game.parse_position("B:W9,10,17,18,32:BK6")
    assert sorted(whole_moves(game, circle)) == ["6x13x22x15x6", "6x15x22x13x6"]
    assert game.perft(circle, 1) == 2
    within = game.play(circle, game.parse_action(circle, "6x13"))
    assert game.perft(within, 1) == 1


def test_black_begins_from_squares_1_to_12_and_white_stands_at_the_bottom(game: Any) -> None:
    state = game.initial()
    assert game.player(state) == 0
    assert game.position_text(state) == START
    assert game.parse_position(START) == state
    expected = [".b.b.b.b", "b.b.b.b.", ".b.b.b.b", "........", "........"]
    assert game.cells(state) == "".join([*expected, "w.w.w.w.", ".w.w.w.w", "w.w.w.w."])
    first_steps = ["10-14", "10-15", "11-15", "11-16", "12-16", "9-13", "9-14"]
    assert sorted(texts(game, state)) == first_steps


def test_a_multi_jump_keeps_the_mover_and_only_the_jumping_piece_may_move(game: Any) -> None:
    state = after(game, "B:W18,26,7,32:B14,3")
    assert sorted(texts(game, state)) == ["14x23", "3x10"]
    state = game.play(state, game.parse_action(state, "14x23"))
    assert game.player(state) == 0
    assert texts(game, state) == ["23x30"]
    assert np.asarray(game.observe(state))[4].sum() == 1
    state = game.play(state, game.parse_action(state, "23x30"))
    assert game.player(state) == 1
    assert game.position_text(state) == "W:W7,32:B3,K30"


def test_a_man_crowned_by_a_jump_may_not_jump_on_but_a_king_may(game: Any) -> None:
    by_man = after(game, "B:W26,25,8:B23,4", "23x30")
    assert (game.player(by_man), game.position_text(by_man)) == (1, "W:W8,25:B4,K30")
    by_king = after(game, "B:W26,25,8:BK23,4", "23x30")
    assert (game.player(by_king), texts(game, by_king)) == (0, ["30x21"])


def test_men_neither_move_nor_capture_backwards(game: Any) -> None:
    assert sorted(texts(game, after(game, "B:W10:B15"))) == ["15-18", "15-19"]
    assert texts(game, after(game, "B:W10:BK15")) == ["15x6"]


def test_any_capture_may_be_chosen_not_only_the_longest(game: Any) -> None:
    state = after(game, "B:W18,26,7,32:B14,3")
    short = game.play(state, game.parse_action(state, "3x10"))
    assert game.player(short) == 1


def test_a_player_who_cannot_move_loses(game: Any) -> None:
    assert game.outcome(after(game, "W:W:B1")) == zermelo.Outcome.FIRST_WINS
    blocked = after(game, "W:W13:B9,6")  # 9 is in the way and 6 guards it
    assert game.outcome(blocked) == zermelo.Outcome.FIRST_WINS


def test_the_third_occurrence_of_a_position_is_a_draw(game: Any) -> None:
    back_and_forth = ["1-6", "32-27", "6-1", "27-32"]
    once = after(game, "B:WK32:BK1", *back_and_forth)
    assert game.outcome(once) is None
    assert np.asarray(game.observe(once))[6, 0, 0] == 0.5
    twice = after(game, "B:WK32:BK1", *back_and_forth * 2)
    assert game.outcome(twice) == zermelo.Outcome.DRAW
    assert game.legal_actions(twice) == []
    assert game.position_text(twice) == "B:WK32:BK1:H8:R2"


def test_eighty_plies_without_capture_or_mans_move_are_a_draw(game: Any) -> None:
    last = after(game, "B:WK32:BK1:H78", "1-6")
    assert game.outcome(last) is None
    assert np.asarray(game.observe(last))[5, 0, 0] == pytest.approx(79 / 80)
    assert game.outcome(after(game, "B:WK32:BK1:H79", "1-6")) == zermelo.Outcome.DRAW
    assert game.outcome(after(game, "B:WK32:B1:H79", "1-6")) is None
    assert game.outcome(after(game, "B:WK6,K32:BK1:H79", "1x10")) is None
    short = native("checkers?quiet_plies=5")
    assert short.name == "checkers?quiet_plies=5"
    assert short.outcome(after(short, "B:WK32:BK1:H4", "1-6")) == zermelo.Outcome.DRAW


@given(choices=CHOICES)
@settings(max_examples=80, deadline=None)
def test_the_observation_is_the_board_from_the_movers_side(choices: list[int]) -> None:
    game = native("checkers")
    state = walk(game, choices)
    cells = game.cells(state)
    planes = np.asarray(game.observe(state)).reshape(7, 64)
    letters = "bBwW" if game.player(state) == 0 else "wWbB"
    seen = cells if game.player(state) == 0 else cells[::-1]
    for plane, letter in zip(planes, letters, strict=False):
        assert plane.tolist() == [cell == letter for cell in seen]
    assert game.observation_shape == (7, 8, 8)
    assert game.num_symmetries(state) == 1


@given(choices=CHOICES)
@settings(max_examples=80, deadline=None)
def test_the_turned_position_of_the_other_colour_has_the_same_actions(choices: list[int]) -> None:
    game = native("checkers")
    state = walk(game, choices)
    turned = game.parse_position(turned_text(game.position_text(state)))
    assert game.legal_actions(turned) == game.legal_actions(state)
    assert np.array_equal(np.asarray(game.observe(turned)), np.asarray(game.observe(state)))
    for action in game.legal_actions(state):
        following = game.position_text(game.play(state, action))
        assert game.play(turned, action) == game.parse_position(turned_text(following))


def turned_text(position: str) -> str:
    """The position with colours swapped and the board turned by 180 degrees."""
    mover, white, black, *rest = position.split(":")

    def turn(pieces: str) -> str:
        return re.sub(r"\d+", lambda number: str(33 - int(number[0])), pieces)

    fields = [turn(field) if field[0] == "J" else field for field in rest]
    other = "W" if mover == "B" else "B"
    return ":".join([other, "W" + turn(black[1:]), "B" + turn(white[1:]), *fields])


def test_states_and_hashes_are_equal_exactly_when_texts_are(game: Any) -> None:
    by_text: dict[str, Any] = {}
    hashes: dict[int, str] = {}
    rng = random.Random(2)
    for _ in range(120):
        state = game.initial()
        while legal := game.legal_actions(state):
            text = game.position_text(state)
            assert by_text.setdefault(text, state) == state
            assert hashes.setdefault(game.hash(state), text) == text
            state = game.play(state, rng.choice(legal))
    assert len(by_text) == len(hashes)


@given(choices=CHOICES)
@settings(max_examples=100, deadline=None)
def test_text_reads_back_as_the_same_position_and_actions(choices: list[int]) -> None:
    game = native("checkers")
    state = walk(game, choices)
    text = game.position_text(state)
    again = game.parse_position(text)
    assert again == state
    assert game.hash(again) == game.hash(state)
    assert game.position_text(again) == text
    assert game.legal_actions(again) == game.legal_actions(state)
    for action in game.legal_actions(state):
        assert game.parse_action(state, game.action_text(state, action)) == action


def test_the_hash_tells_mover_jumper_quiet_plies_and_repetition_apart(game: Any) -> None:
    positions = ["B:WK10:BK6", "W:WK10:BK6", "B:WK10:BK6:J6", "B:WK10:BK6:H4", "B:WK10:BK6:H4:R1"]
    positions += ["B:W10:BK6", "B:WK10:B6", "B:WK10:BK5", "B:WK10:BK6:H5"]
    states = [game.parse_position(position) for position in positions]
    assert len({game.hash(state) for state in states}) == len(positions)
    assert len(set(states)) == len(positions)


@pytest.mark.parametrize(
    ("position", "text", "reason"),
    [
        ("B:W32:B1", "", "'' is not a step such as 11-15 or 22x15"),
        ("B:W32:B1", "0-5", "'0-5' is not a step such as 11-15 or 22x15"),
        ("B:W32:B1", "1-33", "'1-33' is not a step such as 11-15 or 22x15"),
        ("B:W32:B1", "1-", "'1-' is not a step such as 11-15 or 22x15"),
        ("B:W32:B1", "1-9", "'1-9' is not legal"),
        ("B:W18,26:B14", "14x23x30", "'14x23x30' must be played one jump at a time"),
        ("B:W10:B6,1", "1-5", "'1-5' is not legal: a jump is possible and must be made"),
        ("B:W10:B6,1:J6", "1-5", "'1-5' is not legal: 6 must go on jumping"),
        ("B:W10:B", "1-5", "the game is over, so '1-5' cannot be played"),
    ],
)
def test_an_action_that_cannot_be_read_or_played_says_why(
    game: Any, position: str, text: str, reason: str
) -> None:
    state = game.parse_position(position)
    with pytest.raises(ValueError, match=re.escape(reason)):
        game.parse_action(state, text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "'' is neither B nor W, the player to move"),
        ("X:W9:B1", "'X' is neither B nor W, the player to move"),
        ("B:W9", "the pieces of B are missing"),
        ("B:W33:B1", "'33' is not a square from 1 to 32"),
        ("B:W9,,10:B1", "'' is not a square from 1 to 32"),
        ("B:WKK9:B1", "'KK9' is not a square from 1 to 32"),
        ("B:W9:B9", "two pieces on square 9"),
        ("B:W3:B9", "the man on square 3 should be a king"),
        ("B:W9:B31", "the man on square 31 should be a king"),
        ("B:W9:B1:Z2", "'Z2' begins with none of W, B, H, R and J"),
        ("B:W9::B1", "'' begins with none of W, B, H, R and J"),
        ("B:W9:B1:W2", "field W comes twice"),
        ("B:W9:B1:H81", "'H81' is not H0 to H80"),
        ("B:W9:B1:Hx", "'Hx' is not H0 to H80"),
        ("B:WK9:BK1:H7:R2", "R2 needs H8 or more"),
        ("B:W10:B6:J10", "square 10 holds no piece of the mover that can jump"),
        ("B:W9:B1:J1", "square 1 holds no piece of the mover that can jump"),
        ("B:W10:BK6:H2:J6", "a jump ends the quiet plies of H"),
        (START.replace(":B1,", ":B13,1,"), "Black has more than 12 pieces"),
    ],
)
def test_a_position_that_cannot_be_read_says_why(game: Any, text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=re.escape(reason)):
        game.parse_position(text)
